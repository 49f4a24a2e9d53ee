"""Digests of whole files."""

from __future__ import annotations

import os

from hashlane import _hashlane

TYPE_CHECKING = False
if TYPE_CHECKING:
    import hashlib
    from collections.abc import Callable, Iterable
    from typing import Any, BinaryIO

    from hashlane._hashlane import _Algorithm
    from hashlane._progress import Cancel, Progress


def digest_files(
    paths: Iterable[str | bytes | os.PathLike[str] | BinaryIO],
    algorithm: _Algorithm = "sha256",
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    return_errors: bool = False,
    **storage_options: Any,
) -> list[bytes | OSError]:
    """Returns the digest of each file. Files of MD5, SHA-1, SHA-256, SHA-384 and SHA-512 are hashed side by side.

    Parameters
    ----------
    paths : iterable of paths, URLs or binary files
        The files. Pipes and devices are read in their turn. A URL such as ``s3://bucket/name`` is read by fsspec, eight at a
        time, and an open file from its position on.
    algorithm : str or constructor
        A name of ``algorithms_available``, or a constructor such as ``hashlib.sha256``.
    threads : int, optional
        Number of threads that read and hash, by default one for each CPU.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of hashed bytes, and None.
    cancel : object with ``is_set()``, optional
        Ends the work when it is set.
    return_errors : bool
        Whether a file that cannot be read has its error in the list. Otherwise, the first error is raised, after all files
        were read.
    **storage_options
        Options of the file systems of URLs.

    Raises
    ------
    OSError
        A file cannot be read, with ``filename``.
    hashlane.Cancelled
        The work was cancelled.
    """
    from hashlane._arguments import listed
    from hashlane._progress import callback
    from hashlane._remote import is_url

    sources = listed(paths, "paths")
    show = callback(progress, "digest")
    local = {
        index: os.fsdecode(path)
        for index, path in enumerate(sources)
        if isinstance(path, (str, bytes, os.PathLike)) and not is_url(path)
    }
    if storage_options and all(not is_url(path) for path in sources):
        raise TypeError(f"options of a file system without a URL: {', '.join(storage_options)}")
    digests: dict[int, bytes | OSError] = {}
    done_local = 0

    def show_local(done: int, total: int | None) -> None:
        nonlocal done_local
        done_local = done
        if show is not None:
            show(done, total)

    if local:
        found = _hashlane.digest_files(list(local.values()), algorithm, threads, show and show_local, cancel)
        digests.update(zip(local, found, strict=True))
    others = {index: source for index, source in enumerate(sources) if index not in local}
    if others:
        from hashlane import _remote

        show_all = (lambda done, total: show(done_local + done, total)) if show is not None else None
        digests.update(_remote.digests(others, algorithm, show_all, cancel, storage_options))
    ordered = [digests[index] for index in range(len(sources))]
    if not return_errors:
        for digest in ordered:
            if isinstance(digest, OSError):
                raise digest
    return ordered


def file_digest(
    fileobj: BinaryIO, digest: str | Callable[[], Any] = "sha256", /, *, _bufsize: int = 1 << 18
) -> hashlib._Hash:
    """Returns the hash of an open binary file from its position on, as :func:`hashlib.file_digest`.

    >>> import io
    >>> file_digest(io.BytesIO(b"abc"), "sha256").hexdigest()[:8]
    'ba7816bf'
    """
    import hashlib

    constructor = (lambda: _hashlane.new(digest)) if isinstance(digest, str) else digest
    return hashlib.file_digest(fileobj, constructor, _bufsize=_bufsize)  # type: ignore[arg-type]
