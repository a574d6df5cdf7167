"""The capstone of chapter 7 runs on the reader's own file: one that was made by solving everything."""

import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from notebook_tools import unwrapped
from test_library_whole import solve_everything

CHAPTER = Path(__file__).parents[2] / "chapters" / "07_recompute.ipynb"


def shown(cell):
    """The text of all outputs of a cell."""
    outputs = (output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    return unwrapped("".join(outputs))


def test_the_capstone_runs_on_the_functions_of_the_reader(own_file):
    solve_everything()
    notebook = nbformat.read(CHAPTER, as_version=4)
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    chosen = ["imports", "capstone-load", "capstone-layer", "capstone-inputs", "capstone-compare", "own-library-test"]
    notebook.cells = [cells[id] for id in chosen]
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(CHAPTER.parent)}}
    )
    client.execute(env={**os.environ, "ATTNLIB_LIBRARY": str(own_file)})
    _, loaded, _, _, compared, tested = map(shown, notebook.cells)
    assert loaded == "Yours, from my_attention.py: flash_forward, flash_backward, mha, mha_backward."
    assert compared.split().count("yes") == 18 and " no " not in compared
    assert tested.endswith("functions; all pass.") and "not saved yet" not in tested
