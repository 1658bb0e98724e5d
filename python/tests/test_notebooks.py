"""The notebooks run from their first cell to their last, and stand without results."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = Path(__file__).parents[1] / "examples/notebooks"


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_cell_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] for cell in cells), "results of cells are not kept"
    nbclient.NotebookClient(notebook, timeout=120).execute()
    shown = [output for cell in cells for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in shown), "no figure"
    errors = [output for output in shown if output.get("name") == "stderr"]
    assert errors == []
