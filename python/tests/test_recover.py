"""Recovery of damaged strings."""

import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import hashlane
import pytest

ADDRESS = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71"
# The private key 1, whose address is known to everybody.
KEY = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn"
# A search of hours: five unknown characters, and lost letter case.
LONG = "hashlane.recover('?????' + '" + KEY[5:] + "', case='lost', kinds=['wif-compressed'])"


def texts(text: str, **options: object) -> list[str]:
    recovery = hashlane.recover(text, **options)  # type: ignore[arg-type]
    found = [hit.text for hit in recovery]
    assert recovery.is_complete
    assert list(recovery) == []
    return found


@pytest.mark.parametrize(
    ("damaged", "options"),
    [
        (ADDRESS, {}),
        (ADDRESS.lower(), {}),
        (f"bitcoin:{ADDRESS}?amount=1", {}),
        (ADDRESS.replace("o", "?").replace("Z", "[xyZ]"), {}),
        (ADDRESS.replace("8", "B"), {"glyphs": True, "case": "kept"}),
        (ADDRESS.replace("9C", "C9"), {"errors": 1}),
        (ADDRESS[:10] + ADDRESS[11:], {"errors": 1, "threads": 1}),
    ],
)
def test_an_address_is_recovered(damaged: str, options: dict[str, object]) -> None:
    assert texts(damaged, kinds=["p2pkh"], **options) == [ADDRESS]


def test_options_limit_the_search() -> None:
    other_case = ADDRESS.replace("bcf", "bCf")
    assert texts(other_case, kinds=["p2pkh"], case="kept") == []
    assert texts(other_case, kinds=["p2pkh"], case="lost") == [ADDRESS]
    assert texts(ADDRESS, kinds=["p2sh"]) == []
    (mismatch,) = hashlane.estimate(ADDRESS, kinds=["p2sh"]).mismatches
    assert mismatch.startswith("character 1 does not fit: p2sh ")


def test_a_search_widens_by_itself() -> None:
    # Two characters are swapped, and another one looks like the right one.
    damaged = ADDRESS.replace("9C", "C9")
    recovery = hashlane.recover(damaged, kinds=["p2pkh"])
    assert [hit.text for hit in recovery] == [ADDRESS]
    assert recovery.tried[0] == hashlane.Damage(case_lost=False, glyphs=False, errors=0)
    assert recovery.tried[-1].errors == 1
    (hit,) = hashlane.recover(ADDRESS.replace("8", "B"), kinds=["p2pkh"])
    assert hit.text == ADDRESS
    # Three characters are wrong, and no search is for more than two.
    wrong = ADDRESS.replace("f", "x").replace("Q", "z").replace("V", "2")
    nothing = hashlane.recover(wrong, kinds=["p2pkh"], max_time=2)
    assert list(nothing) == []
    assert len(nothing.tried) >= 2
    with pytest.raises(ValueError, match="max_time: 0.0 s remain, and the search takes"):
        hashlane.recover(ADDRESS.lower(), kinds=["p2pkh"], max_time=0)
    with pytest.raises(ValueError, match=r"max_time: \d.\d s remain, and the search takes \d{4}"):
        hashlane.recover("?????" + KEY[5:], case="lost", kinds=["wif-compressed"], max_time=1)


def test_a_search_ends_with_its_time() -> None:
    # An estimate of a search for two errors is a lower bound: the search starts, and ends when the time is over.
    recovery = hashlane.recover("x" + ADDRESS[4:].lower(), kinds=["p2pkh"], max_time=0.3)
    found = list(recovery)
    assert len(found) < 2
    assert hashlane.Damage(case_lost=True, glyphs=True, errors=2) not in recovery.tried


def test_facts_rule_out_hits() -> None:
    damaged = KEY[:-2] + "??"
    owned = "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH"
    witness = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
    public = bytes.fromhex("751e76e8199196d454941c45d1b3a323f1433bd6")
    for facts in ({"known": [ADDRESS, owned]}, {"known": [witness]}, {"pubkey_hash": public}, {"prefix": "KwDiBf"}):
        assert texts(damaged, kinds=["wif-compressed"], **facts) == [KEY]
    for facts in ({"known": [ADDRESS]}, {"known": []}, {"pubkey_hash": bytes(20)}, {"prefix": "L"}):
        assert texts(damaged, kinds=["wif-compressed"], case="kept", **facts) == []
        assert texts(KEY, kinds=["wif-compressed"], case="kept", **facts) == []
    assert texts(witness, known=[witness]) == [witness]
    assert texts(witness, known=[ADDRESS]) == []
    with pytest.raises(ValueError, match="known: \"1Lbc\" is not an address"):
        hashlane.recover(ADDRESS, known=["1Lbc"])
    with pytest.raises(ValueError, match="pubkey_hash has 3 bytes, expected 20"):
        hashlane.recover(ADDRESS, pubkey_hash=b"abc")


def test_a_custom_kind() -> None:
    kind = hashlane.CustomKind(21, b"\0")
    (hit,) = hashlane.recover(ADDRESS[:-1] + "?", kinds=[kind])
    assert (hit.text, hit.kind) == (ADDRESS, "custom")
    assert hashlane.estimate(ADDRESS[:-1] + "?", kinds=[kind]).candidates == 58
    assert texts(ADDRESS[:-1] + "?", kinds=[hashlane.CustomKind(21, b"\1")]) == []
    for wrong, message in (
        (hashlane.CustomKind(45), "payload_len 45: expected 1 to 44 bytes"),
        (hashlane.CustomKind(21, alphabet="flickr"), "alphabet \"flickr\": expected"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=message):
            hashlane.recover(ADDRESS, kinds=[wrong])


def test_shards_are_the_whole_search_once() -> None:
    damaged = ADDRESS[:8] + "?" + ADDRESS[9:].lower()
    whole = sorted(texts(damaged, case="lost"))
    parts = [texts(damaged, case="lost", shard=(number, 5)) for number in range(1, 6)]
    assert sorted(text for part in parts for text in part) == whole
    assert ADDRESS in whole
    # A text that needs no search is a hit of one part.
    assert [texts(ADDRESS, shard=(number, 2)) for number in (1, 2)] == [[ADDRESS], []]
    for shard in ((0, 2), (3, 2), (1, 0)):
        with pytest.raises(ValueError, match="expected a part such as"):
            hashlane.recover(ADDRESS, shard=shard)


def test_witness_addresses_are_repaired_without_a_search() -> None:
    whole = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
    (hit,) = hashlane.recover(whole.replace("vary", "varv"))
    assert (hit.text, hit.kind, hit.edits) == (whole, "witness", 1)
    assert hashlane.estimate(whole).seconds == 0.0


def test_texts_with_other_checksums() -> None:
    whole = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
    (hit,) = hashlane.recover(whole[:-1] + "e")
    assert (hit.text, hit.kind, hit.edits) == (whole, "Ethereum address (EIP-55)", 1)
    estimate = hashlane.estimate(whole, errors=1)
    assert estimate.candidates > 1800
    assert 0 < estimate.accidental_hits < 0.2
    with pytest.raises(ValueError, match="carries no checksum"):
        hashlane.recover(whole.lower())
    (hit,) = hashlane.recover("npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptq")
    assert (hit.text[-4:], hit.is_secret) == ("jptg", False)


def test_no_text_of_a_private_key_is_shown() -> None:
    damaged = KEY[:-2] + "??"
    recovery = hashlane.recover(damaged, kinds=["wif-compressed"])
    (hit,) = recovery
    assert (hit.text, hit.is_secret, hit.kind, hit.edits) == (KEY, True, "wif-compressed", 0)
    assert hit.addresses["p2pkh"] == "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH"
    assert pickle.loads(pickle.dumps(hit)) == hit
    estimate = hashlane.estimate(damaged)
    for shown in (repr(hit), str(hit), repr(recovery), repr(estimate), repr([hit])):
        assert KEY[5:15] not in shown
    (address,) = hashlane.recover(ADDRESS)
    assert ADDRESS in repr(address)


@pytest.mark.parametrize(
    "damaged", [KEY + KEY[::-1], KEY[:20] + "[" + KEY[20:], f"{KEY} {KEY[::-1]}"]
)
def test_errors_do_not_contain_the_text(damaged: str) -> None:
    for function in (hashlane.recover, hashlane.estimate):
        with pytest.raises(ValueError) as caught:
            function(damaged)
        assert KEY[25:35] not in str(caught.value)


def test_a_character_of_no_string_is_an_unknown_one() -> None:
    assert [hit.text for hit in hashlane.recover(KEY.replace("7", "\u20ac"), kinds=["wif-compressed"])] == [KEY]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["p2pk"]}, 'kind "p2pk": expected one of p2pkh, p2sh, '),
        ({"case": "upper"}, "case 'upper': expected 'auto', 'lost' or 'kept'"),
        ({"errors": 81}, "errors 81: expected 0 to 80"),
        ({"threads": 0}, "threads must be 1 or more"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    for function in (hashlane.recover, hashlane.estimate):
        with pytest.raises(ValueError) as caught:
            function(ADDRESS, **options)  # type: ignore[operator]
        assert str(caught.value).startswith(message)


def test_too_many_hits_are_an_error() -> None:
    with pytest.raises(ValueError, match="more than 100000 strings fit"):
        list(hashlane.recover(ADDRESS[:-9] + "?????????", kinds=["p2pkh"]))


def test_an_estimate_counts_candidates() -> None:
    cost = hashlane.estimate(ADDRESS[:-2] + "??", kinds=["p2pkh"], threads=2)
    assert cost.candidates == 58**2
    assert cost.kinds == ("p2pkh",)
    assert cost.threads == 2
    assert not cost.is_lower_bound
    assert cost.accidental_hits == pytest.approx(58**2 / 2**32)
    whole = hashlane.estimate(KEY.lower(), errors=2)
    assert whole.is_lower_bound
    assert whole.seconds > 3600


def test_progress_is_reported_until_the_end() -> None:
    seen: list[tuple[int, int | None]] = []
    found = list(
        hashlane.recover(
            ADDRESS.lower(), kinds=["p2pkh"], progress=lambda done, total: seen.append((done, total)), errors=0
        )
    )
    assert [hit.text for hit in found] == [ADDRESS]
    assert seen[-1][0] == seen[-1][1]


def test_a_search_ends_when_it_is_cancelled() -> None:
    options = {"case": "lost", "kinds": ["wif-compressed"]}
    event = threading.Event()
    by_event = hashlane.recover("?????" + KEY[5:], cancel=event, **options)  # type: ignore[arg-type]
    event.set()
    assert len(list(by_event)) < 100_000
    assert not by_event.is_complete
    with hashlane.recover("?????" + KEY[5:], **options) as recovery:  # type: ignore[arg-type]
        recovery.cancel()
        assert len(list(recovery)) < 100_000
    assert not recovery.is_complete


def test_an_exception_of_the_progress_ends_the_search() -> None:
    def fail(done: int, total: int | None) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        list(hashlane.recover("?????" + KEY[5:], case="lost", kinds=["wif-compressed"], progress=fail))


@pytest.mark.parametrize("work", [f"list({LONG})", f"hashlane.recover({KEY.lower()!r}, errors=2)", f"next({LONG})"])
def test_ctrl_c_ends_a_search(work: str) -> None:
    """The preparation of a search, and the wait for a hit, end with KeyboardInterrupt."""
    code = f"""
        import hashlane, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def work():
            while True:
                {work}
        print("ready", flush=True)
        try:
            # CPython 3.11 does not catch what is raised between two rounds of a loop at the start of a try.
            work()
        except KeyboardInterrupt:
            print("interrupted", threading.active_count())
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        process.wait(0.3)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    try:
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert output == "interrupted 1\n"
