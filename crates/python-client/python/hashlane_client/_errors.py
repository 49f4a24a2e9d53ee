"""Exceptions of the package."""


class ClientError(Exception):
    """The client cannot be started, has stopped, or does not take a torrent."""


class TorrentEnded(ClientError):  # noqa: N818 - an end is no error of the torrent
    """The torrent has ended, or was removed from the client."""


class TorrentFailed(ClientError):  # noqa: N818 - as TorrentEnded
    """The torrent has failed. The message is the reason."""
