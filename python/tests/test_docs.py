"""The examples in the documentation of the package: they print what they show, and type checkers accept them."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import hashlane
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = [module.name for module in pkgutil.iter_modules(hashlane.__path__, "hashlane.")]
NEEDED = {
    "hashlane._torrents": ["tqdm", "rich"],
    "hashlane._columns": ["pyarrow"],
    "hashlane.polars": ["polars", "pyarrow"],
    "hashlane.dask": ["distributed"],
}


@pytest.mark.parametrize("name", ["hashlane", *MODULES])
def test_examples_print_what_they_show(name: str) -> None:
    for needed in NEEDED.get(name, []):
        pytest.importorskip(needed)
    module = importlib.import_module(name)
    failures, _ = doctest.testmod(module)
    assert failures == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    modules = [importlib.import_module(name) for name in MODULES if name not in ("hashlane.dask", "hashlane.polars")]
    assert sum(len(test.examples) for module in modules for test in finder.find(module)) > 10


@pytest.mark.parametrize("version", ["3.11", "3.14"])
@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md"])
def test_type_checkers_accept_the_examples(page: str, version: str, tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    examples = doctest.DocTestParser().get_examples((ROOT / page).read_text())
    # What raises an exception would end the code that is checked.
    source = "".join(example.source for example in examples if example.exc_msg is None)
    assert source.count("hashlane.") > 2
    (tmp_path / "examples.py").write_text(source)
    # Packages without types are the business of others.
    argv = ["-m", "mypy", "--python-version", version, "--ignore-missing-imports", "--cache-dir", tmp_path / "cache"]
    run = subprocess.run(
        [sys.executable, *argv, "examples.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
