"""Writes .torrent files: enough of bencode and of version 1 for test data."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

READ_BYTES = 4 << 20


def bencode(value: int | bytes | str | list | dict) -> bytes:
    """Encode a value as BEP 3 says."""
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
            pairs = sorted((key.encode(), item) for key, item in value.items())
            return b"d%be" % b"".join(bencode(key) + bencode(item) for key, item in pairs)
    raise TypeError(f"bencode has no {type(value).__name__}")


def piece_hashes(files: Iterable[Path], piece_length: int) -> bytes:
    """Return the SHA-1 digests of the pieces of these files, one after the other."""
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
    """Return what `piece_hashes` would return for that many zero bytes."""
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
