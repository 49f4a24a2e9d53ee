"""Tree hashes of files and folders."""

from __future__ import annotations

from hashlane import _hashlane

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from hashlane._progress import Cancel, Progress

tree_digests_available = frozenset(_hashlane.tree_names())
"""Names that :func:`tree_digest` and :func:`tree_check` accept."""


def tree_digest(
    path: str | os.PathLike[str],
    algorithm: str,
    *,
    block_size: int | None = None,
    salt: bytes | None = None,
    part_size: int | None = None,
    hash_name: str | None = None,
    verity_format: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> str:
    """Returns the tree hash of a file or folder as text, with all lanes and cores on each file.

    Parameters
    ----------
    path : path
        A regular file. For ``git``, ``git-sha256`` and the names with ``cid``, also a folder: the tree that Git gives to it
        without ``.git``, or its CID.
    algorithm : str
        A name of ``tree_digests_available``, for example ``"fsverity"``, ``"cid"`` or ``"s3-etag"``.
    block_size : int, optional
        Length of a block of ``fsverity``, ``fsverity-sha512`` and ``dmverity`` in bytes, by default 4096.
    salt : bytes, optional
        Salt of ``fsverity``, ``fsverity-sha512`` and ``dmverity``.
    part_size : int, optional
        Length of a part of ``s3-etag``, ``s3-sha1`` and ``s3-sha256`` in bytes, by default 8 MiB.
    hash_name : str, optional
        Hash function of ``dmverity``: ``"sha1"``, ``"sha256"`` or ``"sha512"``, by default ``"sha256"``. fs-verity with
        SHA-512 is the algorithm ``fsverity-sha512``.
    verity_format : int, optional
        Format of ``dmverity``: 1, or 0 for that of Chrome OS. By default 1.
    threads : int, optional
        Number of threads that read and hash, by default one for each CPU.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of hashed bytes, and None.
    cancel : object with ``is_set()``, optional
        Ends the work when it is set.

    Raises
    ------
    ValueError
        A name is unknown, or the tree hash does not have such parameters.
    OSError
        A file cannot be read, is too short or too long for the tree hash, or changed while it was read. Or an entry of the
        folder cannot be part of the result, such as a symbolic link for a CID. The exception names the file or entry.
    hashlane.Cancelled
        The work was cancelled.
    """
    from hashlane._progress import callback

    report = callback(progress, "digest")
    tree = (algorithm, block_size, salt, part_size, hash_name, verity_format)
    return _hashlane.tree_digest(path, tree, threads, report, cancel)


def tree_check(
    path: str | os.PathLike[str],
    algorithm: str,
    digest: str,
    *,
    block_size: int | None = None,
    salt: bytes | None = None,
    part_size: int | None = None,
    hash_name: str | None = None,
    verity_format: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> bool:
    """Returns whether a file or folder has a tree hash.

    Parameters
    ----------
    path : path
        A regular file or, as for :func:`tree_digest`, a folder.
    algorithm : str
        A name of ``tree_digests_available``.
    digest : str
        The expected tree hash. The case of hexadecimal digits makes no difference, and neither do quotes around an ``ETag``.
    block_size, salt, hash_name, verity_format, threads, progress, cancel
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
    from hashlane._progress import callback

    report = callback(progress, "check")
    tree = (algorithm, block_size, salt, part_size, hash_name, verity_format)
    return _hashlane.tree_check(path, digest, tree, threads, report, cancel)
