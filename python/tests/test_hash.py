"""Objects like those of hashlib and hmac, compared with them."""

import hashlib
import hmac
import os
import threading
import types
from pathlib import Path

import hashlane
import pytest
from hypothesis import given
from hypothesis import strategies as st

NAMES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b"]


@pytest.mark.parametrize("name", NAMES)
@given(parts=st.lists(st.binary(max_size=300), max_size=5))
def test_digests_equal_those_of_hashlib(name: str, parts: list[bytes]) -> None:
    ours, theirs = getattr(hashlane, name)(), hashlib.new(name)
    for part in parts:
        ours.update(part)
        theirs.update(part)
    assert ours.digest() == theirs.digest()
    assert ours.hexdigest() == theirs.hexdigest()
    assert (ours.name, ours.digest_size, ours.block_size) == (theirs.name, theirs.digest_size, theirs.block_size)
    assert hashlane.new(name, b"".join(parts)).digest() == theirs.digest()


def test_blake3_has_the_digest_of_its_authors_for_no_bytes() -> None:
    empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    assert hashlane.blake3(b"").hexdigest() == empty


def test_a_copy_has_a_message_of_its_own() -> None:
    first = hashlane.sha256(b"a")
    second = first.copy()
    second.update(b"b")
    assert first.digest() == hashlib.sha256(b"a").digest()
    assert second.digest() == hashlib.sha256(b"ab").digest()


@pytest.mark.parametrize("wrong", ["text", 1, None, [b"a"]])
def test_other_objects_are_refused(wrong: object) -> None:
    with pytest.raises(TypeError):
        hashlane.sha256().update(wrong)  # type: ignore[arg-type]


def test_buffers_that_are_not_contiguous_are_refused() -> None:
    with pytest.raises(BufferError, match="not contiguous"):
        hashlane.sha1(memoryview(b"abcdef")[::2])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="unsupported hash type md4"):
        hashlane.new("md4")


@pytest.mark.parametrize("name", NAMES[:-1])
@given(key=st.binary(max_size=200), message=st.binary(max_size=5000))
def test_macs_equal_those_of_hmac(name: str, key: bytes, message: bytes) -> None:
    theirs = hmac.new(key, message, name)
    ours = hashlane.hmac_new(key, message, name)
    assert ours.digest() == theirs.digest() == hashlane.hmac_digest(key, message, name)
    assert ours.verify(theirs.digest())
    assert not ours.verify(bytes(ours.digest_size))


def test_standard_modules_accept_the_constructors(tmp_path: object) -> None:
    assert hmac.new(b"key", b"message", hashlane.sha256).digest() == hmac.digest(b"key", b"message", "sha256")
    with open(f"{tmp_path}/file", "wb+") as file:
        file.write(b"content" * 1000)
        file.seek(0)
        assert hashlib.file_digest(file, hashlane.sha1).digest() == hashlib.sha1(b"content" * 1000).digest()


def test_threads_share_an_object() -> None:
    """Updates of several threads are whole: the digest is that of some order of them."""
    part = os.urandom(1 << 20)
    ours = hashlane.sha1()
    threads = [threading.Thread(target=lambda: [ours.update(part) for _ in range(8)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ours.digest() == hashlib.sha1(part * 32).digest()


def test_the_gil_is_released_for_long_messages() -> None:
    """Another thread runs while a message of 256 MiB is hashed."""
    message, seen = bytes(256 << 20), []
    thread = threading.Thread(target=lambda: hashlane.sha1(message))
    thread.start()
    while thread.is_alive():
        seen.append(1)
    thread.join()
    assert len(seen) > 100


# In the place of hashlib.


@pytest.mark.parametrize("name", NAMES)
def test_constructors_and_modules_name_an_algorithm(name: str) -> None:
    digest = hashlib.new(name, b"message").digest()
    constructors = [getattr(hashlib, name), getattr(hashlane, name), lambda: hashlib.new(name)]
    for constructor in constructors:
        assert hashlane.digest_many([b"message"], constructor) == [digest]
        assert hashlane.digest_chunks(b"message", 7, constructor) == [digest]
        if name != "blake2b":
            mac = hmac.digest(b"key", b"message", name)
            assert hashlane.hmac_new(b"key", b"message", constructor).digest() == mac
            assert hashlane.hmac_digest(b"key", b"message", constructor) == mac
    module = types.ModuleType("module")
    module.new = getattr(hashlib, name)  # type: ignore[attr-defined]
    assert hashlane.digest_many([b"message"], module) == [digest]
    with pytest.raises(TypeError, match="expected the name of an algorithm or a constructor"):
        hashlane.digest_many([b"message"], 5)  # type: ignore[call-overload]


def test_what_this_package_has_not_comes_from_hashlib() -> None:
    for name in ("sha3_256", "blake2s", "sha512_256"):
        assert hashlane.new(name, b"message").digest() == hashlib.new(name, b"message").digest()
    for name in ("sha3_224", "shake_128", "blake2s", "pbkdf2_hmac", "scrypt", "algorithms_guaranteed"):
        assert getattr(hashlane, name) is getattr(hashlib, name)
        assert name in dir(hashlane)
    missing = set(hashlib.__all__) - set(dir(hashlane))
    assert missing == set(), "a name of hashlib"
    assert hashlane.__version__.count(".") == 2
    for name in hashlane.__all__:
        assert name.startswith("__") or getattr(hashlane, name).__doc__, name


def test_file_digests_equal_those_of_hashlib(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content" * 100_000)
    for digest in ("sha256", "sha3_256", hashlane.sha1, hashlib.md5):
        with open(tmp_path / "file", "rb") as file:
            expected = hashlib.file_digest(file, digest).digest()
            file.seek(0)
            assert hashlane.file_digest(file, digest).digest() == expected


BLAKE2B = [
    {"digest_size": 20, "key": b"k" * 64, "salt": b"s" * 16, "person": b"p" * 16},
    {"key": b"", "salt": b"", "person": b""},
    {
        "fanout": 2,
        "depth": 2,
        "leaf_size": 4096,
        "node_offset": 1,
        "node_depth": 1,
        "inner_size": 64,
        "last_node": True,
    },
    {"fanout": 0, "depth": 255, "leaf_size": 2**32 - 1, "node_offset": 2**64 - 1, "node_depth": 255, "inner_size": 0},
]


@pytest.mark.parametrize("parameters", BLAKE2B)
def test_parameters_of_blake2b(parameters: dict[str, object]) -> None:
    ours = hashlane.blake2b(b"message", **parameters)  # type: ignore[arg-type]
    theirs = hashlib.blake2b(b"message", **parameters)  # type: ignore[arg-type]
    assert (ours.digest(), ours.digest_size) == (theirs.digest(), theirs.digest_size)
    assert hashlane.new("blake2b", b"message", **parameters).digest() == theirs.digest()
    assert hashlane.new("BLAKE2b", string=b"message", **parameters).digest() == theirs.digest()


def test_parameters_of_new() -> None:
    """`new` passes them to the constructor, or to `hashlib`."""
    assert hashlane.new("blake2b-160", b"message").digest() == hashlib.blake2b(b"message", digest_size=20).digest()
    keyed = hashlib.blake2b(b"message", digest_size=20, key=b"key")
    assert hashlane.new("blake2b-160", b"message", key=b"key").digest() == keyed.digest()
    theirs = hashlib.blake2s(b"message", digest_size=8, key=b"key")
    assert hashlane.new("blake2s", b"message", digest_size=8, key=b"key").digest() == theirs.digest()
    key = b"whats the Elvish word for friend"
    assert hashlane.new("blake3", b"message", key=key).digest() == hashlane.blake3(b"message", key=key).digest()
    with pytest.raises(ValueError, match="digest_size: blake2b-160 has a length of its own"):
        hashlane.new("blake2b-160", digest_size=20)
    with pytest.raises(TypeError, match="sha256 has no parameter 'digest_size'"):
        hashlane.new("sha256", digest_size=32)
    for name in ("blake2b", "blake3"):
        with pytest.raises(TypeError, match="unexpected keyword argument 'leaves'"):
            hashlane.new(name, leaves=1)
    with pytest.raises(TypeError, match="4 given"):
        hashlane.new("sha3_256", leaves=1)
    with pytest.raises(ValueError, match="digest_size must be between"):
        hashlane.new("blake2b", digest_size=65)


@pytest.mark.parametrize(
    "wrong",
    [
        {"digest_size": 0}, {"digest_size": 65}, {"digest_size": -1}, {"key": b"k" * 65}, {"salt": b"s" * 17},
        {"person": b"p" * 17}, {"fanout": 256}, {"fanout": -1}, {"depth": 0}, {"depth": 256}, {"leaf_size": -1},
        {"leaf_size": 2**32}, {"node_offset": -1}, {"node_offset": 2**64}, {"node_depth": 256}, {"inner_size": 65},
        {"key": "text"},
    ],
)  # fmt: skip
def test_wrong_parameters_of_blake2b_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((ValueError, OverflowError, TypeError)) as theirs:
        hashlib.blake2b(**wrong)  # type: ignore[arg-type]
    # Versions of Python differ in the exception for a number that is too large or negative.
    expected = TypeError if theirs.type is TypeError else (ValueError, OverflowError)
    with pytest.raises(expected):
        hashlane.blake2b(**wrong)  # type: ignore[arg-type]


def test_parameters_of_blake3() -> None:
    """Test vectors of the authors for no bytes, keyed and derived."""
    key = b"whats the Elvish word for friend"
    assert hashlane.blake3(key=key).hexdigest().startswith("92b2b75604ed3c761f9d6f62392c8a92")
    context = "BLAKE3 2019-12-27 16:29:52 test vectors context"
    assert hashlane.blake3(derive_key_context=context).hexdigest().startswith("2cc39783c223154fea8dfb7c1b1660f2")
    with pytest.raises(ValueError, match="key must have 32 bytes"):
        hashlane.blake3(key=b"short")
    with pytest.raises(ValueError, match="mutually exclusive"):
        hashlane.blake3(key=key, derive_key_context=context)
