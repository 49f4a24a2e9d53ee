"""Tree hashes of files."""

import hashlib
import threading
from pathlib import Path

import hashlane
import pytest

# The fs-verity digests by `fsverity digest` 1.5, and the CID by ipfs-unixfs-importer 17.1.1, of the file `a`.
PLAIN = "sha256:bce75948b9e7510293f8f2720412af9697c1479281323f3f220623fb8e94b557"
SALTED = "sha256:bfac0e766763e01dc1048800d684b953583f2e223baa0b1524147bf6c1353b9a"
CID = "bafkreigks6arfsq3xxfpvqrrwonchxcnu6do76auprhhfomao6c273sixm"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a"
    path.write_bytes(b"a")
    return path


def test_values_of_other_programs(file: Path) -> None:
    assert hashlane.tree_digest(file, "fsverity") == PLAIN
    assert hashlane.tree_digest(str(file), "fsverity", block_size=1024, salt=b"\0\xff", threads=1) == SALTED
    assert hashlane.tree_digest(file, "cid") == CID
    blob = hashlib.sha1(b"blob 1\0a").hexdigest()
    assert hashlane.tree_digest(file, "git") == blob
    assert {"git", "cid", "dmverity", "s3-etag"} <= hashlane.tree_digests_available


def test_parts_of_an_object(tmp_path: Path) -> None:
    part = 5 << 20
    parts = [bytes([number]) * part for number in range(2)] + [b"end"]
    file = tmp_path / "object"
    file.write_bytes(b"".join(parts))
    done: list[int] = []
    etag = hashlane.tree_digest(file, "s3-etag", part_size=part, progress=lambda n, _: done.append(n))
    expected = hashlib.md5(b"".join(hashlib.md5(part).digest() for part in parts)).hexdigest()
    assert etag == f"{expected}-3"
    assert done[-1] == file.stat().st_size


def test_errors(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unsupported tree hash sha256"):
        hashlane.tree_digest(file, "sha256")
    with pytest.raises(ValueError, match="a block of 1000 bytes"):
        hashlane.tree_digest(file, "fsverity", block_size=1000)
    with pytest.raises(ValueError, match="git has no salt"):
        hashlane.tree_digest(file, "git", salt=b"")
    with pytest.raises(FileNotFoundError) as absent:
        hashlane.tree_digest(tmp_path / "absent", "git")
    assert absent.value.filename == str(tmp_path / "absent")
    with pytest.raises(OSError, match="fewer than 4096 bytes"):
        hashlane.tree_digest(file, "dmverity")
    stop = threading.Event()
    stop.set()
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(1 << 36)
    with pytest.raises(hashlane.Cancelled):
        hashlane.tree_digest(large, "s3-etag", part_size=5 << 30, cancel=stop)
