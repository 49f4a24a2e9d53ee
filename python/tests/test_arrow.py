"""Arrays of the Arrow C data interface, compared with hashlib."""

import ctypes
import hashlib
import hmac
import subprocess
import sys
import textwrap
from collections.abc import Callable

import hashlane
import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

TYPES = {"binary": pa.binary(), "large_binary": pa.large_binary(), "binary_view": pa.binary_view()}


def expected(messages: list[bytes], name: str = "sha256") -> list[bytes]:
    return [hashlib.new(name, message).digest() for message in messages]


@pytest.mark.parametrize("kind", TYPES)
@given(messages=st.lists(st.binary(max_size=100), max_size=30), start=st.integers(0, 5), parts=st.integers(1, 3))
def test_arrays_of_bytes(kind: str, messages: list[bytes], start: int, parts: int) -> None:
    array = pa.array(messages, type=TYPES[kind]).slice(start)
    digests = expected(messages[start:])
    assert hashlane.digest_many(array) == digests
    chunked = pa.chunked_array([array.slice(i * 3, 3) for i in range(parts)], type=TYPES[kind])
    digests = digests[: parts * 3]
    assert hashlane.digest_many(chunked, threads=1) == digests
    out = bytearray(32 * len(digests))
    assert hashlane.digest_many(chunked, out=out) is out
    assert bytes(out) == b"".join(digests)


@given(count=st.integers(0, 30), length=st.integers(0, 70), start=st.integers(0, 5), threads=st.integers(1, 2))
def test_arrays_of_one_length(count: int, length: int, start: int, threads: int) -> None:
    messages = [bytes([i]) * length for i in range(count)]
    array = pa.array(messages, type=pa.binary(length)).slice(start)
    assert hashlane.digest_many(array, "sha1", threads=threads) == expected(messages[start:], "sha1")
    macs = [hmac.digest(b"key", message, "sha256") for message in messages[start:]]
    assert hashlane.digest_many(array, key=b"key") == macs


@pytest.mark.parametrize("kind", [*TYPES, "fixed"])
def test_arrays_larger_than_a_set(kind: str) -> None:
    messages = [i.to_bytes(20) for i in range(10_000)]
    array = pa.array(messages, type=TYPES.get(kind, pa.binary(20)))
    assert hashlane.digest_many(array) == expected(messages)


@pytest.mark.parametrize("kind", [*TYPES, "fixed"])
def test_nulls_are_refused_with_their_index(kind: str) -> None:
    kind = TYPES.get(kind, pa.binary(2))
    array = pa.array([b"ab", b"cd", None, b"ef"], type=kind)
    with pytest.raises(ValueError, match="^message 2 is null: "):
        hashlane.digest_many(array)
    with pytest.raises(ValueError, match="^message 0 is null: "):
        hashlane.digest_many(array.slice(2))
    with pytest.raises(ValueError, match="^message 4 is null: "):
        hashlane.digest_many(pa.chunked_array([array.slice(0, 2), array.slice(0, 2), array.slice(2)]))
    whole = array.slice(0, 2)
    assert hashlane.digest_many(whole) == expected([b"ab", b"cd"])


@pytest.mark.parametrize(
    "wrong",
    [
        pa.array([1]),
        pa.array([[b"a"]]),
        pa.table({"a": [b"a"]}),
        pa.array([b"a", b"a"]).dictionary_encode(),
        pa.nulls(3),
    ],
)
def test_other_types_are_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match="expected one column of binary"):
        hashlane.digest_many(wrong)  # type: ignore[call-overload]


def test_series_of_pandas() -> None:
    messages = [b"one", b"two", b"three"]
    assert hashlane.digest_many(pandas.Series(messages)) == expected(messages)
    assert hashlane.digest_many(pandas.Series(messages, dtype=pandas.ArrowDtype(pa.binary()))) == expected(messages)
    # No type of Arrow has both, so that the series is iterated.
    assert hashlane.digest_many(pandas.Series([b"one", numpy.frombuffer(b"two", "u1")])) == expected(messages[:2])


@pytest.mark.parametrize("kind", ["fixed", "binary", "binary_view"])
def test_arrays_are_not_copied(kind: str) -> None:
    """Memory that holds 192 MiB is hashed with less than 64 MiB more."""
    code = f"""
        import hashlane, numpy, pyarrow as pa, re
        def peak():
            return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
        rows, length = 3072, 64 << 10
        data = pa.py_buffer(numpy.ones(rows * length, dtype=numpy.uint8))
        if {kind!r} == "fixed":
            array = pa.FixedSizeBinaryArray.from_buffers(pa.binary(length), rows, [None, data])
        else:
            offsets = pa.py_buffer(numpy.arange(rows + 1, dtype=numpy.int32) * length)
            array = pa.BinaryArray.from_buffers(pa.binary(), rows, [None, offsets, data])
        if {kind!r} == "binary_view":
            view = numpy.zeros((rows, 4), dtype=numpy.int32)
            view[:, 0], view[:, 3] = length, numpy.arange(rows) * length
            array = pa.Array.from_buffers(pa.binary_view(), rows, [None, pa.py_buffer(view), data])
        hashlane.digest_many(array[:2])
        before = peak()
        digests = hashlane.digest_many(array)
        print(peak() - before, len(set(digests)), digests[0].hex())
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    grown, different, digest = run.stdout.split()
    assert int(grown) < 64 << 20
    assert (different, digest) == ("1", hashlib.sha256(b"\1" * (64 << 10)).hexdigest())


RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Schema(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", RELEASE),
        ("private_data", ctypes.c_void_p),
    ]


class Array(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", RELEASE),
        ("private_data", ctypes.c_void_p),
    ]


NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class Stream(ctypes.Structure):
    _fields_ = [
        ("get_schema", NEXT),
        ("get_next", NEXT),
        ("get_last_error", LAST_ERROR),
        ("release", RELEASE),
        ("private_data", ctypes.c_void_p),
    ]


def capsule(struct: ctypes.Structure, name: bytes) -> object:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(struct), name, None)


class Producer:
    """An object that exports an array of two messages, `ab` and `c`, after changes that break it."""

    SCHEMA, ARRAY = b"arrow_schema", b"arrow_array"

    def __init__(self, kind: str = "z", second: bytes | None = None, **changes: object) -> None:
        self.released: list[str] = []
        self.data = ctypes.create_string_buffer(b"abc")
        offsets = {"z": "i4", "Z": "i8"}.get(kind)
        if second is None and offsets:
            second = numpy.array([0, 2, 3], dtype=offsets).tobytes()
        self.second = ctypes.create_string_buffer(second or b"abcd")
        self.bitmap = ctypes.create_string_buffer(b"\1")
        pointers = [None, ctypes.addressof(self.second), ctypes.addressof(self.data)][: 3 if offsets else 2]
        if kind == "vz":
            self.lengths = (ctypes.c_int64 * 1)(3)
            pointers += [ctypes.addressof(self.data), ctypes.addressof(self.lengths)]
        for index, pointer in changes.pop("pointers", {}).items():  # type: ignore[attr-defined]
            pointers[index] = ctypes.addressof(self.bitmap) if pointer == "bitmap" else pointer
        self.pointers = (ctypes.c_void_p * len(pointers))(*pointers)
        # The callbacks mark the structs as released, as the specification requires.
        self.release_schema = RELEASE(lambda place: self.release(Schema, "schema", place))
        self.release_array = RELEASE(lambda place: self.release(Array, "array", place))
        self.schema = Schema(format=kind.encode(), release=self.release_schema)
        buffers = ctypes.cast(self.pointers, ctypes.POINTER(ctypes.c_void_p))
        self.array = Array(length=2, n_buffers=len(pointers), buffers=buffers, release=self.release_array)
        for name, value in changes.items():
            setattr(self.schema if hasattr(Schema, name) and not hasattr(Array, name) else self.array, name, value)

    def release(self, struct: type[ctypes.Structure], name: str, place: int) -> None:
        struct.from_address(place).release = RELEASE()
        self.released.append(name)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return capsule(self.schema, self.SCHEMA), capsule(self.array, self.ARRAY)


@pytest.mark.parametrize(
    ("kind", "second", "messages"),
    [
        ("z", None, [b"ab", b"c"]),
        ("Z", None, [b"ab", b"c"]),
        ("w:2", None, [b"ab", b"cd"]),
        ("w:0", None, [b"", b""]),
        ("vz", bytes([2, 0, 0, 0]) + b"xy" + bytes(10) + bytes(16), [b"xy", b""]),
    ],
)
def test_an_array_is_released_once(kind: str, second: bytes | None, messages: list[bytes]) -> None:
    producer = Producer(kind, second)
    assert hashlane.digest_many(producer) == expected(messages)
    assert sorted(producer.released) == ["array", "schema"]
    # The structs were moved out of the capsules, so a second call finds none.
    with pytest.raises(ValueError, match="consumed before"):
        hashlane.digest_many(producer)
    assert sorted(producer.released) == ["array", "schema"]


def views(length: int, index: int, start: int) -> bytes:
    return numpy.array([length, 0, index, start, 0, 0, 0, 0], dtype="i4").tobytes()


NULL = ctypes.POINTER(ctypes.c_void_p)()


@pytest.mark.parametrize(
    ("kind", "second", "changes", "message"),
    [
        ("z", None, {"length": -1}, "a length is negative"),
        ("z", None, {"offset": -1}, "a length is negative"),
        ("z", None, {"n_buffers": -1}, "a length is negative"),
        ("z", None, {"n_buffers": 2}, "it has not the buffers of its type"),
        ("w:2", None, {"n_buffers": 3}, "it has not the buffers of its type"),
        ("vz", None, {"n_buffers": 2}, "it has not the buffers of its type"),
        ("z", None, {"n_children": 1}, "it has not the buffers of its type"),
        ("z", None, {"buffers": NULL}, "it has not the buffers of its type"),
        ("z", None, {"length": 2**63 - 1}, "a length exceeds the address space"),
        ("Z", None, {"offset": 2**62}, "a length exceeds the address space"),
        ("w:9223372036854775807", None, {}, "a length exceeds the address space"),
        ("z", None, {"offset": 2**63 - 1, "length": 2**63 - 1}, "a length exceeds the address space"),
        ("z", None, {"pointers": {1: None}}, "a buffer is null"),
        ("w:2", None, {"pointers": {1: None}}, "a buffer is null"),
        ("z", None, {"pointers": {2: None}}, "the place of message 0 is not in its buffer"),
        ("z", None, {"null_count": 1}, "it has nulls, but no bitmap"),
        ("z", numpy.array([0, -1, 3], "i4").tobytes(), {}, "the place of message 0 is not in its buffer"),
        ("z", numpy.array([0, 2, 1], "i4").tobytes(), {}, "the place of message 1 is not in its buffer"),
        ("Z", numpy.array([-8, 2, 3], "i8").tobytes(), {}, "the place of message 0 is not in its buffer"),
        ("vz", views(-1, 0, 0), {}, "the place of message 0 is not in its buffer"),
        ("vz", views(13, 0, 0), {}, "the place of message 0 is not in its buffer"),
        ("vz", views(13, 1, 0), {}, "the place of message 0 is not in its buffer"),
        ("vz", views(13, -1, 0), {}, "the place of message 0 is not in its buffer"),
        ("vz", views(13, 0, -1), {}, "the place of message 0 is not in its buffer"),
        ("vz", views(13, 0, 2**31 - 1), {}, "the place of message 0 is not in its buffer"),
    ],
)
def test_invalid_arrays_are_refused(kind: str, second: bytes | None, changes: dict[str, object], message: str) -> None:
    producer = Producer(kind, second, **changes)
    with pytest.raises(ValueError) as caught:
        hashlane.digest_many(producer)
    assert str(caught.value) == f"the Arrow array is invalid: {message}"
    assert sorted(producer.released) == ["array", "schema"]


@pytest.mark.parametrize("null_count", [-1, 1, 7])
def test_a_bitmap_is_read_unless_there_are_no_nulls(null_count: int) -> None:
    with pytest.raises(ValueError, match="message 1 is null"):
        hashlane.digest_many(Producer(pointers={0: "bitmap"}, null_count=null_count))
    assert hashlane.digest_many(Producer(pointers={0: "bitmap"}, null_count=0)) == expected([b"ab", b"c"])


@pytest.mark.parametrize("kind", ["", "w:", "w:-1", "w:99999999999999999999", "zz", "i", "\u20ac"])
def test_unknown_formats_are_refused(kind: str) -> None:
    with pytest.raises(TypeError, match="messages have the Arrow type"):
        hashlane.digest_many(Producer(kind))


def test_a_type_without_format_is_refused() -> None:
    with pytest.raises(ValueError, match="the type has no format"):
        hashlane.digest_many(Producer(format=None))


def test_other_capsules_are_refused() -> None:
    class Swapped(Producer):
        SCHEMA, ARRAY = Producer.ARRAY, Producer.SCHEMA

    class NoCapsules:
        def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
            return b"schema", b"array"  # type: ignore[return-value]

    with pytest.raises(ValueError, match="PyCapsule"):
        hashlane.digest_many(Swapped())
    with pytest.raises(TypeError):
        hashlane.digest_many(NoCapsules())


def stream_of(get_next: Callable[[int, int], int], text: bytes | None) -> object:
    """Returns an object whose stream has this callback and this text of its last error."""

    class Producing:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            def get_schema(_: int, place: int) -> int:
                ctypes.memmove(place, ctypes.addressof(self.schema), ctypes.sizeof(Schema))
                return 0

            self.buffer = ctypes.create_string_buffer(text) if text else None
            self.schema = Schema(format=b"z", release=RELEASE(lambda place: None))
            self.callbacks = (
                NEXT(get_schema),
                NEXT(get_next),
                LAST_ERROR(lambda _: ctypes.addressof(self.buffer) if self.buffer else 0),
                RELEASE(lambda place: None),
            )
            self.stream = Stream(*self.callbacks)
            return capsule(self.stream, b"arrow_array_stream")

    return Producing()


@pytest.mark.parametrize(("text", "message"), [(b"disk failed", "disk failed"), (None, "the stream has failed")])
def test_a_stream_that_fails_is_an_error(text: bytes | None, message: str) -> None:
    with pytest.raises(OSError, match=message) as caught:
        hashlane.digest_many(stream_of(lambda stream, place: 5, text))  # type: ignore[call-overload]
    assert caught.value.errno == 5
