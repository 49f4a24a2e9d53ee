"""The examples in the documentation of the package."""

import doctest
import importlib
import pkgutil

import hashlane
import pytest

MODULES = [module.name for module in pkgutil.iter_modules(hashlane.__path__, "hashlane.")]


@pytest.mark.parametrize("name", ["hashlane", *MODULES])
def test_examples_print_what_they_show(name: str) -> None:
    if name == "hashlane._torrents":
        pytest.importorskip("tqdm")
        pytest.importorskip("rich")
    module = importlib.import_module(name)
    failures, _ = doctest.testmod(module)
    assert failures == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    modules = [importlib.import_module(name) for name in MODULES if name != "hashlane.dask"]
    assert sum(len(test.examples) for module in modules for test in finder.find(module)) > 10
