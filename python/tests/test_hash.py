"""Objects like those of hashlib and hmac, compared with them."""

import hashlib
import hmac
import os
import threading

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
