"""The checks of data against a hash device of dm-verity, and of a package against its signature file."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hashlane import _hashlane

if TYPE_CHECKING:
    import os
    from typing import Any

    from hashlane._progress import Cancel, Progress


@dataclasses.dataclass(frozen=True, slots=True)
class VerityReport:
    """The result of :func:`verity_check` and :func:`idsig_check`, where the device is the tree in the signature file."""

    is_right: bool
    """Whether no block is damaged, the root hash is the expected one, and the device has digests of all bytes."""
    root_hash: str
    """Root hash of the device in hexadecimal digits. If the device has no tree, that of the data."""
    has_root_hash: bool
    """Whether the root hash is the expected one, or none is expected."""
    blocks: int
    """Number of blocks of the data that the device has digests of."""
    bytes_beyond: int
    """Number of bytes of the data that the device has no digests of."""
    damaged: int
    """Number of blocks of the data whose digests differ from those in the device."""
    damaged_ranges: tuple[range, ...]
    """Numbers of these blocks, at most 1000 ranges. The first block is 0."""
    device_damaged: int
    """Number of blocks of the device whose digests differ from those in the blocks above them."""
    device_damaged_ranges: tuple[range, ...]
    """Numbers of these blocks, at most 1000 ranges. Block 0 of a hash device starts with the superblock."""


def verity_check(
    path: str | os.PathLike[str],
    hash_device: str | os.PathLike[str],
    root_hash: bytes | str | None = None,
    *,
    hash_offset: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> VerityReport:
    """Checks data against a hash device of dm-verity, as ``veritysetup verify`` does, and finds all damaged blocks.

    The superblock of the hash device has the parameters. Without a root hash from a trusted place, the result only says that
    both files belong together. The root hash does not cover the number of blocks: compare the length of the data, too.

    Parameters
    ----------
    path : path
        The data, a regular file.
    hash_device : path
        The hash device. It can be the file of the data.
    root_hash : bytes or str, optional
        The expected root hash, as bytes or in hexadecimal digits. Data of one block needs it.
    hash_offset : int, optional
        Position of the superblock in the hash device in bytes.
    threads : int, optional
        Number of threads that read and hash, by default one for each CPU.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of hashed bytes, and None.
    cancel : object with ``is_set()``, optional
        Ends the work when it is set.

    Raises
    ------
    ValueError
        The root hash is not hexadecimal, has another length than the digests of the device, or is needed and missing.
    OSError
        A file cannot be read, has another length, or changed while it was read, or the hash device has no usable superblock.
        The exception names the file.
    hashlane.Cancelled
        The work was cancelled.
    """
    from hashlane._progress import callback

    try:
        root = bytes.fromhex(root_hash) if isinstance(root_hash, str) else root_hash
    except ValueError as error:
        raise ValueError(f"root_hash: {error}") from None
    report = callback(progress, "check")
    return _report(_hashlane.verity_check(path, (hash_device, hash_offset), root, threads, report, cancel))


def idsig_check(
    path: str | os.PathLike[str],
    idsig: str | os.PathLike[str],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> VerityReport:
    """Checks a package of Android against the root hash and the tree in its signature file of version 4.

    The signatures are not checked, so the result only says that package and signature file belong together. The tree is optional:
    without it, only the root hash shows damage.

    Parameters
    ----------
    path : path
        The package, a regular file.
    idsig : path
        The signature file, ``.apk.idsig``.
    threads, progress, cancel
        As for :func:`verity_check`.

    Raises
    ------
    OSError
        A file cannot be read or changed while it was read, or the signature file is unusable, or has the tree of a package of
        another length. The exception names the file.
    hashlane.Cancelled
        The work was cancelled.
    """
    from hashlane._progress import callback

    report = callback(progress, "check")
    return _report(_hashlane.idsig_check(path, idsig, threads, report, cancel))


def _report(fields: dict[str, Any]) -> VerityReport:
    for key in ("damaged_ranges", "device_damaged_ranges"):
        fields[key] = tuple(range(start, end) for start, end in fields[key])
    return VerityReport(**fields)
