"""CPython's own tests of hashlib and hmac."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def test_the_tests_of_cpython_pass() -> None:
    if importlib.util.find_spec("test.test_hashlib") is None:
        assert os.environ.get("HASHLANE_TEST_REQUIRE_CPYTHON") != "1", "the tests of CPython are not installed"
        pytest.skip("the tests of CPython are not installed; apt-get install libpython3-testsuite")
    suite = Path(__file__).with_name("cpython_suite.py")
    run = subprocess.run([sys.executable, suite], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    ran = re.search(r"^ran (\d+), skipped (\d+)$", run.stdout, re.MULTILINE)
    assert ran is not None
    assert int(ran[1]) >= 50, run.stdout
