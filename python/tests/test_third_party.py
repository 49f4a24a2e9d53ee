"""Tests of other packages, with hashlane in the place of hashlib."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = {
    # Signatures, whose hashes are constructors that callers pass, and its HMACs.
    "ecdsa": [
        "--pyargs",
        "ecdsa.test_malformed_sigs",
        "ecdsa.test_sha3",
        "ecdsa.test_rw_lock",
        "ecdsa.test_keys",
        "ecdsa.test_eddsa",
    ],
}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_uses_hashlane_as_hashlib(package: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    argv = [sys.executable, Path(__file__).with_name("third_party.py"), package, *PACKAGES[package]]
    run = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    used = re.search(r"^hashlane in the place of hashlib in (\d+) modules", run.stdout, re.MULTILINE)
    assert used is not None
    assert int(used[1]) > 0
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed is not None
    assert int(passed[1]) > 50, run.stdout
