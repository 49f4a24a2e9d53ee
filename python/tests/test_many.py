"""Many messages at once, compared with hashlib."""

import asyncio
import concurrent.futures
import contextlib
import ctypes
import hashlib
import hmac
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import hashlane
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

NAMES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512_256", "blake2b"]


def expected(messages: list[bytes], name: str, prefix: bytes = b"") -> list[bytes]:
    return [hashlib.new(name, prefix + message).digest() for message in messages]


@pytest.mark.parametrize("name", NAMES)
@given(messages=st.lists(st.binary(max_size=300), max_size=40), prefix=st.none() | st.binary(max_size=150))
def test_messages_of_any_lengths(name: str, messages: list[bytes], prefix: bytes | None) -> None:
    digests = expected(messages, name, prefix or b"")
    assert hashlane.digest_many(messages, name, prefix=prefix) == digests
    assert hashlane.digest_many(iter(messages), name, prefix=prefix, threads=1) == digests
    out = bytearray(len(digests) * hashlib.new(name).digest_size)
    assert hashlane.digest_many(tuple(messages), name, prefix=prefix, out=out) is out
    assert bytes(out) == b"".join(digests)


@pytest.mark.parametrize("name", NAMES[:-1])
@given(messages=st.lists(st.binary(max_size=300), max_size=40), key=st.binary(max_size=150))
def test_macs(name: str, messages: list[bytes], key: bytes) -> None:
    macs = [hmac.digest(key, message, name) for message in messages]
    assert hashlane.digest_many(messages, name, key=key) == macs


@pytest.mark.parametrize("name", ["sha1", "sha256"])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_sets_larger_than_a_batch(name: str, threads: int) -> None:
    messages = [os.urandom(i % 700) for i in range(10_000)]
    assert hashlane.digest_many(messages, name, threads=threads) == expected(messages, name)


# BLAKE2b has keys of its own.
@pytest.mark.parametrize(
    ("name", "options"),
    [
        (name, options)
        for name in ["md5", "sha224", "sha256", "sha512", "blake2b"]
        for options in [{}, {"prefix": b"p"}, {"key": b"k"}]
        if name != "blake2b" or "key" not in options
    ],
)
def test_long_messages(name: str, options: dict[str, bytes]) -> None:
    messages = [os.urandom(17 << 20), b"", os.urandom(5 << 20), b"short"]
    if "key" in options:
        digests = [hmac.digest(b"k", message, name) for message in messages]
    else:
        digests = expected(messages, name, options.get("prefix", b""))
    assert hashlane.digest_many(messages, name, **options) == digests


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("rows", "length", "stride"), [(0, 5, 5), (1, 32, 32), (1000, 32, 40), (3, 0, 8), (5000, 33, 33)]
)
def test_rows_of_an_array(name: str, rows: int, length: int, stride: int) -> None:
    whole = numpy.frombuffer(os.urandom(rows * stride), dtype=numpy.uint8).reshape(rows, stride)
    matrix = whole[:, :length]
    assert hashlane.digest_many(matrix, name, threads=1) == expected([row.tobytes() for row in matrix], name)
    out = numpy.zeros((rows, hashlib.new(name).digest_size), dtype=numpy.uint8)
    assert hashlane.digest_many(matrix, name, out=out) is out
    assert [row.tobytes() for row in out] == expected([row.tobytes() for row in matrix], name)


def test_arrays_that_cannot_be_read_in_place_are_refused() -> None:
    matrix = numpy.zeros((4, 4), dtype=numpy.uint8)
    for wrong in (matrix.T[:, ::-1], matrix[::-1], matrix[:, ::2], matrix.astype(numpy.uint16)):
        with pytest.raises(ValueError, match="matrix|adjacent"):
            hashlane.digest_many(wrong)


@given(data=st.binary(max_size=3000), size=st.integers(1, 700))
def test_chunks(data: bytes, size: int) -> None:
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    assert hashlane.digest_chunks(data, size, "sha1") == expected(chunks, "sha1")


def test_a_buffer_of_the_wrong_length_is_refused_before_anything_is_written() -> None:
    out = bytearray(b"x" * 63)
    with pytest.raises(ValueError, match="out has 63 bytes, expected 64: 2 digests of 32 bytes"):
        hashlane.digest_many([b"a", b"b"], out=out)
    assert out == b"x" * 63
    with pytest.raises(ValueError, match="writable"):
        hashlane.digest_many([b"a"], out=bytes(32))


def test_a_buffer_over_the_messages_is_refused() -> None:
    """The later messages would change before they are hashed."""
    data = bytearray(os.urandom(64 * 1000))
    rows = numpy.frombuffer(data, dtype=numpy.uint8).reshape(1000, 64)
    before = bytes(data)
    for place in (slice(0, 20_000), slice(44_000, 64_000)):
        out = memoryview(data)[place]
        for call in (
            lambda out=out: hashlane.digest_chunks(data, 64, "sha1", out=out),
            lambda out=out: hashlane.digest_many(rows, "sha1", out=out),
            lambda out=out: hashlane.digest_many([memoryview(row) for row in rows], "sha1", out=out),
        ):
            with pytest.raises(ValueError, match="out overlaps the messages"):
                call()
            assert data == before
    # Neighbours share no byte.
    both = bytearray(64 + 20)
    hashlane.digest_chunks(memoryview(both)[:64], 64, "sha1", out=memoryview(both)[64:])
    assert both[64:] == hashlib.sha1(bytes(64)).digest()


def test_a_buffer_of_objects_is_refused() -> None:
    """The bytes of a digest would be taken for the address of an object."""
    for wrong in (numpy.empty(4, dtype=object), numpy.empty(2, dtype=[("a", object), ("b", "u8")])):
        with pytest.raises(ValueError, match="the items of out must be numbers or bytes"):
            hashlane.digest_many([b"a"], out=wrong)
    for kind in ("u1", "<i4", ">u8", "f8", "S16", "V32", "?"):
        out = numpy.zeros(32, "u1").view(kind)
        assert hashlane.digest_many([b"a"], out=out).tobytes() == hashlib.sha256(b"a").digest()


def test_arrays_of_ctypes_are_bytes_like() -> None:
    words = (ctypes.c_uint32 * 8)(*range(8))
    expected_digest = hashlib.sha256(words).digest()
    assert hashlane.sha256(words).digest() == expected_digest
    assert hashlane.digest_many([words]) == [expected_digest]
    out = (ctypes.c_uint8 * 32)()
    assert hashlane.digest_chunks(words, 32, out=out) is out
    assert bytes(out) == expected_digest


def test_updates_of_several_threads_come_one_after_another() -> None:
    parts = [bytes([letter]) * (70 << 20) for letter in b"ab"]
    either = {hashlib.sha256(b"".join(order)).digest() for order in (parts, parts[::-1])}
    state = hashlane.sha256()
    threads = [threading.Thread(target=state.update, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert state.digest() in either


@pytest.mark.parametrize("wrong", [b"abc", "abc", 5, [b"a", "b"], [b"a", 1]])
def test_other_objects_are_refused(wrong: object) -> None:
    with pytest.raises(TypeError):
        hashlane.digest_many(wrong)  # type: ignore[call-overload]


def test_a_bytearray_cannot_be_resized_while_it_is_hashed() -> None:
    """The buffer is held until its set is hashed."""
    victim = bytearray(100)

    def messages() -> object:
        yield victim
        with pytest.raises(BufferError):
            victim.extend(bytes(1000))
        yield b""

    assert len(hashlane.digest_many(messages())) == 2  # type: ignore[call-overload]


def test_merkle_root_of_one_leaf_is_its_digest() -> None:
    data = os.urandom(16384)
    assert hashlane.merkle_root(data) == hashlib.sha256(data).digest()
    two = data + b"rest"
    pair = hashlib.sha256(data).digest() + hashlib.sha256(b"rest").digest()
    assert hashlane.merkle_root(two) == hashlib.sha256(pair).digest()


@pytest.mark.parametrize(
    "length", [(32 << 20) - 1, 32 << 20, (32 << 20) + 1, (64 << 20) + 40_000, (96 << 20) + 16384 * 5]
)
def test_merkle_roots_of_several_subtrees(length: int) -> None:
    data = random.Random(length).randbytes(1 << 20) * (length // (1 << 20) + 1)
    data = data[:length]
    level = [hashlib.sha256(data[i : i + 16384]).digest() for i in range(0, length, 16384)]
    while len(level) & (len(level) - 1):
        level.append(bytes(32))
    while len(level) > 1:
        level = [hashlib.sha256(level[i] + level[i + 1]).digest() for i in range(0, len(level), 2)]
    assert hashlane.merkle_root(data) == level[0]


def test_a_merkle_root_is_cancelled() -> None:
    event = threading.Event()
    event.set()
    with pytest.raises(hashlane.Cancelled):
        hashlane.merkle_root(b"data", cancel=event)
    with pytest.raises(ValueError, match="an empty file has no root"):
        hashlane.merkle_root(b"")


def test_a_queue_hashes_messages_of_many_tasks() -> None:
    async def main() -> list[bytes]:
        queue = hashlane.Queue("sha1")
        small = [queue.digest(b"%d" % i) for i in range(1000)]
        large = [queue.digest(bytes([i]) * 5000) for i in range(100)]
        large += [queue.digest(bytes(100_000)) for _ in range(3)]
        return await asyncio.gather(*small, *large)

    digests = asyncio.run(main())
    messages = [b"%d" % i for i in range(1000)] + [bytes([i]) * 5000 for i in range(100)]
    assert digests == expected([*messages, *[bytes(100_000)] * 3], "sha1")


@pytest.mark.parametrize("name", ["md5", "SHA-256", "blake2b-160", "sha512_256", "crc32"])
def test_a_queue_hashes_short_messages_at_once(name: str) -> None:
    """A task that hashes a short message is not suspended."""
    queue = hashlane.Queue(name)
    for message in (b"message", bytearray(4096), memoryview(b"")):
        with pytest.raises(StopIteration) as ended:
            queue.digest(message).send(None)
        assert ended.value.value == hashlane.new(name, message).digest()


def test_a_wrong_message_of_a_queue_fails_alone() -> None:
    async def main() -> list[object]:
        queue = hashlane.Queue()
        released = memoryview(b"released" * 1000)
        tasks = [
            queue.digest(b"a"),
            queue.digest("b"),  # type: ignore[arg-type]
            queue.digest(memoryview(b"abcd")[::2]),
            queue.digest(released),
        ]
        found = asyncio.gather(*tasks, return_exceptions=True)
        # Each task has given its message to the queue when the loop comes back here.
        await asyncio.sleep(0)
        released.release()
        return await found

    right, wrong, apart, released = asyncio.run(main())
    assert right == hashlib.sha256(b"a").digest()
    assert isinstance(wrong, TypeError)
    assert isinstance(apart, BufferError)
    assert released == hashlib.sha256(b"released" * 1000).digest()


@pytest.mark.parametrize(
    "work",
    [
        "hashlane.digest_many([bytes(1 << 30)] * 4, 'md5')",
        "hashlane.digest_many((bytes(1 << 20) for _ in iter(int, 1)))",
        "hashlane.sha512(bytes(1 << 30) * 3)",
        "hashlane.merkle_root(bytes(1 << 33))",
        "hashlane.digest_files(['/dev/zero'])",
    ],
)
def test_ctrl_c_ends_work(work: str) -> None:
    """A process that hashes for long or for ever ends with KeyboardInterrupt after one SIGINT."""
    code = f"""
        import hashlane, signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("ready", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            print("interrupted")
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.7)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output == "interrupted\n"


def test_children_of_fork_hash() -> None:
    hashlane.digest_many([bytes(1 << 20)] * 8)
    child = os.fork()
    if child == 0:
        right = hashlane.digest_many([bytes(1 << 20)] * 8) == expected([bytes(1 << 20)] * 8, "sha256")
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_children_hash_while_a_thread_of_the_parent_does() -> None:
    """No lock that another thread held at the time of the fork is needed."""
    is_over = threading.Event()
    thread = threading.Thread(
        target=lambda: [hashlane.digest_many([bytes(1 << 18)] * 16) for _ in iter(is_over.is_set, True)]
    )
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                right = hashlane.digest_many([b"a"] * 5000) == expected([b"a"] * 5000, "sha256")
                os._exit(0 if right else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        is_over.set()
        thread.join()


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_of_a_pool_hash_and_verify(method: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(os.urandom(100_000))
    torrent = hashlane.create(file, piece_length=16384)
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        digests = pool.submit(hashlane.digest_many, [b"a", b"b"], "sha1")
        report = pool.submit(torrent.verify, file)
        absent = pool.submit(hashlane.Torrent.open, tmp_path / "absent")
        assert digests.result() == expected([b"a", b"b"], "sha1")
        assert report.result().is_complete
        assert report.result().pieces == torrent.verify(file).pieces
        error = absent.exception()
        assert isinstance(error, FileNotFoundError)
        assert error.filename == str(tmp_path / "absent")
