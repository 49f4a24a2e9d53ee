"""Reads and writes .torrent files: bencode, and enough of version 1 for test data.

Other programs write the .torrents of version 2 and hybrids, see `Maker`.
"""

import enum
import hashlib
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

READ_BYTES = 4 << 20
LIBTORRENT_CREATE = Path(__file__).parent.with_name("libtorrent_create.py")


class Version(enum.StrEnum):
    """The versions of a .torrent; the values are those of `hashlane create --format`."""

    V1 = "v1"
    V2 = "v2"
    HYBRID = "hybrid"


@dataclass(frozen=True)
class Maker:
    """Writes .torrent files of version 2 and hybrids for the test data.

    If libtorrent is installed, it writes them, so that hashlane is compared with an independent
    implementation. Otherwise hashlane writes them. Each writes its name into the file (see
    `creator_of`).
    """

    hashlane: Path
    libtorrent: bool

    def write(self, content: Path, version: Version, piece_length: int, torrent: Path) -> None:
        """Write one .torrent; raise `CalledProcessError` if that fails."""
        argv = self._libtorrent_argv if self.libtorrent else self._hashlane_argv
        arguments = argv(content, version, piece_length, torrent)
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)

    def _libtorrent_argv(
        self, content: Path, version: Version, piece_length: int, torrent: Path
    ) -> Sequence[str]:
        arguments = (version, content, piece_length, torrent)
        return [sys.executable, str(LIBTORRENT_CREATE), *map(str, arguments)]

    def _hashlane_argv(
        self, content: Path, version: Version, piece_length: int, torrent: Path
    ) -> Sequence[str]:
        options = ("--format", version, "-l", piece_length, "-o", torrent, "--force", "-q")
        return [str(self.hashlane), "create", str(content), *map(str, options)]


def bencode(value: int | bytes | str | list | dict) -> bytes:
    """Encode a value as BEP 3 specifies."""
    match value:
        case int():
            return b"i%de" % value
        case str():
            return bencode(value.encode())
        case bytes():
            return b"%d:%b" % (len(value), value)
        case list():
            return b"l%be" % b"".join(bencode(item) for item in value)
        case dict():
            pairs = sorted((_key(key), item) for key, item in value.items())
            return b"d%be" % b"".join(bencode(key) + bencode(item) for key, item in pairs)
    raise TypeError(f"bencode has no {type(value).__name__}")


def read_torrent(path: Path) -> dict:
    """Decode a .torrent, with strings and keys as bytes.

    Raises `ValueError` if the encoding is not canonical. Info-hashes are computed over the bytes of
    the file, and only the canonical encoding equals the result of `bencode`.
    """
    data = path.read_bytes()
    value, end = _decode(data, 0)
    if end != len(data) or not isinstance(value, dict) or bencode(value) != data:
        raise ValueError(f"{path.name}: no .torrent, or not in the canonical encoding")
    return value


def info_hashes(torrent: dict) -> tuple[str, str]:
    """Return the info-hashes of a decoded .torrent, of version 1 and of version 2."""
    info = bencode(torrent[b"info"])
    return hashlib.sha1(info, usedforsecurity=False).hexdigest(), hashlib.sha256(info).hexdigest()


def creator_of(path: Path) -> str:
    """Return the name of the program that wrote a .torrent."""
    return read_torrent(path).get(b"created by", b"unknown").decode()


def piece_hashes(files: Iterable[Path], piece_length: int) -> bytes:
    """Return the SHA-1 digests of the pieces of these files, concatenated."""
    digests = bytearray()
    piece, room = hashlib.sha1(usedforsecurity=False), piece_length
    for chunk in _chunks(files, min(piece_length, READ_BYTES)):
        rest = memoryview(chunk)
        while rest:
            taken, rest = rest[:room], rest[room:]
            piece.update(taken)
            room -= len(taken)
            if room == 0:
                digests += piece.digest()
                piece, room = hashlib.sha1(usedforsecurity=False), piece_length
    if room < piece_length:
        digests += piece.digest()
    return bytes(digests)


def zero_piece_hashes(total_bytes: int, piece_length: int) -> bytes:
    """Return the result of `piece_hashes` for that many zero bytes."""
    whole, rest = divmod(total_bytes, piece_length)
    hashes = _sha1_of_zeros(piece_length) * whole
    return hashes + _sha1_of_zeros(rest) if rest else hashes


def _sha1_of_zeros(count: int) -> bytes:
    return hashlib.sha1(bytes(count), usedforsecurity=False).digest()


def _chunks(files: Iterable[Path], size: int) -> Iterator[bytes]:
    for path in files:
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(size):
                yield chunk


def _key(key: str | bytes) -> bytes:
    return key.encode() if isinstance(key, str) else key


def _decode(data: bytes, start: int) -> tuple[int | bytes | list | dict, int]:
    """Return the value that starts at this position, and its end."""
    kind = data[start : start + 1]
    if kind == b"i":
        end = data.index(b"e", start)
        return int(data[start + 1 : end]), end + 1
    if kind in (b"l", b"d"):
        items, end = _decode_items(data, start + 1)
        return items if kind == b"l" else dict(zip(*[iter(items)] * 2, strict=True)), end
    colon = data.index(b":", start)
    end = colon + 1 + int(data[start:colon])
    return data[colon + 1 : end], end


def _decode_items(data: bytes, start: int) -> tuple[list, int]:
    items = []
    while data[start : start + 1] != b"e":
        item, start = _decode(data, start)
        items.append(item)
    return items, start + 1
