"""The native half of the package."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, final

from hashlane_client._types import File, Peer, Tracker

__all__ = ["Client", "Event", "Subscription", "TorrentHandle"]

@final
class Event:
    """Something that happened in a client.

    Attributes
    ----------
    kind : str
        What happened: ``absent``, ``added``, ``changed``, ``complete``, ``confirm``, ``ended``, ``failed``, ``finished``,
        ``foreign_names``, ``identified``, ``listening``, ``metadata``, ``missed``, ``opened``, ``piece``, ``relocated``, ``removed``, ``renamed``,
        ``verified`` or ``warning``. Later versions can have more.
    torrent : TorrentHandle or None
        The torrent, if the event concerns one that the client still has.
    data : dict
        What the event reports, by names. Paths are text; lengths are in bytes.
    """

    @property
    def kind(self) -> str: ...
    @property
    def torrent(self) -> TorrentHandle | None: ...
    @property
    def data(self) -> dict[str, Any]: ...

@final
class Subscription:
    """The events of a client from a moment on; see ``Events``."""

    def next(self, timeout: float | None) -> Event | None: ...

@final
class TorrentHandle:
    """A torrent of a client.

    Methods that change something return at once; the effect appears in events and snapshots. They raise ``TorrentEnded`` if the torrent
    has ended or was removed, ``TorrentFailed`` with the reason if it has failed, and ``ClientError`` if the client has stopped.
    """

    @property
    def number(self) -> int:
        """The number of the torrent in its client."""
    @property
    def info_hash_v1(self) -> str | None:
        """The info-hash of version 1 in hexadecimal digits; None if it is unknown or the torrent has none."""
    @property
    def info_hash_v2(self) -> str | None:
        """The info-hash of version 2; likewise."""
    @property
    def name(self) -> str:
        """The name in the metadata, or the torrent as it was added."""
    @property
    def content(self) -> Path | None:
        """The file, or the folder of the files; None while the metadata is unknown."""
    @property
    def is_removed(self) -> bool:
        """Whether the torrent was removed from the client."""
    def snapshot(self) -> dict[str, Any]:
        """Returns the latest state, with the names and units of ``GET /api/v1/torrents`` (docs/reference/http.md)."""
    def wait_complete(self, timeout: float | None = None) -> None:
        """Waits until the selected content is complete, verified and in its final place.

        Parameters
        ----------
        timeout : float or None
            Time to wait in seconds; None waits for ever.

        Raises
        ------
        TimeoutError
            The content is not complete after this time.
        TorrentFailed
            The torrent has failed.
        TorrentEnded
            The torrent ended before it was complete.
        """
    def pause(self) -> None:
        """Pauses the torrent."""
    def resume(self) -> None:
        """Resumes the torrent."""
    def end(self) -> None:
        """Ends the torrent. Its content stays on disk."""
    def remove(self, *, delete_content: bool = False) -> None:
        """Removes the torrent from the client, and deletes the files of the torrent if that is asked for."""
    def verify(self) -> None:
        """Verifies the content again."""
    def relocate(self, folder: str | PathLike[str]) -> None:
        """Moves the content to another folder. Nothing is replaced there."""
    def replace(self) -> None:
        """Answers an event ``confirm``: wrong pieces may be replaced."""
    def keep(self, reason: str) -> None:
        """Answers an event ``confirm``: nothing is written, and the torrent fails with this reason."""
    def set_limits(self, *, max_down: int | None = None, max_up: int | None = None) -> None:
        """Limits the torrent to these bytes per second; None for no limit."""
    def set_goal(self, serve: bool, *, ratio: float | None = None, seconds: float | None = None) -> None:
        """Sets whether complete content is served, until it was sent ``ratio`` times or for a time."""
    def set_labels(self, labels: Sequence[str]) -> None:
        """Replaces the labels."""
    def set_priorities(self, files: Sequence[int], priority: str) -> None:
        """Sets the priority of files by their numbers: ``skip``, ``low``, ``normal`` or ``high``."""
    def add_tracker(self, url: str) -> None:
        """Adds a tracker in a tier after the others."""
    def set_trackers(self, tiers: Sequence[Sequence[str]]) -> None:
        """Replaces all trackers (BEP 12)."""
    def reannounce(self) -> None:
        """Announces the torrent to its trackers."""
    def add_peer(self, address: str) -> None:
        """Connects to a peer, ``ADDRESS:PORT``."""
    def metainfo(self) -> bytes | None:
        """Returns the .torrent file, or None while the metadata is unknown."""
    def have(self) -> bytes:
        """Returns a byte for each piece: 1 if it is present."""
    def files(self) -> list[File]:
        """Returns the files, or none while the metadata is unknown."""
    def peers(self) -> list[Peer]:
        """Returns the connected peers."""
    def trackers(self) -> list[Tracker]:
        """Returns the trackers."""

class Client:
    """See ``hashlane_client.Client``."""

    def __new__(
        cls,
        folder: str | PathLike[str],
        *,
        port: int = 6881,
        bind: str | None = None,
        peers: Sequence[str] = ...,
        dht: bool = True,
        local_discovery: bool = True,
        port_mapping: bool = True,
        max_down: int | None = None,
        max_up: int | None = None,
        max_peers: int | None = None,
    ) -> Client: ...
    @property
    def listening(self) -> list[str]:
        """The addresses at which peers can connect, as soon as they are known."""
    def download(
        self,
        source: bytes | str | PathLike[str],
        folder: str | PathLike[str] | None = None,
        *,
        select: Sequence[str] = ...,
        sequential: bool = False,
        overwrite: bool = False,
        serve: bool = False,
        ratio: float | None = None,
        seconds: float | None = None,
        paused: bool = False,
        labels: Sequence[str] = ...,
        max_down: int | None = None,
        max_up: int | None = None,
    ) -> TorrentHandle:
        """Adds a torrent to download, and returns at once. Content that exists is verified first.

        Parameters
        ----------
        source : bytes, str or path
            The bytes of a .torrent file, its path, its URL, a magnet link or an info-hash. It is read or fetched later: if that fails, so
            does the torrent.
        folder : path or None
            Folder for the content; None for that of the client.
        select : list of str
            Patterns of the files to download; empty for all.
        sequential : bool
            Whether pieces are requested in order.
        overwrite : bool
            Whether wrong pieces in files that do not belong to the torrent are replaced. Otherwise these files stay, and the torrent fails.
        serve : bool
            Whether complete content is served, until it was sent ``ratio`` times or for ``seconds``. Without, the torrent then ends.
        paused : bool
            Whether the torrent starts paused.
        labels : list of str
            Labels, which the client only keeps.
        max_down, max_up : int or None
            Limits of the torrent in bytes per second.
        """
    def seed(
        self,
        source: bytes | str | PathLike[str],
        content: str | PathLike[str],
        *,
        ratio: float | None = None,
        seconds: float | None = None,
        paused: bool = False,
        labels: Sequence[str] = ...,
        max_down: int | None = None,
        max_up: int | None = None,
    ) -> TorrentHandle:
        """Adds a torrent whose content is served and never written.

        Parameters
        ----------
        source : bytes, str or path
            As for :meth:`download`.
        content : path
            The file, or the folder that holds the files, under any name.
        ratio, seconds : float or None
            The torrent ends at this ratio of sent to received bytes, or after this time.
        """
    def torrents(self) -> list[TorrentHandle]:
        """Returns all torrents that were not removed, in the order in which they were added."""
    def get(self, key: str) -> TorrentHandle | None:
        """Returns a torrent by its info-hash in hexadecimal digits, or by its number."""
    def set_limits(self, *, max_down: int | None = None, max_up: int | None = None) -> None:
        """Limits all torrents together to these bytes per second; None for no limit."""
    def subscribe(self) -> Subscription:
        """Returns the events from now on, for ``Events``."""
    def stop(self) -> list[str]:
        """Stops the client, and returns the outcome of each torrent: ``complete``, ``incomplete`` or ``failed``.

        Trackers are informed for at most 1.5 s. A client that has ended has no outcomes any more.
        """
