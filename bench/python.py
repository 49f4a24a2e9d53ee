"""Compare the Python package with the Rust engine, hashlib, torf, fsspec and the program.

    python3 bench/python.py --hashlane PROGRAM --library libhashlane.so [--rounds 21]

Runs in an environment with the package and with its peers. Both sides of a row take turns, in one
run. The Rust call is that of the C library, in the same process: for a set of messages, its border
costs nothing. Writes bench/python.md.
"""

import argparse
import asyncio
import ctypes
import functools
import hashlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import fsspec
import hashlane
import numpy
import torf
from fsspec.implementations.memory import MemoryFileSystem

from harness import rounds
from harness.goal import Goal, at_least, at_most, goal_section
from harness.process import BenchmarkError
from harness.samples import Quartiles, quartiles
from harness.tables import page, table

HERE = Path(__file__).parent
SHA1, SHA256 = 1, 2
CONTENT_MIB = 485
CHUNK_BYTES, N_CHUNKS = 4 << 20, 64
# The reads of a URL that wait at the same time, as in hashlane._remote.
READERS = 8
WARM_UP = 1

Call = Callable[[], object]
Clock = Callable[[], float]
Constructor = Callable[[bytes], "hashlib._Hash"]


def process_time() -> float:
    """Return the CPU time of this process and of the processes that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@dataclass
class Row:
    """Two calls, and the limit of the ratio of their times.

    `faster` is a goal for the time of the peer in units of ours; otherwise the limit is for our
    time in units of the peer's.
    """

    what: str
    peer: str
    ours: Call
    theirs: Call
    limit: float
    faster: bool = False
    clock: Clock = time.thread_time
    rounds: int | None = None
    times: list[tuple[float, float]] = field(default_factory=list)

    def turn(self) -> tuple[float, float]:
        """Run both calls."""
        seconds = []
        for call in (self.ours, self.theirs):
            started = self.clock()
            call()
            seconds.append(self.clock() - started)
        return seconds[0], seconds[1]

    @property
    def ratio(self) -> Quartiles:
        """Return the ratio that the goal limits."""
        return quartiles([b / a if self.faster else a / b for a, b in self.times])

    def cells(self) -> list[str]:
        """Return the figures."""
        ours, theirs = (quartiles(one).median for one in zip(*self.times, strict=True))
        ratio = self.ratio
        shown = [f"{1e3 * seconds:.3f}" for seconds in (ours, theirs)]
        return [self.what, self.peer, *shown, f"{ratio.median:.2f}", ratio.spread]

    def goal(self) -> Goal:
        """Return the goal."""
        limit = at_least if self.faster else at_most
        over = f"{self.peer} / hashlane" if self.faster else f"hashlane / {self.peer}"
        ratio = self.ratio
        return limit(f"{self.what}, {over}", ratio.median, self.limit, detail=ratio.spread)


class Library:
    """The C library, whose calls are those of Rust."""

    def __init__(self, path: Path) -> None:
        """Open the library."""
        self.native = ctypes.CDLL(str(path))
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        many = self.native.hashlane_digest_many
        many.argtypes = [pointer, ctypes.c_int, pointer, pointer, size, pointer]
        chunks = self.native.hashlane_digest_chunks
        chunks.argtypes = [pointer, ctypes.c_int, pointer, size, size, pointer, size]

    def many(self, algorithm: int, messages: list[bytes]) -> tuple[Call, ctypes.Array]:
        """Return the call that hashes messages, and its digests."""
        n = len(messages)
        pointers = (ctypes.c_char_p * n)(*messages)
        lengths = (ctypes.c_size_t * n)(*map(len, messages))
        digests = ctypes.create_string_buffer(n * (20 if algorithm == SHA1 else 32))
        native = self.native.hashlane_digest_many
        call = functools.partial(native, None, algorithm, pointers, lengths, n, digests)
        return call, digests

    def rows(self, matrix: numpy.ndarray, algorithm: int = SHA256) -> tuple[Call, numpy.ndarray]:
        """Return the call that hashes the rows of a matrix, and its digests."""
        n, width = matrix.shape
        digests = numpy.zeros((n, 20 if algorithm == SHA1 else 32), numpy.uint8)
        native = self.native.hashlane_digest_chunks

        def call() -> int:
            # The arrays belong to this function: their addresses alone would not keep them.
            source, target = matrix.ctypes.data, digests.ctypes.data
            return native(None, algorithm, source, n * width, width, target, n)

        return call, digests


def expect(*, holds: bool, what: str) -> None:
    """Raise an error if a contestant did not do its work."""
    if not holds:
        raise BenchmarkError(what)


def hash_rows(library: Library) -> Iterator[Row]:
    """Return the rows of messages in memory."""
    generator = numpy.random.default_rng(1)
    messages = [generator.bytes(16 << 10) for _ in range(1000)]
    for name, number, factor in (("sha1", SHA1, 3.8), ("sha256", SHA256, 2.2)):
        ours = functools.partial(hashlane.digest_many, messages, name, threads=1)
        rust, digests = library.many(number, messages)
        expect(holds=rust() == 0 and b"".join(ours()) == digests.raw, what=name)
        what = f"`digest_many`, {name}, 1,000 x 16 KiB"
        yield Row(what, "Rust", ours, rust, 1.05)
        constructor = getattr(hashlib, name)
        loop = functools.partial(loop_over, constructor, messages)
        yield Row(what, "hashlib", ours, loop, factor, faster=True)
    small = [generator.bytes(64) for _ in range(100_000)]
    loop = functools.partial(loop_over, hashlib.sha256, small)
    ours = functools.partial(hashlane.digest_many, small, threads=1)
    expect(holds=ours() == loop(), what="100,000 messages")
    yield Row("100,000 x 64 B, a list", "hashlib", ours, loop, 4, faster=True)
    out = bytearray(32 * len(small))
    ours = functools.partial(hashlane.digest_many, small, threads=1, out=out)
    yield Row("100,000 x 64 B, `out`", "hashlib", ours, loop, 6, faster=True)
    matrix = generator.integers(0, 256, (1_000_000, 32), numpy.uint8)
    places = numpy.zeros((1_000_000, 32), numpy.uint8)
    rust, digests = library.rows(matrix)
    ours = functools.partial(hashlane.digest_many, matrix, threads=1, out=places)
    expect(holds=rust() == 0 and (ours() == digests).all(), what="1,000,000 rows")
    yield Row("1,000,000 x 32 B in a NumPy array, `out`", "Rust", ours, rust, 1.1)
    one = functools.partial(repeat, hashlane.sha256)
    other = functools.partial(repeat, hashlib.sha256)
    yield Row("`sha256` of 32 bytes, 10,000 times", "hashlib", one, other, 1)
    ours = functools.partial(hashlane.digest_many, messages, "md5", threads=1)
    loop = functools.partial(loop_over, hashlib.md5, messages)
    expect(holds=ours() == loop(), what="md5")
    yield Row("`digest_many`, md5, 1,000 x 16 KiB", "hashlib", ours, loop, 15, faster=True)
    yield from chunk_rows(library, generator)
    yield from short_rows(generator)
    large = [generator.bytes(1 << 20) for _ in range(16)]
    for name in ("sha1", "sha256", "sha512"):
        two = functools.partial(hashlane.digest_many, large, name, threads=2)
        alone = functools.partial(hashlane.digest_many, large, name, threads=1)
        what, wall = f"{name}, 16 x 1 MiB on two threads", time.perf_counter
        yield Row(what, "one thread, wall time", two, alone, 2, faster=True, clock=wall)


def chunk_rows(library: Library, generator: numpy.random.Generator) -> Iterator[Row]:
    """Return the rows of long chunks of a buffer."""
    matrix = generator.integers(0, 256, (N_CHUNKS, CHUNK_BYTES), numpy.uint8)
    chunks = [memoryview(row) for row in matrix]
    for name, number, factor in (("sha1", SHA1, 4.8), ("sha256", SHA256, 2.4)):
        ours = functools.partial(hashlane.digest_chunks, matrix, CHUNK_BYTES, name, threads=1)
        rust, digests = library.rows(matrix, number)
        loop = functools.partial(loop_over, getattr(hashlib, name), chunks)
        expect(holds=rust() == 0 and ours() == loop(), what=f"chunks, {name}")
        expect(holds=b"".join(ours()) == digests.tobytes(), what=f"chunks, {name}, Rust")
        what = f"`digest_chunks`, {name}, {N_CHUNKS} x 4 MiB"
        few = {"rounds": 7}
        yield Row(what, "Rust", ours, rust, 1.05, **few)
        yield Row(what, "hashlib", ours, loop, factor, faster=True, **few)


def short_rows(generator: numpy.random.Generator) -> Iterator[Row]:
    """Return the rows of calls for one short message each."""
    one = functools.partial(update, hashlane.sha256)
    other = functools.partial(update, hashlib.sha256)
    expect(holds=one() == other(), what="update")
    yield Row("`update` of 64 bytes, 10,000 times", "hashlib", one, other, 1)
    short = [generator.bytes(64) for _ in range(10_000)]
    ours, loop = (lambda: asyncio.run(queued(short))), (lambda: asyncio.run(one_by_one(short)))
    expect(holds=ours() == loop(), what="queue")
    yield Row("`Queue`, 10,000 tasks with 64 bytes", "hashlib in tasks", ours, loop, 1)


def update(constructor: Constructor) -> bytes:
    """Append many short parts to a message."""
    message, part = constructor(b""), bytes(64)
    append = message.update
    for _ in range(10_000):
        append(part)
    return message.digest()


async def queued(messages: list[bytes]) -> list[bytes]:
    """Hash each message in a task of its own, by a queue."""
    queue = hashlane.Queue()
    return await asyncio.gather(*(queue.digest(message) for message in messages))


async def one_by_one(messages: list[bytes]) -> list[bytes]:
    """Hash each message in a task of its own, by hashlib."""

    async def digest(message: bytes) -> bytes:
        return hashlib.sha256(message).digest()

    return await asyncio.gather(*(digest(message) for message in messages))


def loop_over(
    constructor: Callable[[bytes], "hashlib._Hash"], messages: list[bytes]
) -> list[bytes]:
    """Hash messages one by one."""
    return [constructor(message).digest() for message in messages]


def repeat(constructor: Constructor) -> None:
    """Hash one short message many times."""
    message = b"0123456789abcdef0123456789abcdef"
    for _ in range(10_000):
        constructor(message).digest()


def content_rows(program: Path, folder: Path) -> Iterator[Row]:
    """Return the rows of content on the disk, which is in the page cache."""
    path = folder / "content.bin"
    with path.open("wb") as file:
        for number in range(CONTENT_MIB):
            file.write(numpy.random.default_rng(number).bytes(1 << 20))
    torrent = hashlane.create(path, version="v1", piece_length=1 << 20)
    metainfo = folder / "content.torrent"
    metainfo.write_bytes(bytes(torrent))
    argv = [program, "verify", "--quiet", "--io", "pread", metainfo, "-d", folder]

    def ours() -> None:
        expect(holds=torrent.verify(path).is_complete, what="verify")

    def by_program() -> None:
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)

    def by_torf() -> None:
        expect(holds=torf.Torrent.read(metainfo).verify(path), what="torf")

    what = f"`verify`, {CONTENT_MIB} MiB"
    yield Row(what, "program with `--io pread`", ours, by_program, 1.05, clock=process_time)
    few = {"clock": process_time, "rounds": 5, "faster": True}
    yield Row(what, "torf", ours, by_torf, 3, **few)
    yield store_row(path)


def store_row(path: Path) -> Row:
    """Return the row of content in a store. Both sides read the same ranges, as many at a time."""
    fs = Store()
    fs.pipe("/content.bin", path.read_bytes())
    in_store = hashlane.create(path, version="v1", piece_length=1 << 20)
    fsspec.register_implementation("store", Store)

    def remote() -> None:
        expect(holds=in_store.verify("store://content.bin").is_complete, what="fsspec")

    remote()
    ranges = sorted(fs.ranges)

    def by_fsspec() -> None:
        with ThreadPoolExecutor(READERS) as pool:
            for _ in pool.map(lambda one: fs.cat_file("/content.bin", *one), ranges):
                pass

    wall = time.perf_counter
    what = f"`verify` of a URL, {CONTENT_MIB} MiB"
    return Row(what, "fsspec", remote, by_fsspec, 1 / 0.9, clock=wall, rounds=7)


class Store(MemoryFileSystem):
    """A store that answers after 20 ms, and then sends 50 MB/s to each of its readers."""

    protocol = "store"
    ranges: ClassVar[set[tuple[int, int]]] = set()

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(path.removeprefix("store://"))

    def cat_file(self, path: str, start: int, end: int, **options: object) -> bytes:
        """Read a range."""
        content = super().cat_file(path, start=start, end=end, **options)
        self.ranges.add((start, end))
        time.sleep(0.02 + len(content) / 50e6)
        return content


def import_row() -> Row:
    """Return the row of the import. Python alone is the peer."""

    def started(statement: str) -> Call:
        return lambda: subprocess.run([sys.executable, "-c", statement], check=True)

    importing, nothing = started("import hashlane"), started("pass")
    return Row(
        "Python that imports the package", "Python", importing, nothing, 0, clock=process_time
    )


def import_goal(row: Row) -> Goal:
    """Return the goal for the difference of the import row."""
    found = quartiles([1e3 * (ours - theirs) for ours, theirs in row.times])
    return at_most(
        "import, more than Python alone", found.median, 15, unit=" ms", detail=found.spread
    )


def measure(rows: list[Row], n_rounds: int) -> None:
    """Run the rows in turns."""
    for number in range(n_rounds + WARM_UP):
        rounds.say(f"round {number + 1} of {n_rounds + WARM_UP}")
        for row in rows:
            if row.rounds is None or number < row.rounds + WARM_UP:
                times = row.turn()
                if number >= WARM_UP:
                    row.times.append(times)


def report(rows: list[Row], importing: Row, n_rounds: int) -> str:
    """Return the report."""
    header = ["what", "peer", "hashlane, ms", "peer, ms", "ratio", "middle half"]
    text = (
        f"Medians of {n_rounds} rounds, in which all rows take turns. The times are CPU time, "
        "which other processes distort less than wall time; those of the URL are wall time. "
        "[README.md](README.md#python) has the method."
    )
    return page(
        "The Python package",
        "bench-python",
        text,
        table(header, [row.cells() for row in [*rows, importing]]),
        goal_section([*(row.goal() for row in rows), import_goal(importing)], detail="middle half"),
    )


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--memory", action="store_true", help="measure only what is in memory")
    parser.add_argument("--out", type=Path, default=HERE / "python.md")
    options = parser.parse_args()
    # Virtual disks pass for disks that seek. The package reads files on those in order, but the
    # program with `--io pread` does not.
    memory = Path("/dev/shm")  # noqa: S108 - a file system in memory
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        rows = list(hash_rows(Library(options.library.resolve())))
        if not options.memory:
            rows += content_rows(options.hashlane.resolve(), Path(folder))
        importing = import_row()
        measure([*rows, importing], options.rounds)
    text = report(rows, importing, options.rounds)
    options.out.write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
