"""Notebooks as pages: text, code, and the output of a run."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class NotebookError(RuntimeError):
    """Error of a notebook that was not run or has changed since its run."""


@dataclass
class NotebookPage:
    """Page of a notebook, with its pictures by file name."""

    text: str = ""
    pictures: dict[str, bytes] = field(default_factory=dict)


def notebook_page(written: Path, executed: Path) -> NotebookPage:
    """Return the page of a notebook.

    Parameters
    ----------
    written : Path
        Stored notebook, without outputs.
    executed : Path
        Same notebook after a run.

    Raises
    ------
    NotebookError
        If the notebook was not run, or other cells were run.
    """
    if not executed.exists():
        raise NotebookError(f"{executed} does not exist: run `make notebooks`.")
    cells = _cells(executed)
    if [_source(cell) for cell in cells] != [_source(cell) for cell in _cells(written)]:
        raise NotebookError(
            f"{executed} is a run of other cells than {written} has: run `make notebooks`."
        )
    page = NotebookPage()
    page.text = (
        "\n\n".join(part for cell in cells for part in _parts(cell, written.stem, page.pictures))
        + "\n"
    )
    return page


def _cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def _source(cell: Mapping[str, Any]) -> str:
    return "".join(cell["source"]).rstrip()


def _parts(cell: Mapping[str, Any], name: str, pictures: dict[str, bytes]) -> Iterator[str]:
    if cell["cell_type"] == "markdown":
        yield _source(cell)
        return
    yield f"```python\n{_source(cell)}\n```"
    for number, output in enumerate(cell["outputs"]):
        if output["output_type"] == "stream":
            yield _printed("".join(output["text"]))
            continue
        data = output.get("data", {})
        if "image/png" in data:
            file = f"{name}-{cell['id']}-{number}.png"
            pictures[file] = base64.b64decode("".join(data["image/png"]))
            yield f"![Figure of the cell {cell['id']}]({file})"
        elif "text/html" in data:
            yield _table("".join(data["text/html"]))
        else:
            yield _printed("".join(data["text/plain"]))


def _printed(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def _table(html: str) -> str:
    """Return a pandas table without its style, in one block for Markdown."""
    bare = re.sub(r"<style.*?</style>\s*", "", html, flags=re.DOTALL)
    bare = re.sub(r' (border|style|class)="[^"]*"', "", bare)
    return (
        '<div class="output">\n'
        + "\n".join(line for line in bare.splitlines() if line.strip())
        + "\n</div>"
    )
