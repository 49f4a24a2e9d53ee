#!/usr/bin/env python3
"""Compare what programs find on one tree of renamed, split, swapped and damaged content.

    python3 bench/find_peers.py --hashlane PROGRAM --out FILE [--torrents 20] [--autotorrent at2]

Of each kind there are some torrents of version 1. Each program links the content that it finds
into a folder for each torrent, and offers this folder to a client. libtorrent reads the torrents,
and the pieces of each offered folder are hashed here. autotorrent2 adds torrents to a client that
answers like Transmission. Programs that are not installed are left out, and named.
"""

import argparse
import hashlib
import json
import random
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import libtorrent

from harness.tables import page, table

# Each kind, and whether all bytes of its torrents are there.
KINDS = {
    "other folder": True,
    "renamed": True,
    "two disks": True,
    "swapped names": True,
    "wrong bytes": False,
    "damaged": False,
    "truncated": False,
}
PIECE = 64 << 10
N_LARGE = 5
N_SMALL = 3

# Folders that a program offers, by the names of the torrents.
Offers = dict[str, Path]


class EmptyClient(BaseHTTPRequestHandler):
    """Transmission without torrents, which keeps the folders of those that are added."""

    folders: ClassVar[list[Path]] = []

    def do_POST(self) -> None:
        """Answer each request."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if request["method"] == "torrent-add":
            self.folders.append(Path(request["arguments"]["download-dir"]))
        arguments = {"torrents": [], "torrent-added": {"id": 1}}
        body = json.dumps({"result": "success", "arguments": arguments}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def damage(path: Path, rng: random.Random) -> None:
    """Change one byte that lies in the first half of a file."""
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content) // 2)] ^= 1
    path.write_bytes(content)


def swap(one: Path, other: Path) -> None:
    """Exchange the names of two files."""
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def other_folder(_: Path, __: Path, ___: random.Random) -> None:
    """Keep all names below another folder."""


def renamed(folder: Path, _: Path, rng: random.Random) -> None:
    """Give each file a name that nothing of the torrent is in."""
    for path in list(folder.iterdir()):
        path.rename(folder / f"{rng.randrange(1 << 40):010x}")


def two_disks(folder: Path, second: Path, _: random.Random) -> None:
    """Move every other file to the second disk."""
    second.mkdir()
    for path in sorted(folder.iterdir())[::2]:
        shutil.move(path, second)


def swapped_names(folder: Path, _: Path, __: random.Random) -> None:
    """Exchange the names of two files of equal length."""
    swap(folder / "large-0", folder / "large-1")


def wrong_bytes(folder: Path, _: Path, rng: random.Random) -> None:
    """Replace each file by others of its name and length, as another edition has them."""
    for path in folder.iterdir():
        path.write_bytes(rng.randbytes(path.stat().st_size))


def damaged(folder: Path, _: Path, rng: random.Random) -> None:
    """Change one byte of one file."""
    damage(folder / "large-2", rng)


def truncated(folder: Path, _: Path, __: random.Random) -> None:
    """Let zeros follow the first half of a file, as an unfinished download leaves it."""
    path = folder / "large-3"
    length = path.stat().st_size
    path.write_bytes(path.read_bytes()[: length // 2].ljust(length, b"\0"))


CHANGES: dict[str, Callable[[Path, Path, random.Random], None]] = {
    "other folder": other_folder,
    "renamed": renamed,
    "two disks": two_disks,
    "swapped names": swapped_names,
    "wrong bytes": wrong_bytes,
    "damaged": damaged,
    "truncated": truncated,
}


def make(root: Path, hashlane: str, n_torrents: int) -> None:
    """Make the torrents of each kind, and what is left of their content on two disks."""
    rng = random.Random(11)  # noqa: S311
    (root / "torrents").mkdir()
    for disk in ("disk1", "disk2"):
        (root / disk).mkdir()
    for kind, change in CHANGES.items():
        for number in range(n_torrents):
            name = f"{kind.replace(' ', '-')}-{number:02}"
            folder = root / "disk1" / name
            folder.mkdir()
            # Of two files with equal lengths, the names decide nothing.
            length = rng.randrange(4 * PIECE, 16 * PIECE)
            for i in range(N_LARGE):
                n = length if i < 2 else rng.randrange(4 * PIECE, 16 * PIECE)
                (folder / f"large-{i}").write_bytes(rng.randbytes(n))
            for i in range(N_SMALL):
                (folder / f"small-{i}").write_bytes(rng.randbytes(rng.randrange(100, PIECE // 2)))
            torrent = root / "torrents" / f"{name}.torrent"
            command = [hashlane, "create", "--format", "v1", "-l", str(PIECE), "-q"]
            subprocess.run([*command, "-o", torrent, folder], check=True)
            change(folder, root / "disk2" / name, rng)
            moved = root / "disk1" / f"{number % 5}" / f"{rng.randrange(1 << 40):010x}"
            moved.parent.mkdir(exist_ok=True)
            folder.rename(moved)


def of_hashlane(root: Path, links: Path, program: str, *options: str) -> Offers:
    """Return what `find` links of torrents that it calls complete, or identified."""
    where = ["--in", root / "disk1", "--in", root / "disk2", "--link", "symlink", "--to", links]
    command = [program, "find", root / "torrents", *where, "--json", *options]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    key = "complete" if "--full" in options else "identified"
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    names = [line["name"] for line in lines if line["type"] == "torrent" and line[key]]
    return {name: links / name for name in names}


def of_autotorrent(root: Path, links: Path, program: str, *options: str) -> Offers:
    """Return what autotorrent2 adds to a client."""
    links.mkdir()
    EmptyClient.folders.clear()
    server = HTTPServer(("127.0.0.1", 0), EmptyClient)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    disks = json.dumps([str(root / "disk1"), str(root / "disk2")])
    config = links / "config.toml"
    config.write_text(
        f'[autotorrent]\ndatabase_path = "{links}/files.db"\npaths = {disks}\n'
        f'store_path = "{links}/{{torrent_name}}"\n'
        '[clients.local]\ndisplay_name = "local"\nclient_type = "transmission"\n'
        f'url = "http://127.0.0.1:{server.server_port}/"\nsession_path = "{links}"\n'
    )
    torrents = sorted((root / "torrents").iterdir())
    for command in (["scan"], ["add", *options, "local", *torrents]):
        subprocess.run([program, "-c", config, *command], check=True, capture_output=True)
    server.shutdown()
    return {folder.parent.name: folder / folder.parent.name for folder in EmptyClient.folders}


def is_right(torrent: Path, folder: Path) -> bool:
    """Return whether all pieces of a folder are right."""
    info = libtorrent.torrent_info(str(torrent))
    files = info.files()
    paths = [folder.parent / files.file_path(i) for i in range(files.num_files())]
    if not all(path.exists() for path in paths):
        return False
    content = b"".join(path.read_bytes() for path in paths)
    step = info.piece_length()
    pieces = [hashlib.sha1(content[i : i + step]).digest() for i in range(0, len(content), step)]  # noqa: S324
    return pieces == [info.hash_for_piece(i) for i in range(info.num_pieces())]


def measure(root: Path, hashlane: str, autotorrent: str | None, n_torrents: int) -> list[list[str]]:
    """Return the rows of all programs."""
    runs: dict[str, Callable[[Path], Offers]] = {
        "`hashlane find --full`": lambda links: of_hashlane(root, links, hashlane, "--full"),
        "`hashlane find` (identified)": lambda links: of_hashlane(root, links, hashlane),
    }
    if autotorrent is None:
        print("NOT RUN: autotorrent2 is not installed")
    else:
        for options in ([], ["-s"], ["-a"], ["-s", "-a"]):
            name = " ".join(["`at2 add", *options]) + "`"
            runs[name] = lambda links, options=options: of_autotorrent(
                root, links, autotorrent, *options
            )
    rows = []
    for number, (name, run) in enumerate(runs.items()):
        began = time.monotonic()
        offers = run(root / f"links-{number}")
        seconds = time.monotonic() - began
        cells = []
        for kind in KINDS:
            names = [f"{kind.replace(' ', '-')}-{i:02}" for i in range(n_torrents)]
            offered = [name for name in names if name in offers]
            right = sum(is_right(root / "torrents" / f"{x}.torrent", offers[x]) for x in offered)
            wrong = len(offered) - right
            cells.append(f"{wrong} incomplete" if wrong else str(right))
            if right and wrong:
                cells[-1] = f"{right}, {cells[-1]}"
        rows.append([name, *cells, f"{seconds:.2f}"])
    wanted = [str(n_torrents if is_there else 0) for is_there in KINDS.values()]
    return [["to be offered", *wanted, ""], *rows]


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--torrents", type=int, default=20)
    parser.add_argument("--autotorrent", default=shutil.which("at2"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-find-peers-") as folder:
        root = Path(folder)
        hashlane = str(options.hashlane.resolve())
        make(root, hashlane, options.torrents)
        rows = measure(root, hashlane, options.autotorrent, options.torrents)
    title = "Renamed content: results of other programs"
    text = (
        f"Of each kind there are {options.torrents} torrents with 5 large and 3 small files. All "
        "bytes of the first four kinds are there. In the other three kinds all lengths are right, "
        "but the files have other bytes, a file has one wrong byte, or half of a file is zeros. A "
        "cell has the number of torrents that a program links and offers to a client with all "
        "pieces right. A torrent is incomplete if the program links wrong files or leaves files "
        "out: the client must notice this and download them. By default, autotorrent2 accepts 5 % "
        "of missing bytes. The time includes its scan. NOT RUN: BiglyBT, whose search is a part of "
        "its window, and cross-seed, which needs an indexer."
    )
    report = page(title, "bench-find-peers", text, table(["program", *KINDS, "time, s"], rows))
    options.out.write_text(report)


if __name__ == "__main__":
    main()
