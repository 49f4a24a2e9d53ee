#!/usr/bin/env python3
"""Measure `hashlane import` with a session of qBittorrent that has many torrents.

    python3 bench/import.py --hashlane PROGRAM [--torrents 10000] [--rounds 3]

The session is made up: each torrent of version 1 has 1,000 pieces and 20 files, of which one is
renamed. The program lists the session, adds all torrents to a new state folder, and then finds all
of them present. Prints a table with the best times; the goal is 10,000 torrents in 10 s.
"""

import argparse
import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from harness import machine
from harness.process import Command, run
from harness.tables import table

PIECES, PIECE_LENGTH, FILES = 1000, 1 << 20, 20

Bencoded = int | str | bytes | list["Bencoded"] | dict[str, "Bencoded"]


def encode(value: Bencoded) -> bytes:
    """Return the value in bencode."""
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    if isinstance(value, list):
        return b"l" + b"".join(map(encode, value)) + b"e"
    return b"d" + b"".join(encode(key) + encode(value[key]) for key in sorted(value)) + b"e"


def torrent(number: int, hashes: bytes) -> tuple[str, bytes, bytes]:
    """Return the info-hash, the .torrent file and the resume data of a torrent."""
    name = f"torrent {number}"
    length = PIECE_LENGTH * PIECES // FILES
    files = [{"length": length, "path": ["folder", f"file {file}"]} for file in range(FILES)]
    info = {"files": files, "name": name, "piece length": PIECE_LENGTH, "pieces": hashes}
    digest = hashlib.sha1(encode(info), usedforsecurity=False)
    resume = {
        "added_time": 1_700_000_000 + number,
        "auto_managed": 1,
        "completed_time": 1_700_000_100 + number,
        "file_priority": [1] * (FILES - 1) + [7],
        "info-hash": digest.digest(),
        "mapped_files": [""] * (FILES - 1) + [f"{name}/folder/renamed"],
        "paused": 0,
        "pieces": b"\1" * PIECES,
        "qBt-category": f"category {number % 10}",
        "qBt-ratioLimit": 2000,
        "qBt-savePath": "/srv/torrents",
        "qBt-tags": ["a", "b"],
        "save_path": "/srv/torrents",
        "seeding_time": number,
        "total_downloaded": PIECE_LENGTH * PIECES,
        "total_uploaded": number,
        "trackers": [["http://tracker.example:6969/announce"]],
    }
    return digest.hexdigest(), encode({"info": info}), encode(resume)


def make_session(folder: Path, torrents: int) -> None:
    """Write the session."""
    backup = folder / "BT_backup"
    backup.mkdir(parents=True)
    hashes = hashlib.shake_128(b"pieces").digest(20 * PIECES)
    for number in range(torrents):
        name, metainfo, resume = torrent(number, hashes)
        (backup / f"{name}.torrent").write_bytes(metainfo)
        (backup / f"{name}.fastresume").write_bytes(resume)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--torrents", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    best: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        session, state = Path(scratch, "session"), Path(scratch, "state")
        make_session(session, options.torrents)
        command = [str(options.hashlane.resolve()), "import", "qbittorrent", str(session), "--json"]
        for _ in range(options.rounds):
            shutil.rmtree(state, ignore_errors=True)
            for name, arguments, counted in (
                ("--dry-run", ["--dry-run"], "new"),
                ("--state-dir, new folder", ["--state-dir", str(state)], "new"),
                ("--state-dir, all present", ["--state-dir", str(state)], "present"),
            ):
                argv = [*command, *arguments]
                ended = run(Command(argv, Path(scratch), lambda _: None, {}, name))
                summary = json.loads(ended.stdout.splitlines()[-1])
                if summary[counted] != options.torrents or summary["failed"]:
                    message = f"{name}: {summary}"
                    raise SystemExit(message)
                found = (ended.sample.wall, ended.sample.user + ended.sample.system)
                best[name] = min(best.get(name, found), found)
    print(f"{machine.summary()}; {options.rounds} rounds; {machine.load()}\n")
    rows = [(name, f"{wall:.2f} s", f"{cpu:.2f} s") for name, (wall, cpu) in best.items()]
    print("\n".join(table((f"{options.torrents:,} torrents", "time", "processor time"), rows)))


if __name__ == "__main__":
    main()
