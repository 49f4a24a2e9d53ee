"""Hashes many messages at once, and verifies files and torrents.

>>> import hashlane
>>> hashlane.sha256(b"abc").hexdigest()[:16]
'ba7816bf8f01cfea'
>>> [digest.hex()[:8] for digest in hashlane.digest_many([b"one", b"two"], "sha1")]
['fe05bcdc', 'ad782ecd']

Objects of :func:`sha256` and the other constructors are used like those of :mod:`hashlib`. :func:`digest_many` hashes up to 16
messages side by side on each core.
"""

from __future__ import annotations

from hashlane._errors import Cancelled, TorrentError
from hashlane._files import digest_files
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
    from typing import Any

    from hashlane._recover import CustomKind, Damage, Estimate, Hit, Recovery, estimate, recover
    from hashlane._torrents import File, FileReport, Magnet, OtherKey, PieceState, Report, Torrent, create
    from hashlane._verity import VerityReport, idsig_check, verity_check

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
    "FileReport",
    "Hit",
    "Magnet",
    "OtherKey",
    "PieceState",
    "Queue",
    "Recovery",
    "Report",
    "Torrent",
    "TorrentError",
    "VerityReport",
    "algorithms_available",
    "blake2b",
    "blake3",
    "create",
    "digest_chunks",
    "digest_files",
    "digest_many",
    "estimate",
    "hmac_digest",
    "hmac_new",
    "idsig_check",
    "md5",
    "merkle_root",
    "new",
    "recover",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "tree_check",
    "tree_digest",
    "tree_digests_available",
    "verity_check",
]


def __getattr__(name: str) -> Any:
    # These modules need dataclasses, whose import takes longer than that of all the rest.
    if name in ("CustomKind", "Damage", "Estimate", "Hit", "Recovery", "estimate", "recover"):
        module = "hashlane._recover"
    elif name in ("File", "FileReport", "Magnet", "OtherKey", "PieceState", "Report", "Torrent", "create"):
        module = "hashlane._torrents"
    elif name in ("VerityReport", "idsig_check", "verity_check"):
        module = "hashlane._verity"
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(__import__(module, fromlist=[name]), name)
    return found
