"""Progress and cancellation, and the errors of files."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import hashlane
import pytest


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(os.urandom(100_000))
    return path


def test_a_bar_of_tqdm_shows_the_progress(file: Path) -> None:
    tqdm = pytest.importorskip("tqdm").tqdm
    with open(os.devnull, "w") as nothing:
        bars = [tqdm(file=nothing) for _ in range(4)]
        torrent = hashlane.create(file, progress=bars[0])
        torrent.verify(file, progress=bars[1])
        hashlane.digest_files([file] * 2, progress=bars[2])
        list(hashlane.recover("1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71", kinds=["p2pkh"], progress=bars[3]))
        for bar in bars[:2]:
            assert (bar.n, bar.total) == (100_000, 100_000)
        assert (bars[2].n, bars[2].total) == (200_000, None)
        assert bars[3].n == bars[3].total > 0


def test_a_progress_of_rich_shows_the_progress(file: Path) -> None:
    progress = pytest.importorskip("rich.progress")
    with progress.Progress(disable=True) as bars:
        torrent = hashlane.create(file, progress=bars)
        torrent.verify(file, progress=bars)
        hashlane.digest_files([file], progress=bars)
    assert [(task.description, task.completed, task.total) for task in bars.tasks] == [
        ("create", 100_000, 100_000),
        ("verify", 100_000, 100_000),
        ("digest", 100_000, None),
    ]


def test_other_objects_are_refused(file: Path) -> None:
    with pytest.raises(TypeError, match="^progress: expected a callable, a bar of tqdm .* found int$"):
        hashlane.digest_files([file], progress=1)  # type: ignore[arg-type]


def test_a_set_event_ends_a_call() -> None:
    event = threading.Event()

    def messages() -> Iterator[bytes]:
        for number in range(1_000_000):
            if number == 10_000:
                event.set()
            yield b"%d" % number

    with pytest.raises(hashlane.Cancelled):
        hashlane.digest_many(messages(), cancel=event)
    with pytest.raises(hashlane.Cancelled):
        hashlane.digest_many([b""], cancel=event)
    with pytest.raises(hashlane.Cancelled):
        hashlane.digest_chunks(bytes(100_000), 16384, cancel=event)
    event.clear()
    assert len(hashlane.digest_many([b""], cancel=event)) == 1


def test_an_exception_of_the_event_reaches_the_caller() -> None:
    class Broken:
        def is_set(self) -> bool:
            raise LookupError("broken")

    with pytest.raises(LookupError, match="broken"):
        hashlane.digest_many([b""], cancel=Broken())


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file whose hashes take longer than the time between two looks at an event, 20 ms."""
    path = tmp_path / "large"
    with open(path, "wb") as file:
        for _ in range(12):
            file.write(b"\1" * (16 << 20))
    return path


def test_creation_is_cancelled(large: Path) -> None:
    event = threading.Event()
    event.set()
    with pytest.raises(hashlane.Cancelled):
        hashlane.create(large, version="hybrid", threads=1, cancel=event)


def test_verification_and_digests_are_cancelled(large: Path) -> None:
    torrent = hashlane.create(large, version="v1")
    event = threading.Event()
    event.set()
    with pytest.raises(hashlane.Cancelled):
        torrent.verify(large, threads=1, cancel=event)
    with pytest.raises(hashlane.Cancelled):
        hashlane.digest_files([large] * 3, threads=1, cancel=event)


def test_a_file_that_changes_while_it_is_hashed_is_an_error(large: Path) -> None:
    def change(done: int, total: int | None) -> None:
        os.truncate(large, 12 << 24 | 1)

    with pytest.raises(OSError, match="changed while it was read") as caught:
        hashlane.create(large, version="hybrid", threads=1, progress=change)
    assert caught.value.errno == errno.EIO
    assert caught.value.filename == str(large)


@pytest.mark.parametrize(
    "work",
    [
        "hashlane.digest_files([fifo])",
        "hashlane.Torrent.open(fifo)",
        "torrent.verify('silent://content')",
        "hashlane.digest_files(['silent://content'])",
    ],
)
def test_ctrl_c_ends_a_read_that_does_not_return(work: str, tmp_path: Path) -> None:
    """Of a pipe without a writer, and of a store that does not answer."""
    code = f"""
        import fsspec, hashlane, os, signal, threading
        from fsspec.implementations.memory import MemoryFileSystem

        class Silent(MemoryFileSystem):
            protocol = "silent"

            def info(self, path, **options):
                threading.Event().wait()

            def open(self, path, *arguments, **options):
                threading.Event().wait()

        fsspec.register_implementation("silent", Silent)
        open("content", "wb").write(bytes(100_000))
        torrent = hashlane.create("content")
        fifo = "fifo"
        os.mkfifo(fifo)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("ready", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            print("interrupted")
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.7)
        process.send_signal(signal.SIGINT)
        try:
            output, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert output == "interrupted\n"


def test_a_set_event_ends_a_read_that_does_not_return(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    event = threading.Event()
    event.set()
    with pytest.raises(hashlane.Cancelled):
        hashlane.digest_files([fifo], cancel=event)
