"""Exceptions of the package. Errors of files are ``OSError`` with ``errno`` and ``filename``."""

from __future__ import annotations


class Cancelled(Exception):  # noqa: N818 - as concurrent.futures.CancelledError, but not one of its family
    """The work was ended by ``cancel`` before it had a result."""


class TorrentError(ValueError):
    """A .torrent file is damaged, or other programs could read it in another way.

    Attributes
    ----------
    position : int or None
        Offset of the fault in the file in bytes, if it has one place.
    """

    position: int | None

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position

    def __reduce__(self) -> tuple[type[TorrentError], tuple[str, int | None]]:
        return type(self), (str(self), self.position)
