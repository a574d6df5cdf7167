"""Run a notebook: every cell in a fresh kernel, and in words why that was not possible."""

import os
import subprocess
from pathlib import Path

from tools.notebooks.files import METADATA, NotebookError, need, read, shown

LIMIT = 1800  # seconds for one cell, as in pyproject.toml: for a cell that hangs, not for a busy machine


def execute(path, timeout=LIMIT):
    """Run every cell in a fresh kernel, in the notebook's own folder. Returns the notebook with its new outputs."""
    need("ipykernel")
    nbclient = need("nbclient")
    notebook = read(path)
    notebook.metadata.kernelspec = dict(METADATA["kernelspec"])
    os.environ.setdefault("ATTNLIB_PROGRESS", "off")  # exercises write no file and show no earlier state
    os.environ.setdefault("ATTNLIB_LIBRARY", "off")
    current = {"cell": "before the first cell"}

    def remember(cell, cell_index):
        current["cell"] = f"cell {cell_index + 1} ({cell['id']})"

    client = nbclient.NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=40"],  # no remark about the transport at every start
        resources={"metadata": {"path": str(Path(path).resolve().parent)}},
        on_cell_start=remember,
    )
    try:
        client.execute(stderr=subprocess.DEVNULL)  # a kernel that is stopped complains at length
    except BaseException as error:
        if getattr(client, "_async_cleanup_kernel_future", None) is not None:  # nbclient caught the signal
            raise KeyboardInterrupt from None
        if not isinstance(error, Exception):
            raise
        raise NotebookError(f"{shown(path)}: {why(error, current['cell'], timeout)}") from error
    return notebook


def why(error, cell, timeout):
    """In words, why a notebook could not be run."""
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    if isinstance(error, CellExecutionError):
        return f"{cell} raised {error.ename}: {error.evalue}"
    if isinstance(error, DeadKernelError):
        return f"the kernel died in {cell}"
    if isinstance(error, CellTimeoutError):
        return f"{cell} took longer than {timeout} s"
    if isinstance(error, NoSuchKernel):
        return f"there is no kernel named {error.name!r}; run: pip install ipykernel"
    return f"could not be run, {cell}: {type(error).__name__}: {str(error).strip()}".splitlines()[0]
