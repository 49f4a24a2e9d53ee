"""Recovery of damaged strings on a cluster."""

import hashlib
import io
import time
from collections.abc import Iterator
from pathlib import Path

import hashlane
import pytest

distributed = pytest.importorskip("distributed")
from hashlane.dask import __main__ as command  # noqa: E402
from hashlane.dask import recover_sharded  # noqa: E402

ADDRESS = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71"
# The private key 1, whose address is known to everybody.
KEY = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn"
OWNED = "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH"


@pytest.fixture(scope="module")
def client() -> Iterator["distributed.Client"]:
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as processes,
        distributed.Client(processes) as client,
    ):
        yield client


DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def with_checksum(text: str) -> str:
    """Returns the address with these first characters."""
    value = 0
    for character in text:
        value = 58 * value + DIGITS.index(character)
    payload = value.to_bytes(25, "big")[:21]
    value = int.from_bytes(payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4], "big")
    found = ""
    while value:
        value, digit = divmod(value, 58)
        found = DIGITS[digit] + found
    return "1" + found


def test_hits_are_those_of_one_machine(client) -> None:
    damaged = ADDRESS[:8] + "?" + ADDRESS[9:].lower()
    seen: list[tuple[int, int]] = []
    # Without a limit of accidental hits and without known addresses, the search has no unique hit.
    found = recover_sharded(
        damaged,
        case="lost",
        client=client,
        unique=0,
        shard_seconds=0.01,
        progress=lambda *both: seen.append(both),
    )
    whole = list(hashlane.recover(damaged, case="lost"))
    assert {hit.text: hit for hit in found.hits} == {hit.text: hit for hit in whole}
    assert ADDRESS in {hit.text for hit in found.hits}
    assert found.is_complete
    assert not found.is_unique
    assert found.shards >= 4
    assert seen == [(number, found.shards) for number in range(1, found.shards + 1)]


def test_a_unique_hit_ends_the_search_on_all_workers(client) -> None:
    # The first candidates of the first part.
    address = with_checksum("1L1111111" + ADDRESS[9:])
    assert address[:20] == "1L1111111" + ADDRESS[9:20]
    damaged = "1L???????" + address[9:]
    cost = hashlane.estimate(damaged, kinds=["p2pkh"], case="kept", threads=1)
    assert cost.seconds > 1000
    options = {"kinds": ["p2pkh"], "case": "kept", "shard_seconds": cost.seconds / 8, "client": client}
    found = recover_sharded(damaged, known=[address], **options)
    assert [hit.text for hit in found.hits] == [address]
    assert found.is_unique
    assert not found.is_complete
    assert found.shards >= 4
    wait_until_idle(client)


def wait_until_idle(client: "distributed.Client") -> None:
    """Waits until no worker searches. The searches would take minutes."""
    limit = time.monotonic() + 60
    while any(client.run(lambda dask_worker: len(dask_worker.state.executing)).values()):
        assert time.monotonic() < limit, "workers still search"
        time.sleep(0.1)


def test_errors_are_those_of_one_machine(client) -> None:
    with pytest.raises(ValueError, match="more than 100000 strings fit"):
        recover_sharded(ADDRESS[:-9] + "?????????", kinds=["p2pkh"], case="kept", client=client, unique=0)
    with pytest.raises(ValueError, match="kind \"p2pk\": expected one of"):
        recover_sharded(ADDRESS, kinds=["p2pk"], client=client)
    with pytest.raises(ValueError, match="known: \"1Lbc\" is not an address"):
        recover_sharded(ADDRESS, known=["1Lbc"], client=client)


def test_the_command(client, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    common = ["--scheduler", client.scheduler.address]
    assert command.main(["recover", ADDRESS.lower(), "--kind", "p2pkh", *common]) == 0
    assert capsys.readouterr().out == f"{ADDRESS}  p2pkh, 0 edits\n"
    assert command.main(["recover", ADDRESS.replace("9C", "C9"), "--kind", "p2pkh", "--case", "kept", *common]) == 1
    addresses = tmp_path / "addresses.txt"
    addresses.write_text(f"# mine\n\n {OWNED}\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(KEY[:-3] + "???\n"))
    assert command.main(["recover", "-", "--known", str(addresses), *common]) == 0
    assert capsys.readouterr().out == f"{KEY}  wif-compressed, 0 edits\n"
    assert command.main(["recover", ADDRESS, "--errors", "81", *common]) == 2
    assert "errors 81: expected 0 to 80" in capsys.readouterr().err
