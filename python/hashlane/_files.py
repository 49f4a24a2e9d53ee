"""Digests of whole files."""

from __future__ import annotations

import os

from hashlane import _hashlane

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hashlane._progress import Cancel, Progress


def digest_files(
    paths: Iterable[str | bytes | os.PathLike[str]],
    algorithm: str = "sha256",
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    return_errors: bool = False,
) -> list[bytes | OSError]:
    """Returns the digest of each file. Files of SHA-1 and SHA-256 are hashed side by side.

    Parameters
    ----------
    paths : iterable of paths
        The files. Pipes and devices are read in their turn.
    algorithm : str
        A name of ``algorithms_available``.
    threads : int, optional
        Number of threads that read and hash, by default one for each CPU.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of hashed bytes, and None.
    cancel : object with ``is_set()``, optional
        Ends the work when it is set.
    return_errors : bool
        Whether a file that cannot be read has its error in the list. Otherwise, the first error is raised, after all files
        were read.

    Raises
    ------
    OSError
        A file cannot be read, with ``filename``.
    hashlane.Cancelled
        The work was cancelled.
    """
    from hashlane._arguments import listed
    from hashlane._progress import callback

    names = [os.fsdecode(path) for path in listed(paths, "paths")]
    digests = _hashlane.digest_files(names, algorithm, threads, callback(progress, "digest"), cancel)
    if not return_errors:
        for digest in digests:
            if isinstance(digest, OSError):
                raise digest
    return digests
