"""Tree hashes of files and folders."""

from __future__ import annotations

import os

from hashlane import _hashlane

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, BinaryIO, TypeGuard
    from uuid import UUID

    from hashlane._progress import Cancel, Progress

tree_digests_available = frozenset(_hashlane.tree_names())
"""Names that :func:`tree_digest` and :func:`tree_check` accept."""


def tree_digest(
    path: str | bytes | os.PathLike[str] | BinaryIO,
    algorithm: str,
    *,
    block_size: int | None = None,
    hash_block_size: int | None = None,
    data_blocks: int | None = None,
    salt: bytes | None = None,
    part_size: int | None = None,
    hash_name: str | None = None,
    verity_format: int | None = None,
    exclude: Sequence[str] = (),
    hash_device: str | os.PathLike[str] | None = None,
    hash_offset: int | None = None,
    uuid: UUID | str | None = None,
    out_merkle_tree: str | os.PathLike[str] | None = None,
    out_descriptor: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    **storage_options: Any,
) -> str:
    """Returns the tree hash of a file or folder as text, with all lanes and cores on each file.

    The files of `hash_device`, `out_merkle_tree` and `out_descriptor` are written as a whole, or not at all if there is an
    exception. Of two files, the first one stays if the second one cannot get its name.

    Parameters
    ----------
    path : path, URL or binary file
        A regular file. The content of a URL, which fsspec reads, is copied to a temporary folder first, and so is that of an open
        file that is no regular file at its start. For ``git``, ``git-sha256`` and the names with ``cid``, also a folder: the tree that Git gives to it
        without ``.git``, or its CID.
    algorithm : str
        A name of ``tree_digests_available``, for example ``"fsverity"``, ``"cid"`` or ``"s3-etag"``.
    block_size : int, optional
        Length of a block of ``fsverity``, ``fsverity-sha512`` and ``dmverity`` in bytes, by default 4096.
    hash_block_size : int, optional
        Length of a block of the hash device of ``dmverity`` in bytes, by default `block_size`.
    data_blocks : int, optional
        Number of blocks of ``dmverity`` at the start of the file. Bytes after them are not hashed. By default all: a file whose
        length is no multiple of that of a block is then an error.
    salt : bytes, optional
        Salt of ``fsverity``, ``fsverity-sha512`` and ``dmverity``.
    part_size : int, optional
        Length of a part of ``s3-etag``, ``s3-sha1`` and ``s3-sha256`` in bytes, by default 8 MiB.
    hash_name : str, optional
        Hash function of ``dmverity``: ``"sha1"``, ``"sha256"`` or ``"sha512"``, by default ``"sha256"``. fs-verity with
        SHA-512 is the algorithm ``fsverity-sha512``.
    verity_format : int, optional
        Format of ``dmverity``: 1, or 0 for that of Chrome OS. By default 1.
    exclude : sequence of str, optional
        Patterns of files and folders to leave out of a folder, for example ``["*.tmp", "/build"]``: any name in any folder, or
        a path from the top. Letter case makes no difference. The ``.git`` at the top is left out of ``git`` anyway.
    hash_device : path, optional
        File to write the hash device of ``dmverity`` to: the superblock and the tree.
    hash_offset : int, optional
        Position of the superblock in the hash device to write in bytes: a multiple of 512, by default 0.
    uuid : uuid.UUID or str, optional
        UUID of the hash device to write, by default made of the root hash.
    out_merkle_tree : path, optional
        File to write the tree of ``fsverity``, ``fsverity-sha512`` or ``apk-idsig`` to.
    out_descriptor : path, optional
        File to write the descriptor of ``fsverity`` or ``fsverity-sha512`` to.
    overwrite : bool, optional
        Whether files that exist are replaced. By default, they are an error.
    threads : int, optional
        Number of threads that read and hash, by default one for each CPU.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of hashed bytes, and None.
    cancel : object with ``is_set()``, optional
        Ends the work when it is set.
    **storage_options
        Options of the file system of a URL.

    Raises
    ------
    ValueError
        A name is unknown, a pattern or `uuid` is malformed, or the tree hash does not have such parameters or files.
    FileExistsError
        A file to write exists.
    OSError
        A file cannot be written, or is the content or another one of the files. A file cannot be read, is too short or too long
        for the tree hash, or changed while it was read. Or an entry of the folder cannot be part of the result, such as a symbolic
        link for a CID. The exception names the file or entry.
    hashlane.Cancelled
        The work was cancelled.
    """
    from hashlane._arguments import listed
    from hashlane._progress import callback

    report = callback(progress, "digest")
    tree = (
        algorithm,
        block_size,
        salt,
        part_size,
        hash_name,
        verity_format,
        listed(exclude, "exclude"),
        hash_block_size,
        data_blocks,
    )
    number = None if uuid is None else _uuid_bytes(uuid)
    outputs = (out_merkle_tree, out_descriptor, hash_device, number, overwrite, hash_offset)
    if _is_local(path) and not storage_options:
        return _hashlane.tree_digest(os.fsdecode(path), tree, outputs, threads, report, cancel)
    from hashlane._remote import on_disk

    with on_disk(path, storage_options) as place:
        return _hashlane.tree_digest(place, tree, outputs, threads, report, cancel)


def _is_local(path: object) -> TypeGuard[str | bytes | os.PathLike[str]]:
    if not isinstance(path, str) or "://" not in path:
        return isinstance(path, (str, bytes, os.PathLike))
    from hashlane._remote import is_url

    return not is_url(path)


def _uuid_bytes(uuid: UUID | str) -> bytes:
    from uuid import UUID

    try:
        return (uuid if isinstance(uuid, UUID) else UUID(uuid)).bytes
    except ValueError as error:
        raise ValueError(f"uuid: {error}") from None


def tree_check(
    path: str | bytes | os.PathLike[str] | BinaryIO,
    algorithm: str,
    digest: str,
    *,
    block_size: int | None = None,
    hash_block_size: int | None = None,
    data_blocks: int | None = None,
    salt: bytes | None = None,
    part_size: int | None = None,
    hash_name: str | None = None,
    verity_format: int | None = None,
    exclude: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    **storage_options: Any,
) -> bool:
    """Returns whether a file or folder has a tree hash.

    Parameters
    ----------
    path : path, URL or binary file
        A regular file or, as for :func:`tree_digest`, a folder, a URL or an open file.
    algorithm : str
        A name of ``tree_digests_available``.
    digest : str
        The expected tree hash. The case of hexadecimal digits makes no difference, and neither do quotes around an ``ETag``.
    block_size, hash_block_size, data_blocks, salt, hash_name, verity_format, exclude, threads, progress, cancel, **storage_options
        As for :func:`tree_digest`.
    part_size : int, optional
        Length of a part of ``s3-etag``, ``s3-sha1`` and ``s3-sha256`` in bytes. By default, it follows from the number of
        parts if possible.

    Raises
    ------
    ValueError
        A name is unknown, the tree hash does not have such parameters, or `digest` is no result of it.
    OSError
        As of :func:`tree_digest`. Or several lengths of parts are possible: choose `part_size`.
    hashlane.Cancelled
        The work was cancelled.
    """
    from hashlane._arguments import listed
    from hashlane._progress import callback

    report = callback(progress, "check")
    tree = (
        algorithm,
        block_size,
        salt,
        part_size,
        hash_name,
        verity_format,
        listed(exclude, "exclude"),
        hash_block_size,
        data_blocks,
    )
    if _is_local(path) and not storage_options:
        return _hashlane.tree_check(os.fsdecode(path), digest, tree, threads, report, cancel)
    from hashlane._remote import on_disk

    with on_disk(path, storage_options) as place:
        return _hashlane.tree_check(place, digest, tree, threads, report, cancel)
