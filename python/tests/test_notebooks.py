"""The notebooks of examples/ run to their end."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert not [cell for cell in book.cells if cell.get("outputs")], "clear the outputs of the notebook"
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    assert all(cell["execution_count"] for cell in book.cells if cell.cell_type == "code")
