"""The HMACs of Wycheproof: valid tags, and tags that only a careless comparison accepts."""

import json
from pathlib import Path

import hashlane
import pytest

VECTORS = Path(__file__).parents[2] / "crates/sha/tests/vectors/wycheproof"
ALGORITHMS = {"sha1": 170, "sha224": 172, "sha256": 174, "sha384": 174, "sha512": 174, "sha512_256": 175}
LANES = 17
"""More messages than lanes."""


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_macs_of_wycheproof(algorithm: str) -> None:
    with open(VECTORS / f"hmac_{algorithm}_test.json") as file:
        groups = json.load(file)["testGroups"]
    seen = 0
    for group in groups:
        for case in group["tests"]:
            key, message, tag = (bytes.fromhex(case[name]) for name in ("key", "msg", "tag"))
            is_valid = {"valid": True, "invalid": False}[case["result"]]
            macs = hashlane.digest_many([message] * LANES, algorithm, key=key)
            assert macs == macs[:1] * LANES
            assert (macs[0][: group["tagSize"] // 8] == tag) == is_valid, case["tcId"]
            seen += 1
            if algorithm == "sha512_256":
                # Only sets of messages know it.
                continue
            mac = hashlane.hmac_new(key, digestmod=algorithm)
            mac.update(message)
            assert mac.digest() == macs[0] == hashlane.hmac_digest(key, message, algorithm)
            # A shorter tag is no tag.
            assert mac.verify(tag) == (is_valid and len(tag) == mac.digest_size), case["tcId"]
    assert seen == ALGORITHMS[algorithm]
