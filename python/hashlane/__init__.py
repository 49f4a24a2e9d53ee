"""Hashes many messages at once, and verifies files and torrents.

>>> import hashlane
>>> hashlane.sha256(b"abc").hexdigest()[:16]
'ba7816bf8f01cfea'
>>> [digest.hex()[:8] for digest in hashlane.digest_many([b"one", b"two"], "sha1")]
['fe05bcdc', 'ad782ecd']

Objects of :func:`sha256` and the other constructors are used like those of :mod:`hashlib`, and the functions of ``hashlib`` that
this package has not are available here: ``import hashlane as hashlib`` works. :func:`digest_many` hashes up to 16 messages side by
side on each core.
"""

from __future__ import annotations

from hashlane._errors import Cancelled, TorrentError
from hashlane._files import digest_files, file_digest
from hashlane._hashlane import (
    HASH,
    HMAC,
    algorithms,
    blake2b,
    blake3,
    digest_chunks,
    digest_many,
    hmac_digest,
    hmac_new,
    md5,
    merkle_root,
    new,
    sha1,
    sha224,
    sha256,
    sha384,
    sha512,
)
from hashlane._queue import Queue
from hashlane._trees import tree_check, tree_digest, tree_digests_available

# typing is not imported for it: that takes longer than this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import (
        algorithms_guaranteed,
        blake2s,
        pbkdf2_hmac,
        scrypt,
        sha3_224,
        sha3_256,
        sha3_384,
        sha3_512,
        shake_128,
        shake_256,
    )
    from typing import Any

    from hashlane._columns import digest_column
    from hashlane._folders import FileDigest, FolderDigests, hash_tree
    from hashlane._recover import CustomKind, Damage, Estimate, Hit, Recovery, estimate, recover
    from hashlane._sums import SumReport, SumsReport, check_sums, write_sums
    from hashlane._torrents import File, FileReport, Magnet, OtherKey, PieceState, Report, Torrent, create
    from hashlane._verity import VerityReport, idsig_check, verity_check

    __version__: str

algorithms_available = frozenset(algorithms())
"""Names that :func:`new`, :func:`digest_many` and :func:`digest_files` accept."""

__all__ = [
    "HASH",
    "HMAC",
    "Cancelled",
    "CustomKind",
    "Damage",
    "Estimate",
    "File",
    "FileDigest",
    "FileReport",
    "FolderDigests",
    "Hit",
    "Magnet",
    "OtherKey",
    "PieceState",
    "Queue",
    "Recovery",
    "Report",
    "SumReport",
    "SumsReport",
    "Torrent",
    "TorrentError",
    "VerityReport",
    "__version__",
    "algorithms_available",
    "algorithms_guaranteed",
    "blake2b",
    "blake2s",
    "blake3",
    "check_sums",
    "create",
    "digest_chunks",
    "digest_column",
    "digest_files",
    "digest_many",
    "estimate",
    "file_digest",
    "hash_tree",
    "hmac_digest",
    "hmac_new",
    "idsig_check",
    "md5",
    "merkle_root",
    "new",
    "pbkdf2_hmac",
    "recover",
    "scrypt",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha512",
    "shake_128",
    "shake_256",
    "tree_check",
    "tree_digest",
    "tree_digests_available",
    "verity_check",
    "write_sums",
]


_MODULES = {
    "hashlane._columns": ("digest_column",),
    "hashlane._folders": ("FileDigest", "FolderDigests", "hash_tree"),
    "hashlane._recover": ("CustomKind", "Damage", "Estimate", "Hit", "Recovery", "estimate", "recover"),
    "hashlane._sums": ("SumReport", "SumsReport", "check_sums", "write_sums"),
    "hashlane._torrents": ("File", "FileReport", "Magnet", "OtherKey", "PieceState", "Report", "Torrent", "create"),
    "hashlane._verity": ("VerityReport", "idsig_check", "verity_check"),
    # What this package has not.
    "hashlib": (
        "algorithms_guaranteed",
        "blake2s",
        "pbkdf2_hmac",
        "scrypt",
        "sha3_224",
        "sha3_256",
        "sha3_384",
        "sha3_512",
        "shake_128",
        "shake_256",
    ),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    # These modules need dataclasses, whose import takes longer than that of all the rest.
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("hashlane")
    elif name in _MODULE_OF:
        module = _MODULE_OF[name]
        found = getattr(__import__(module, fromlist=[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
