"""Run the notebooks and keep what they show: ``make notebooks``.

    python notebooks/execute.py results/notebooks notebooks/tour.ipynb ...

Each runs from top to bottom in an empty folder, with the packages of this environment; one that fails leaves nothing
behind.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from traitlets import default

SECONDS_PER_CELL = 120  # about ten times what the slowest cell takes alone


class ThisEnvironment(AsyncKernelManager):
    """Knows one kernel only: ipykernel's own, run by the interpreter that runs this.

    Without folders to search, a kernel called python3 that somebody registered elsewhere cannot step in.
    """

    @default("kernel_spec_manager")
    def _only_the_native_kernel(self) -> KernelSpecManager:
        return KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run all cells in a folder, and store what they give in the notebook.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell fails.
    """
    NotebookClient(
        notebook,
        kernel_manager_class=ThisEnvironment,
        kernel_name="python3",
        timeout=SECONDS_PER_CELL,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--IPKernelApp.log_level=40"],  # no word about TCP on this machine itself
    ).execute()


def main(target: Path, paths: list[Path]) -> None:
    """Run notebooks and write them with what they show."""
    target.mkdir(parents=True, exist_ok=True)
    for path in paths:
        print(f"{path.name} ...", flush=True)
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as empty:
            execute(notebook, Path(empty))
        unfinished = target / f".{path.name}.unfinished"
        nbformat.write(notebook, unfinished)
        unfinished.replace(target / path.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
