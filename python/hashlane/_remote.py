"""Content that fsspec reads: object stores, web servers, SSH, archives. Also open files."""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from hashlane import _hashlane
from hashlane._errors import Cancelled

if TYPE_CHECKING:
    from hashlane._hashlane import _Algorithm
    from hashlane._progress import Callback, Cancel
    from hashlane._torrents import Torrent

BLOCK = 4 << 20
"""Bytes that are read at a time."""

INTERVAL = 0.05
"""Seconds between two looks at the progress and at signals."""

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


def digests(
    sources: Mapping[int, Any],
    algorithm: _Algorithm,
    progress: Callback | None,
    cancel: Cancel | None,
    storage_options: dict[str, Any],
) -> dict[int, bytes | OSError]:
    """Returns the digests of URLs and open files by their keys. Some are read at the same time.

    Raises
    ------
    hashlane.Cancelled
        The work was cancelled.
    Exception
        What a file system raises that is no ``OSError``, such as a ``TypeError`` for a wrong option.
    """
    done_bytes, lock, stop = 0, threading.Lock(), threading.Event()
    waiting: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    found: queue.SimpleQueue[tuple[int, bytes | BaseException]] = queue.SimpleQueue()
    for source in sources.items():
        waiting.put(source)

    def digest(source: Any) -> bytes:
        nonlocal done_bytes
        stream = _hashlane.new(_name_of(algorithm))
        with _opened(source, storage_options) as file:
            while not stop.is_set() and (block := file.read(BLOCK)):
                stream.update(block)
                with lock:
                    done_bytes += len(block)
        return stream.digest()

    def work() -> None:
        while not stop.is_set():
            try:
                key, source = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                found.put((key, digest(source)))
            except BaseException as error:  # noqa: BLE001 - the caller receives it
                found.put((key, error))

    # A read that does not return keeps neither the caller nor the interpreter from ending.
    for _ in range(min(THREADS, len(sources))):
        threading.Thread(target=work, daemon=True).start()
    results: dict[int, bytes | OSError] = {}
    try:
        while len(results) < len(sources):
            with contextlib.suppress(queue.Empty):
                key, result = found.get(timeout=INTERVAL)
                if not isinstance(result, (bytes, OSError)):
                    raise result
                results[key] = result
            if cancel is not None and cancel.is_set():
                raise Cancelled
            if progress is not None:
                progress(done_bytes, None)
        return results
    finally:
        stop.set()


def _name_of(algorithm: _Algorithm) -> str:
    if isinstance(algorithm, str):
        return algorithm
    constructor: Any = getattr(algorithm, "new", algorithm)
    name: str = constructor().name
    return name


@contextlib.contextmanager
def _opened(source: Any, storage_options: dict[str, Any]) -> Generator[BinaryIO]:
    """Opens a URL. An open file stays open."""
    if not is_url(source):
        if not hasattr(source, "read"):
            raise TypeError(f"paths: expected a path, a URL or a binary file, found {type(source).__name__}")
        yield source
        return
    import fsspec

    fs, path = fsspec.core.url_to_fs(source, **storage_options)
    with fs.open(path, "rb", block_size=BLOCK) as file:
        yield file


@contextlib.contextmanager
def on_disk(source: Any, storage_options: dict[str, Any]) -> Generator[str]:
    """Returns the path of content on the disk: what a URL or an open file has is copied to a temporary folder if necessary.

    Raises
    ------
    OSError
        The content cannot be read, or the temporary folder cannot hold it.
    """
    if isinstance(source, (str, bytes, os.PathLike)) and not is_url(source):
        if storage_options:
            raise TypeError(f"options of a file system without a URL: {', '.join(storage_options)}")
        yield os.fsdecode(source)
        return
    with tempfile.TemporaryDirectory(prefix="hashlane-") as folder:
        if is_url(source):
            import fsspec

            fs, path = fsspec.core.url_to_fs(source, **storage_options)
            name = path.rstrip("/").rpartition("/")[2] or "content"
            is_folder = fs.isdir(path)
            # With a slash at their ends, the content of one folder goes to the other.
            end = "/" if is_folder else ""
            fs.get(path.rstrip("/") + end, f"{folder}/{name}{end}", recursive=is_folder)
            yield f"{folder}/{name}"
            return
        if not hasattr(source, "read"):
            raise TypeError(f"expected a path, a URL or a binary file, found {type(source).__name__}")
        file: Any = source
        descriptor: int | None = None
        with contextlib.suppress(OSError, AttributeError, ValueError):
            if file.tell() == 0:
                descriptor = file.fileno()
        if descriptor is not None and stat.S_ISREG(os.fstat(descriptor).st_mode):
            yield f"/proc/self/fd/{descriptor}"
            return
        name = os.path.basename(os.fsdecode(getattr(file, "name", "") or "")) or "content"
        with open(f"{folder}/{name}", "xb") as copy:
            shutil.copyfileobj(file, copy, BLOCK)
        yield f"{folder}/{name}"
