"""Tree hashes of files."""

from __future__ import annotations

from hashlane import _hashlane

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from hashlane._progress import Cancel, Progress

tree_digests_available = frozenset(_hashlane.tree_names())
"""Names that :func:`tree_digest` accepts."""


def tree_digest(
    path: str | os.PathLike[str],
    algorithm: str,
    *,
    block_size: int | None = None,
    salt: bytes | None = None,
    part_size: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> str:
    """Returns the tree hash of a file as text, with all lanes and cores on the file.

    Parameters
    ----------
    path : path
        A regular file.
    algorithm : str
        A name of ``tree_digests_available``, for example ``"fsverity"``, ``"cid"`` or ``"s3-etag"``.
    block_size : int, optional
        Length of a block of ``fsverity`` and ``dmverity`` in bytes, by default 4096.
    salt : bytes, optional
        Salt of ``fsverity`` and ``dmverity``.
    part_size : int, optional
        Length of a part of ``s3-etag``, ``s3-sha1`` and ``s3-sha256`` in bytes, by default 8 MiB.
    threads : int, optional
        Number of threads that read and hash, by default one for each CPU.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of hashed bytes, and None.
    cancel : object with ``is_set()``, optional
        Ends the work when it is set.

    Raises
    ------
    ValueError
        The name is unknown, or the tree hash does not have such parameters.
    OSError
        The file cannot be read, is too short or too long for the tree hash, or changed while it was read.
    hashlane.Cancelled
        The work was cancelled.
    """
    from hashlane._progress import callback

    report = callback(progress, "digest")
    return _hashlane.tree_digest(path, algorithm, block_size, salt, part_size, threads, report, cancel)
