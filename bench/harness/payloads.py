"""Test data: generated once in the work folder, and again if its size is wrong."""

import hashlib
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.torrents import (
    Maker,
    Version,
    bencode,
    piece_hashes,
    read_torrent,
    zero_piece_hashes,
)

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
# The size of the writes decides the size of the folios in the page cache until the file is read
# again. The difference is 20 %: see `warm`.
WRITE_BYTES = 4 * MIB
READ_BYTES = 1 * MIB
SEED = 20_240_229


@dataclass(frozen=True)
class Scale:
    """Size of the test data."""

    classic_bytes: int
    many_files: int
    many_folders: int
    sparse_bytes: int
    large_piece_length: int


FULL = Scale(
    classic_bytes=508_559_360,
    many_files=10_000,
    many_folders=100,
    sparse_bytes=100 * GIB,
    large_piece_length=256 * MIB,
)
QUICK = Scale(
    classic_bytes=18 * MIB,
    many_files=100,
    many_folders=10,
    sparse_bytes=1 * GIB,
    large_piece_length=4 * MIB,
)
MANY_FILE_BYTES = 50 * KIB
# As many as the widest kernel has lanes, so that each lane has a piece.
LARGE_PIECES = 16


@dataclass(frozen=True)
class Payload:
    """Content of a torrent: `name` in `folder`, a file or a folder of `parts`."""

    folder: Path
    name: str
    total_bytes: int
    parts: tuple[tuple[str, ...], ...] = ()
    all_zero: bool = False

    @property
    def path(self) -> Path:
        """The path of the content."""
        return self.folder / self.name

    @property
    def files(self) -> list[Path]:
        """Its files, in the order of the torrent."""
        return [self.path.joinpath(*part) for part in self.parts] or [self.path]

    def torrent(self, piece_length: int, version: Version = Version.V1) -> str:
        """Return the name, in `folder`, of a .torrent of this content.

        A missing .torrent of version 1 is written here; `with_torrents` writes the other versions.
        """
        path = self.torrent_path(piece_length, version)
        if version is Version.V1 and not path.exists():
            info = self._info(piece_length)
            _replace(path, lambda new: new.write_bytes(bencode({"info": info})))
        return path.name

    def torrent_path(self, piece_length: int, version: Version) -> Path:
        """The path of such a .torrent."""
        suffix = "" if version is Version.V1 else f"-{version}"
        return self.folder / f"{size_text(piece_length).replace(' ', '')}{suffix}.torrent"

    def torrent_with_length(self, piece_length: int) -> str:
        """Return the name of a .torrent of version 2 with the key that torrentfile adds.

        For a single file, torrentfile adds the version 1 key `length` to the info dictionary, and
        without this key it accepts no single file.
        """
        original = self.torrent_path(piece_length, Version.V2)
        path = original.with_stem(f"{original.stem}-length")
        content = read_torrent(original)
        content[b"info"][b"length"] = self.total_bytes
        _replace(path, lambda new: new.write_bytes(bencode(content)))
        return path.name

    def _info(self, piece_length: int) -> dict:
        hashes = (
            zero_piece_hashes(self.total_bytes, piece_length)
            if self.all_zero
            else piece_hashes(self.files, piece_length)
        )
        info = {"name": self.name, "piece length": piece_length, "pieces": hashes}
        if self.parts:
            info["files"] = [{"length": MANY_FILE_BYTES, "path": list(part)} for part in self.parts]
        else:
            info["length"] = self.total_bytes
        return info


def size_text(count: int) -> str:
    """Format a size as `256 KiB`, in the largest unit that divides it."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} bytes"


def classic(work: Path, scale: Scale) -> Payload:
    """Return one file of random bytes."""
    size = scale.classic_bytes
    payload = Payload(work / f"classic-{size}", "data.bin", size)
    return _made(payload, lambda path: _write_random(path, size))


def many_files(work: Path, scale: Scale) -> Payload:
    """Return small files in folders, whose boundaries are not piece boundaries."""
    per_folder = scale.many_files // scale.many_folders
    parts = tuple(
        (f"{folder:03}", f"{file:03}.bin")
        for folder in range(scale.many_folders)
        for file in range(per_folder)
    )
    total = len(parts) * MANY_FILE_BYTES
    payload = Payload(work / f"many-{len(parts)}x{MANY_FILE_BYTES}", "many", total, parts)
    return _made(payload, lambda path: _write_many(path, parts))


def sparse(work: Path, scale: Scale) -> Payload:
    """Return one file that is a hole."""
    size = scale.sparse_bytes
    payload = Payload(work / f"sparse-{size}", "hole.bin", size, all_zero=True)
    return _made(payload, lambda path: _write_sparse(path, size, every=size, data=0))


def large_pieces(work: Path, scale: Scale) -> Payload:
    """Return one sparse file with some data in each of few, very large pieces."""
    length = scale.large_piece_length
    size = LARGE_PIECES * length
    payload = Payload(work / f"large-{size}", "large.bin", size)
    return _made(payload, lambda path: _write_sparse(path, size, every=length, data=MIB))


def with_torrents(payload: Payload, piece_length: int, maker: Maker) -> Payload:
    """Write the missing .torrents of each version, and return the payload."""
    payload.torrent(piece_length)
    for version in (Version.V2, Version.HYBRID):
        path = payload.torrent_path(piece_length, version)
        if not path.exists():
            _write_torrent(payload, piece_length, version, maker)
    return payload


def flipped(work: Path, piece_length: int, maker: Maker) -> Payload:
    """Return one small file with one byte that differs from its .torrents; always rewritten."""
    size = 16 * piece_length
    folder = work / "flipped"
    shutil.rmtree(folder, ignore_errors=True)
    payload = _made(Payload(folder, "data.bin", size), lambda path: _write_random(path, size))
    with_torrents(payload, piece_length, maker)
    with payload.path.open("r+b") as file:
        file.seek(size // 2)
        byte = file.read(1)[0]
        file.seek(size // 2)
        file.write(bytes([byte ^ 1]))
    return payload


def half_right(payload: Payload, piece_length: int, maker: Maker, right: Version) -> None:
    """Replace the hybrid .torrent of a flipped file by one with contradictory versions.

    One version describes the original content, and the other the file as it is.
    """
    path = payload.torrent_path(piece_length, Version.HYBRID)
    before = read_torrent(payload.torrent_path(piece_length, Version.V1))[b"info"][b"pieces"]
    path.unlink()
    _write_torrent(payload, piece_length, Version.HYBRID, maker)
    now = read_torrent(path)
    if right is Version.V2:
        now[b"info"][b"pieces"] = before
    else:
        old = read_torrent(payload.torrent_path(piece_length, Version.V2))
        now[b"info"][b"file tree"] = old[b"info"][b"file tree"]
        now[b"piece layers"] = old[b"piece layers"]
    path.write_bytes(bencode(now))


def digest_of(path: Path, algorithm: str) -> str:
    """Return the digest of a file, computed by Python."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: _new_hash(algorithm)).hexdigest()


def warm(payload: Payload) -> None:
    """Bring the files into the page cache as a plain read does."""
    cool(payload)
    read_through(payload)


def cool(payload: Payload) -> None:
    """Drop the files from the page cache."""
    for path in payload.files:
        with path.open("rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_through(payload: Payload) -> None:
    """Read the files from start to end, except for a hole, which has nothing to read."""
    if payload.all_zero:
        return
    buffer = bytearray(READ_BYTES)
    for path in payload.files:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def _new_hash(algorithm: str):
    return hashlib.new(algorithm, usedforsecurity=False)


def _write_torrent(payload: Payload, piece_length: int, version: Version, maker: Maker) -> None:
    path = payload.torrent_path(piece_length, version)
    _replace(path, lambda new: maker.write(payload.path, version, piece_length, new))


def _made(payload: Payload, write: Callable[[Path], None]) -> Payload:
    if not _has_right_size(payload):
        shutil.rmtree(payload.folder, ignore_errors=True)
        payload.folder.mkdir(parents=True)
        _replace(payload.path, write)
    return payload


def _has_right_size(payload: Payload) -> bool:
    try:
        found = sum(path.stat().st_size for path in payload.files)
    except OSError:
        return False
    return found == payload.total_bytes


def _replace(path: Path, write: Callable[[Path], None]) -> None:
    """Write under another name first, so that a file with the final name is complete."""
    new = path.with_name(f"{path.name}.new")
    write(new)
    new.rename(path)


def _random() -> random.Random:
    return random.Random(SEED)  # noqa: S311 (must be the same on every machine)


def _write_random(path: Path, size: int) -> None:
    generator = _random()
    with path.open("wb", buffering=0) as file:
        for start in range(0, size, WRITE_BYTES):
            file.write(generator.randbytes(min(WRITE_BYTES, size - start)))
        os.fsync(file.fileno())


def _write_many(root: Path, parts: tuple[tuple[str, ...], ...]) -> None:
    shutil.rmtree(root, ignore_errors=True)
    generator = _random()
    for part in parts:
        path = root.joinpath(*part)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(generator.randbytes(MANY_FILE_BYTES))
    os.sync()


def _write_sparse(path: Path, size: int, every: int, data: int) -> None:
    generator = _random()
    with path.open("wb", buffering=0) as file:
        file.truncate(size)
        for start in range(0, size, every) if data else ():
            file.seek(start)
            file.write(generator.randbytes(data))
        os.fsync(file.fileno())
