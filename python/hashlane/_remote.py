"""Verification of content that fsspec reads: object stores, web servers, SSH, archives."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hashlane import _hashlane

if TYPE_CHECKING:
    from hashlane._progress import Callback, Cancel
    from hashlane._torrents import Torrent

THREADS = 8
"""Reads that wait at the same time. A store answers each after tens of milliseconds."""

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*::)*[A-Za-z][A-Za-z0-9+.-]*://")


def is_url(path: object) -> bool:
    """Whether a path is a URL of fsspec, possibly a chain of several, and not the name of a local file."""
    return isinstance(path, str) and _URL.match(path) is not None


def verify(
    torrent: Torrent,
    url: str,
    pieces: tuple[int, int] | None,
    threads: int | None,
    progress: Callback | None,
    cancel: Cancel | None,
    storage_options: dict[str, Any],
) -> dict[str, Any]:
    """Verifies the content at a URL."""
    import fsspec

    fs, root = fsspec.core.url_to_fs(url, **storage_options)
    paths = [file.path for file in torrent.files]

    def place(index: int) -> str:
        if not torrent.is_single_file:
            return f"{root.rstrip('/')}/{paths[index]}"
        return f"{root.rstrip('/')}/{torrent.name}" if fs.isdir(root) else root

    def open_file(index: int) -> tuple[int, Callable[[int, int], bytes]]:
        path = place(index)
        info = fs.info(path)
        if info["type"] != "file":
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        length = info["size"]

        def read(offset: int, size: int) -> bytes:
            return bytes(fs.cat_file(path, start=offset, end=min(length, offset + size)))

        return length, read

    return _hashlane.verify_readers(torrent._native, open_file, pieces, threads or THREADS, progress, cancel)
