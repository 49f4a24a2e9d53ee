"""Verification of content in S3, on a server that imitates it."""

import os
from collections.abc import Iterator
from pathlib import Path

import hashlane
import pytest
from hashlane import PieceState

s3fs = pytest.importorskip("s3fs")
server = pytest.importorskip("moto.server")

PIECE = 1 << 18


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """The options of a file system, whose server listens on loopback."""
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    threads = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    threads.start()
    host, port = threads.get_host_and_port()
    yield {"key": "test", "secret": "test", "endpoint_url": f"http://{host}:{port}", "skip_instance_cache": True}
    threads.stop()


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_content_of_a_bucket(options: dict[str, object], tmp_path: Path, version: str) -> None:
    content = tmp_path / "content"
    (content / "inner").mkdir(parents=True)
    (content / "a").write_bytes(os.urandom(11 * PIECE + 3))
    (content / "inner" / "b").write_bytes(os.urandom(5 * PIECE))
    (content / "c").write_bytes(os.urandom(100))
    torrent = hashlane.create(content, version=version, piece_length=PIECE)
    store = s3fs.S3FileSystem(**options)
    bucket = f"bucket-{version}"
    store.mkdir(bucket)
    store.put(f"{content}/", f"{bucket}/archive/", recursive=True)
    report = torrent.verify(f"s3://{bucket}/archive", **options)
    assert report.is_complete
    assert report.pieces == torrent.verify(content).pieces
    damage = bytearray((content / "a").read_bytes())
    damage[4 * PIECE] ^= 1
    (content / "a").write_bytes(damage)
    (content / "inner" / "b").unlink()
    store.pipe(f"{bucket}/archive/a", bytes(damage))
    store.rm(f"{bucket}/archive/inner/b")
    report = torrent.verify(f"s3://{bucket}/archive", **options)
    assert report.pieces == torrent.verify(content).pieces
    assert report.counts[PieceState.BAD] == 1
    assert {file.path: file.state for file in report.files}["inner/b"] == "missing"
    run = torrent.verify(f"s3://{bucket}/archive", pieces=range(3, 6), **options)
    assert run.pieces[3:6] == report.pieces[3:6]
    assert run.counts[PieceState.UNCHECKED] == torrent.piece_count - 3
