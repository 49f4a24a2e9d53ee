"""Lists of checksums: read, written, and compared with files."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from hashlane import _hashlane

if TYPE_CHECKING:
    from hashlane._progress import Cancel, Progress


class Sum(NamedTuple):
    """The digest that a file should have."""

    path: str
    """Path of the file, whose bytes that are not UTF-8 are surrogates, as of :func:`os.fsdecode`."""
    algorithm: str
    """A name that :func:`hashlane.new` accepts."""
    digest: str
    """Hexadecimal digits in lower case."""


def read_sums(path: str | bytes | os.PathLike[str], algorithm: str | None = None) -> list[Sum]:
    """Returns the sums of a list: of GNU coreutils, BSD, hashdeep, mtree or SFV.

    Raises
    ------
    ValueError
        A line is not a sum, or two lines have different digests of the same file.
    """
    with open(path, "rb") as file:
        data = file.read()
    name = os.fsdecode(path)
    try:
        lines = _hashlane.read_sums(data, algorithm)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    found: dict[tuple[str, str], tuple[str, int]] = {}
    for number, file_name, algorithm_of_line, digest in lines:
        key = (str(PurePosixPath(os.fsdecode(file_name))), algorithm_of_line)
        known, line = found.setdefault(key, (digest, number))
        if known != digest:
            raise ValueError(f"{name}: line {number}: {key[0]}: line {line} has another digest")
    return [Sum(file_name, algorithm_of_line, digest) for (file_name, algorithm_of_line), (digest, _) in found.items()]


_BY_LENGTH = {8: "crc32", 32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}


def sums_of(digests: Mapping[str, str], algorithm: str | None = None) -> list[Sum]:
    """Returns the sums of hexadecimal digests by path.

    Raises
    ------
    ValueError
        A digest is not hexadecimal, or no algorithm or another one has digests of its length.
    """
    found = []
    for path, digest in digests.items():
        name = algorithm or _BY_LENGTH.get(len(digest))
        if re.fullmatch("[0-9a-fA-F]+", digest) is None:
            raise ValueError(f"{path}: {digest!r} is not hexadecimal")
        if name is None:
            raise ValueError(f"{path}: no algorithm has digests of {len(digest)} digits: name it by algorithm")
        if len(digest) != 2 * _hashlane.new(name).digest_size:
            raise ValueError(f"{path}: a digest of {name} has not {len(digest)} digits")
        found.append(Sum(os.fsdecode(path), name, digest.lower()))
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class SumReport:
    """What a file is, compared with the digest that it should have."""

    path: str
    """Path of the file as in the list."""
    state: str
    """``"have"``, ``"bad"``, ``"missing"`` or ``"unreadable"``."""
    error: OSError | None
    """The error of a file that is missing or unreadable."""


@dataclasses.dataclass(frozen=True, slots=True)
class SumsReport:
    """The result of :func:`check_sums`."""

    files: tuple[SumReport, ...]
    """One entry for each file of the list."""

    @property
    def is_ok(self) -> bool:
        """Whether all files are present and correct, and the list has files."""
        return bool(self.files) and all(file.state == "have" for file in self.files)

    @property
    def faults(self) -> tuple[SumReport, ...]:
        """The files that are not present and correct."""
        return tuple(file for file in self.files if file.state != "have")

    def __repr__(self) -> str:
        return f"<SumsReport {len(self.files) - len(self.faults)} of {len(self.files)} files present and correct>"


def write_sums(
    path: str | os.PathLike[str],
    files: Iterable[str | bytes | os.PathLike[str]] | str | os.PathLike[str],
    algorithm: str = "sha256",
    *,
    root: str | os.PathLike[str] | None = None,
    tagged: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> int:
    """Writes a list of checksums that ``sha256sum --check`` and :func:`check_sums` read, and returns the number of files.

    The list gets its name when it is complete.

    Parameters
    ----------
    path : path
        The list.
    files : folder or iterable of paths
        The files, or a folder: all files below it but the list itself.
    algorithm : str
        A name of ``algorithms_available``.
    root : path, optional
        Folder that the names in the list start from, by default that of the list.
    tagged : bool
        Whether lines are in the format of BSD, which names the algorithm.
    overwrite : bool
        Whether to replace a list that exists.
    threads, progress, cancel
        As for :func:`digest_files`.

    Raises
    ------
    FileExistsError
        The list exists.
    OSError
        A file cannot be read, or the list cannot be written. The list does not exist then.
    ValueError
        A file is not below ``root``.
    hashlane.Cancelled
        The work was cancelled.
    """
    from hashlane._files import digest_files
    from hashlane._folders import hash_tree

    target = Path(path)
    if target.exists() and not overwrite:
        raise FileExistsError(17, os.strerror(17), str(target))
    base = Path(os.path.abspath(root if root is not None else target.parent))
    named: list[tuple[str, bytes]] = []
    if isinstance(files, (str, bytes, os.PathLike)):
        top = os.fsdecode(files)
        for file in hash_tree(top, algorithm, threads=threads, progress=progress, cancel=cancel):
            name = f"{top}/{file.path}"
            if Path(os.path.abspath(name)) == Path(os.path.abspath(target)):
                continue
            if file.digest is None:
                raise file.error or OSError(f"{name}: no digest")
            named.append((name, file.digest))
    else:
        names = [os.fsdecode(file) for file in files]
        digests = digest_files(names, algorithm, threads=threads, progress=progress, cancel=cancel)
        named = [(name, digest) for name, digest in zip(names, digests, strict=True) if isinstance(digest, bytes)]
    partial = target.with_name(f"{target.name}.part")
    try:
        with open(partial, "wb") as written:
            for name, digest in named:
                below = os.fsencode(str(Path(os.path.abspath(name)).relative_to(base)))
                written.write(_hashlane.sum_line(algorithm, digest.hex(), below, tagged))
            written.flush()
            os.fsync(written.fileno())
        os.replace(partial, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
        raise
    return len(named)


def check_sums(
    sums: str | os.PathLike[str] | Mapping[str, str],
    root: str | os.PathLike[str] | None = None,
    algorithm: str | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> SumsReport:
    """Compares files with the digests that they should have. On a cluster, :func:`hashlane.dask.check_many` does.

    Parameters
    ----------
    sums : path or mapping
        A list of GNU coreutils, BSD, hashdeep, mtree or SFV, or hexadecimal digests by path.
    root : path, optional
        The folder that relative paths start from, by default that of the list, or the current one.
    algorithm : str, optional
        A name of ``algorithms_available``. By default, the length of a digest selects MD5, SHA or CRC-32.
    threads, progress, cancel
        As for :func:`digest_files`.

    Raises
    ------
    ValueError
        A line is not a sum, or two lines contradict each other.
    OSError
        The list cannot be read. Files that cannot be read are part of the report.
    hashlane.Cancelled
        The work was cancelled.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a").write_bytes(b"abc")
    >>> write_sums(folder / "SHA256SUMS", folder)
    1
    >>> check_sums(folder / "SHA256SUMS")
    <SumsReport 1 of 1 files present and correct>
    >>> _ = (folder / "a").write_bytes(b"abd")
    >>> check_sums(folder / "SHA256SUMS").faults
    (SumReport(path='a', state='bad', error=None),)
    """
    from hashlane._files import digest_files

    found = sums_of(sums, algorithm) if isinstance(sums, Mapping) else read_sums(sums, algorithm)
    if root is None:
        root = "." if isinstance(sums, Mapping) else Path(sums).parent
    by_algorithm: dict[str, list[int]] = {}
    for index, one in enumerate(found):
        by_algorithm.setdefault(one.algorithm, []).append(index)
    reports: dict[int, SumReport] = {}
    for name, indices in by_algorithm.items():
        paths = [os.path.join(root, found[index].path) for index in indices]
        digests = digest_files(paths, name, threads=threads, progress=progress, cancel=cancel, return_errors=True)
        for index, digest in zip(indices, digests, strict=True):
            reports[index] = _sum_report(found[index], digest)
    return SumsReport(tuple(reports[index] for index in range(len(found))))


def _sum_report(wanted: Sum, digest: bytes | OSError) -> SumReport:
    if isinstance(digest, FileNotFoundError):
        return SumReport(wanted.path, "missing", digest)
    if isinstance(digest, OSError):
        return SumReport(wanted.path, "unreadable", digest)
    return SumReport(wanted.path, "have" if digest.hex() == wanted.digest else "bad", None)
