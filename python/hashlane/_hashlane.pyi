"""The native half of the package."""

import os
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any, Protocol, TypedDict, TypeVar, final, overload

from typing_extensions import Buffer

__all__ = [
    "algorithms",
    "create",
    "edit",
    "digest_files",
    "HASH",
    "HMAC",
    "blake2b",
    "blake3",
    "hmac_digest",
    "hmac_new",
    "idsig_check",
    "md5",
    "new",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "read_sums",
    "sum_line",
    "digest_chunks",
    "digest_many",
    "merkle_root",
    "Search",
    "estimate",
    "recover",
    "Magnet",
    "Torrent",
    "tree_check",
    "tree_digest",
    "tree_names",
    "verity_check",
    "verify",
    "verify_readers",
]

class _Array(Protocol):
    """An array of NumPy, which has no type of a buffer before Python 3.12."""

    @property
    def __array_interface__(self) -> Any: ...

_Bytes = Buffer | _Array
_Out = TypeVar("_Out", bound=_Bytes)

class _Named(Protocol):
    @property
    def name(self) -> str: ...

# A name, a constructor such as hashlib.sha256, or a module with a constructor `new`.
_Algorithm = str | Callable[..., _Named] | ModuleType

class _Cancel(Protocol):
    def is_set(self) -> bool: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

@final
class HASH:
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    def update(self, data: _Bytes, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def copy(self) -> HASH: ...

@final
class HMAC:
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    def update(self, msg: _Bytes) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def verify(self, tag: _Bytes) -> bool: ...
    def copy(self) -> HMAC: ...

def algorithms() -> list[str]: ...
def new(
    name: str,
    data: _Bytes | None = None,
    *,
    usedforsecurity: bool = True,
    string: _Bytes | None = None,
    **parameters: Any,
) -> HASH: ...
def md5(data: _Bytes | None = None, *, usedforsecurity: bool = True, string: _Bytes | None = None) -> HASH: ...
def sha1(data: _Bytes | None = None, *, usedforsecurity: bool = True, string: _Bytes | None = None) -> HASH: ...
def sha224(data: _Bytes | None = None, *, usedforsecurity: bool = True, string: _Bytes | None = None) -> HASH: ...
def sha256(data: _Bytes | None = None, *, usedforsecurity: bool = True, string: _Bytes | None = None) -> HASH: ...
def sha384(data: _Bytes | None = None, *, usedforsecurity: bool = True, string: _Bytes | None = None) -> HASH: ...
def sha512(data: _Bytes | None = None, *, usedforsecurity: bool = True, string: _Bytes | None = None) -> HASH: ...
def blake3(
    data: _Bytes | None = None,
    *,
    key: _Bytes | None = None,
    derive_key_context: str | None = None,
    usedforsecurity: bool = True,
    string: _Bytes | None = None,
) -> HASH: ...
def blake2b(
    data: _Bytes | None = None,
    /,
    *,
    digest_size: int = 64,
    key: _Bytes | None = None,
    salt: _Bytes | None = None,
    person: _Bytes | None = None,
    fanout: int = 1,
    depth: int = 1,
    leaf_size: int = 0,
    node_offset: int = 0,
    node_depth: int = 0,
    inner_size: int = 0,
    last_node: bool = False,
    usedforsecurity: bool = True,
    string: _Bytes | None = None,
) -> HASH: ...
def hmac_new(key: _Bytes, msg: _Bytes | None = None, digestmod: _Algorithm = ...) -> HMAC: ...
def hmac_digest(key: _Bytes, msg: _Bytes, digest: _Algorithm) -> bytes: ...
@overload
def digest_many(
    messages: Iterable[_Bytes] | _Bytes | _ArrowArray | _ArrowStream,
    algorithm: _Algorithm = "sha256",
    *,
    key: _Bytes | None = None,
    prefix: _Bytes | None = None,
    threads: int | None = None,
    out: None = None,
    cancel: _Cancel | None = None,
) -> list[bytes]: ...
@overload
def digest_many(
    messages: Iterable[_Bytes] | _Bytes | _ArrowArray | _ArrowStream,
    algorithm: _Algorithm = "sha256",
    *,
    key: _Bytes | None = None,
    prefix: _Bytes | None = None,
    threads: int | None = None,
    out: _Out,
    cancel: _Cancel | None = None,
) -> _Out: ...
@overload
def digest_chunks(
    buffer: _Bytes,
    size: int,
    algorithm: _Algorithm = "sha256",
    *,
    threads: int | None = None,
    out: None = None,
    cancel: _Cancel | None = None,
) -> list[bytes]: ...
@overload
def digest_chunks(
    buffer: _Bytes,
    size: int,
    algorithm: _Algorithm = "sha256",
    *,
    threads: int | None = None,
    out: _Out,
    cancel: _Cancel | None = None,
) -> _Out: ...
def merkle_root(data: _Bytes, *, cancel: _Cancel | None = None) -> bytes: ...
def digest_files(
    paths: Sequence[str | os.PathLike[str]],
    algorithm: _Algorithm,
    threads: int | None,
    progress: Any,
    cancel: Any,
) -> list[bytes | OSError]: ...
def read_sums(text: bytes, algorithm: str | None) -> list[tuple[int, bytes, str, str]]: ...
def sum_line(algorithm: str, digest: str, name: bytes, is_tagged: bool) -> bytes: ...

_Tree = tuple[str, int | None, bytes | None, int | None, str | None, int | None, Sequence[str], int | None, int | None]
_Path = str | os.PathLike[str]
_Outputs = tuple[_Path | None, _Path | None, _Path | None, bytes | None, bool, int | None]

def tree_digest(
    path: str | os.PathLike[str],
    tree: _Tree,
    outputs: _Outputs,
    threads: int | None,
    progress: Any,
    cancel: Any,
) -> str: ...
def tree_check(
    path: str | os.PathLike[str],
    digest: str,
    tree: _Tree,
    threads: int | None,
    progress: Any,
    cancel: Any,
) -> bool: ...
def verity_check(
    path: str | os.PathLike[str],
    hash_device: tuple[_Path, int],
    root_hash: bytes | None,
    threads: int | None,
    progress: Any,
    cancel: Any,
) -> dict[str, Any]: ...
def idsig_check(
    path: str | os.PathLike[str],
    idsig: str | os.PathLike[str],
    threads: int | None,
    progress: Any,
    cancel: Any,
) -> dict[str, Any]: ...
def tree_names() -> list[str]: ...

class _CustomKind(Protocol):
    @property
    def payload_len(self) -> int: ...
    @property
    def version(self) -> bytes: ...
    @property
    def alphabet(self) -> str: ...

class _Request(TypedDict):
    kinds: Sequence[str | _CustomKind] | None
    case_lost: bool | None
    glyphs: bool
    errors: int

class _Facts(TypedDict):
    known: list[str] | None
    pubkey_hash: bytes | None
    prefix: str
    shard: tuple[int, int] | None
    max_time: float | None
    widens: bool

@final
class Search:
    @property
    def is_complete(self) -> bool: ...
    @property
    def tried(self) -> list[tuple[bool, bool, int, str | None]]: ...
    def next_hit(self) -> dict[str, Any] | None: ...
    def cancel(self) -> None: ...

def recover(text: str, request: _Request, facts: _Facts, threads: int | None, progress: Any, cancel: Any) -> Search: ...
def estimate(text: str, request: _Request, threads: int | None) -> dict[str, Any]: ...

class _Metadata(TypedDict):
    trackers: list[list[str]]
    announce: str | None
    web_seeds: list[str]
    http_seeds: list[str]
    nodes: list[tuple[str, int]]
    comment: str | None
    created_by: str | None
    encoding: str | None
    creation_date: int | None
    private: bool
    source: str | None
    collections: list[str]
    similar: list[str]

@final
class Torrent:
    @staticmethod
    def open(path: str | os.PathLike[str]) -> Torrent: ...
    @staticmethod
    def parse(data: Buffer) -> Torrent: ...
    @property
    def version(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def info_hash(self) -> str: ...
    @property
    def info_hash_v1(self) -> str | None: ...
    @property
    def info_hash_v2(self) -> str | None: ...
    @property
    def length(self) -> int: ...
    @property
    def piece_length(self) -> int: ...
    @property
    def piece_count(self) -> int: ...
    @property
    def piece_hashes(self) -> list[bytes] | None: ...
    @property
    def is_single_file(self) -> bool: ...
    @property
    def total_length(self) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def _other_keys(self) -> list[tuple[str, bool, str, int | bytes]]: ...
    @property
    def _files(self) -> list[tuple[str, int, str, str | None, bytes | None, bool, bool, int, bool, bool]]: ...
    @property
    def _metadata(self) -> _Metadata: ...
    def magnet(self) -> str: ...
    def __bytes__(self) -> bytes: ...

@final
class Magnet:
    def __new__(cls, link: str) -> Magnet: ...
    @property
    def info_hash_v1(self) -> str | None: ...
    @property
    def info_hash_v2(self) -> str | None: ...
    @property
    def name(self) -> str | None: ...
    @property
    def length(self) -> int | None: ...
    @property
    def trackers(self) -> list[str]: ...
    @property
    def web_seeds(self) -> list[str]: ...

def verify(
    torrent: Torrent,
    path: str | os.PathLike[str],
    pieces: tuple[int, int] | None,
    threads: int | None,
    progress: Any,
    cancel: Any,
) -> dict[str, Any]: ...
def verify_readers(
    torrent: Torrent,
    open: Callable[[int], tuple[int, Callable[[int, int], bytes]]],
    pieces: tuple[int, int] | None,
    threads: int,
    progress: Any,
    cancel: Any,
) -> dict[str, Any]: ...
def edit(torrent: Torrent, changes: dict[str, Any]) -> Torrent: ...
def create(
    path: str | os.PathLike[str], options: dict[str, Any], threads: int | None, progress: Any, cancel: Any
) -> Torrent: ...
