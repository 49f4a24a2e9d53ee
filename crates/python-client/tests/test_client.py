"""The package `hashlane_client`: two clients on this machine, which exchange content that `hashlane` verifies."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import hashlane
import pytest
from hashlane_client import Client, ClientError, TorrentEnded, TorrentFailed

ALONE = {"port": 0, "bind": "127.0.0.1", "dht": False, "local_discovery": False, "port_mapping": False}
LIMIT = 60
"""Seconds after which a test fails that waits for another client."""


@pytest.fixture
def torrent(tmp_path: Path) -> Path:
    """Returns a .torrent file; its content lies beside it in `served/content`."""
    content = tmp_path / "served" / "content"
    content.mkdir(parents=True)
    noise = random.Random(7)
    (content / "a").write_bytes(noise.randbytes(300_000))
    (content / "b").write_bytes(noise.randbytes(100_000))
    path = tmp_path / "content.torrent"
    path.write_bytes(bytes(hashlane.create(content, version="hybrid", piece_length=16384)))
    return path


def address_of(client: Client) -> str:
    deadline = time.monotonic() + LIMIT
    while not client.listening:
        assert time.monotonic() < deadline, "the client does not listen"
        time.sleep(0.05)
    return client.listening[0]


def kinds_until(client: Client, last: str, start) -> list[str]:
    """Returns the kinds of the events up to one kind, after a call that causes them."""
    events = client.events()
    start()
    kinds: list[str] = []
    while last not in kinds:
        event = events.next(LIMIT)
        assert event is not None, f"the client ended after {kinds}"
        assert event.kind != "failed", event
        kinds.append(event.kind)
    return kinds


def test_a_download_is_complete_and_right(torrent: Path, tmp_path: Path) -> None:
    content = torrent.parent / "served" / "content"
    with Client(tmp_path / "unused", **ALONE) as seeder:
        served = seeder.seed(torrent, content)
        served.wait_complete(LIMIT)
        with Client(tmp_path / "downloads", peers=[address_of(seeder)], **ALONE) as client:
            found = {}

            def start() -> None:
                found["torrent"] = client.download(torrent.read_bytes(), labels=["new"])

            kinds = kinds_until(client, "complete", start)
            download = found["torrent"]
            assert kinds.index("added") < kinds.index("verified") < kinds.index("finished") < kinds.index("complete")
            assert "piece" in kinds
            download.wait_complete(LIMIT)
            state = download.snapshot()
            assert state["complete"] is True
            assert state["labels"] == ["new"]
            assert state["done_bytes"] == 400_000
            assert [file["path"] for file in download.files()] == ["a", "b"]
            assert all(file["done_bytes"] == file["length_bytes"] for file in download.files())
            wanted = hashlane.Torrent.open(torrent)
            assert (download.info_hash_v1, download.info_hash_v2) == (wanted.info_hash_v1, wanted.info_hash_v2)
            found_again = client.get(wanted.info_hash)
            assert found_again is not None
            assert found_again.number == download.number
            assert download.metainfo() == torrent.read_bytes()
            assert client.stop() == ["complete"]
    report = hashlane.Torrent.open(torrent).verify(tmp_path / "downloads" / "content")
    assert report.is_complete
    assert download.content == tmp_path / "downloads" / "content"


def test_events_arrive_in_asyncio(torrent: Path, tmp_path: Path) -> None:
    async def first_kinds(client: Client) -> list[str]:
        events = client.events()
        client.seed(str(torrent), torrent.parent / "served" / "content")
        kinds = []
        async for event in events:
            kinds.append(event.kind)
            if event.kind == "verified":
                assert event.torrent is not None
                assert event.data["complete"] is True
                break
        # A wait that is cancelled loses no event.
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(events_of_pieces(events), 0.05)
        event.torrent.end()
        async for event in events:
            kinds.append(event.kind)
            if event.kind == "ended":
                return kinds
        return kinds

    async def events_of_pieces(events) -> None:
        async for event in events:
            assert event.kind != "ended"

    with Client(tmp_path, **ALONE) as client:
        kinds = asyncio.run(asyncio.wait_for(first_kinds(client), LIMIT))
    assert kinds[-1] == "ended"
    assert "added" in kinds


def test_errors_have_their_types(torrent: Path, tmp_path: Path) -> None:
    client = Client(tmp_path, **ALONE)
    absent = client.download(tmp_path / "absent.torrent")
    with pytest.raises(TorrentFailed, match="No such file"):
        absent.wait_complete(LIMIT)
    missing = client.download(torrent, tmp_path / "downloads")
    with pytest.raises(TimeoutError):
        missing.wait_complete(0.1)
    missing.remove()
    with pytest.raises(TorrentEnded, match="removed"):
        missing.wait_complete(LIMIT)
    for call in (
        lambda: client.download("magnet:?xt=urn:btih:1"),
        lambda: client.download(torrent, select=["["]),
        lambda: client.seed(torrent, tmp_path, ratio=-1),
        lambda: client.get("x"),
        lambda: missing.set_priorities([0], "best"),
        lambda: missing.add_peer("localhost"),
        lambda: Client(tmp_path, peers=["x"]),
        lambda: missing.wait_complete(float("nan")),
    ):
        with pytest.raises(ValueError):
            call()
    assert client.stop() == ["failed"]
    assert client.stop() == []
    with pytest.raises(ClientError, match="has ended"):
        client.download(torrent)
    with pytest.raises(ClientError):
        absent.pause()


def test_ctrl_c_ends_a_wait(torrent: Path, tmp_path: Path) -> None:
    # A shell that starts the tests in the background ignores the signal, and its children inherit that.
    script = f"""
import signal
from hashlane_client import Client
signal.signal(signal.SIGINT, signal.default_int_handler)
with Client({str(tmp_path / "d")!r}, **{ALONE!r}) as client:
    torrent = client.download({str(torrent)!r})
    try:
        print("waiting", flush=True)
        torrent.wait_complete()
    except KeyboardInterrupt:
        print("interrupted")
"""
    program = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline() == "waiting\n"
    os.kill(program.pid, signal.SIGINT)
    output, _ = program.communicate(timeout=LIMIT)
    assert output == "interrupted\n"
    assert program.returncode == 0
