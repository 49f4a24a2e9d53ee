"""Create a .torrent with libtorrent; print the seconds as JSON.

Usage: libtorrent_create.py v1|v2|hybrid CONTENT PIECE_LENGTH TORRENT

The exit status is 0 if the .torrent was written, 2 if not. The seconds run from listing the content
to writing the .torrent, without the start of Python. libtorrent chooses the number of hashing
threads; its Python module has no setting for it.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import libtorrent

FLAGS = {
    "v1": libtorrent.create_torrent.v1_only,
    "v2": libtorrent.create_torrent.v2_only,
    "hybrid": 0,
}


def files_of(content: Path) -> list[libtorrent.create_file_entry]:
    """List the files of the content, ordered by the bytes of their path components."""
    found = _walk(content) if content.is_dir() else [content]
    ordered = sorted(found, key=lambda path: [os.fsencode(part) for part in path.parts])
    return [
        libtorrent.create_file_entry(str(path.relative_to(content.parent)), path.stat().st_size)
        for path in ordered
    ]


def create(version: str, content: Path, piece_length: int, torrent: Path) -> dict:
    """Write the .torrent, and return what `main` prints."""
    used_before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    maker = libtorrent.create_torrent(files_of(content), piece_length, FLAGS[version])
    maker.set_creator(f"libtorrent {libtorrent.__version__}")
    libtorrent.set_piece_hashes(maker, str(content.parent))
    torrent.write_bytes(libtorrent.bencode(maker.generate()))
    wall, used = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall": wall,
        "user": used.ru_utime - used_before.ru_utime,
        "system": used.ru_stime - used_before.ru_stime,
    }


def main(arguments: list[str]) -> int:
    """Run the command line, and return the exit status."""
    try:
        version, content, piece_length, torrent = arguments
        result = create(version, Path(content), int(piece_length), Path(torrent))
    except (KeyError, OSError, RuntimeError, ValueError) as error:
        print(f"libtorrent_create: {error!r}", file=sys.stderr)
        return 2
    print(json.dumps(result))
    return 0


def _walk(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
