"""Digests of the files of a folder, one after another, with their number and length known before."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hashlane import _hashlane
from hashlane._errors import Cancelled
from hashlane._progress import Cancel, Progress, callback

if TYPE_CHECKING:
    from hashlane._hashlane import _Algorithm

FILES_IN_SET = 1024
BYTES_IN_SET = 1 << 30


@dataclasses.dataclass(frozen=True, slots=True)
class FileDigest:
    """The digest of a file, or the error for which it has none."""

    path: str
    """Path below the folder, with slashes. Bytes that are not UTF-8 are surrogates, as of :func:`os.fsdecode`."""
    length: int
    """Length in bytes when the folder was listed."""
    digest: bytes | None
    error: OSError | None

    @property
    def hexdigest(self) -> str | None:
        """The digest in hexadecimal."""
        return None if self.digest is None else self.digest.hex()


class FolderDigests:
    """An iterator over the :class:`FileDigest` of each file of a folder, in the order of the names. ``len`` is the number of files."""

    total_bytes: int
    """Length of all files in bytes."""

    def __init__(
        self,
        files: list[tuple[str, int, OSError | None]],
        digest: Callable[[list[str]], list[bytes | OSError]],
        folder: str,
        show: Callable[[int, int | None], object] | None,
    ) -> None:
        self.total_bytes = sum(length for _, length, _ in files)
        self._n_files, self._folder, self._digest, self._show = len(files), folder, digest, show
        self._found = self._all(files)

    def __len__(self) -> int:
        return self._n_files

    def __iter__(self) -> Iterator[FileDigest]:
        return self

    def __next__(self) -> FileDigest:
        return next(self._found)

    def __repr__(self) -> str:
        return f"<FolderDigests {self._n_files} files, {self.total_bytes} bytes>"

    def _all(self, files: list[tuple[str, int, OSError | None]]) -> Iterator[FileDigest]:
        done = 0
        for some in _sets(files):
            readable = [f"{self._folder}/{path}" for path, _, error in some if error is None]
            digests = iter(self._digest(readable))
            for path, length, error in some:
                digest: bytes | OSError = next(digests) if error is None else error
                done += length
                if isinstance(digest, OSError):
                    yield FileDigest(path, length, None, digest)
                else:
                    yield FileDigest(path, length, digest, None)
            if self._show is not None:
                self._show(done, self.total_bytes)


def hash_tree(
    folder: str | bytes | os.PathLike[str],
    algorithm: _Algorithm = "sha256",
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> FolderDigests:
    """Returns an iterator over the digests of all files below a folder. Links are not followed, and only regular files are read.

    A folder that cannot be listed and a file that cannot be read have an error among the results, never a digest.

    Parameters
    ----------
    folder : path
        The folder.
    algorithm : str or constructor
        A name of ``algorithms_available``, or a constructor such as ``hashlib.sha256``.
    threads : int, optional
        Number of threads that read and hash, by default one for each CPU.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of bytes done and of all bytes, after each set of files.
    cancel : object with ``is_set()``, optional
        Ends the work when it is set.

    Raises
    ------
    OSError
        The folder itself cannot be listed.
    hashlane.Cancelled
        The work was cancelled. The next result raises it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a").write_bytes(b"abc")
    >>> digests = hash_tree(folder)
    >>> len(digests), digests.total_bytes
    (1, 3)
    >>> [(file.path, file.hexdigest[:8]) for file in digests]
    [('a', 'ba7816bf')]
    """
    _hashlane.digest_many([], algorithm)
    top = os.fsdecode(folder)
    os.scandir(top).close()
    files = sorted(_listed(top, ""))

    def digest(paths: list[str]) -> list[bytes | OSError]:
        if cancel is not None and cancel.is_set():
            raise Cancelled
        return _hashlane.digest_files(paths, algorithm, threads, None, cancel)

    return FolderDigests(files, digest, top, callback(progress, "hash"))


def _listed(top: str, below: str) -> Iterator[tuple[str, int, OSError | None]]:
    """Returns the files below a folder with their lengths. A folder without a list has its error."""
    folders = [below]
    while folders:
        below = folders.pop()
        try:
            with os.scandir(f"{top}/{below}") as entries:
                for entry in entries:
                    path = f"{below}{entry.name}"
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError as error:
                        yield path, 0, error
                        continue
                    if stat.S_ISDIR(status.st_mode):
                        folders.append(f"{path}/")
                    elif stat.S_ISREG(status.st_mode):
                        yield path, status.st_size, None
        except OSError as error:
            yield below.rstrip("/"), 0, error


def _sets(files: list[tuple[str, int, OSError | None]]) -> Iterator[list[tuple[str, int, OSError | None]]]:
    held: list[tuple[str, int, OSError | None]] = []
    n_bytes = 0
    for file in files:
        held.append(file)
        n_bytes += file[1]
        if len(held) == FILES_IN_SET or n_bytes >= BYTES_IN_SET:
            yield held
            held, n_bytes = [], 0
    if held:
        yield held
