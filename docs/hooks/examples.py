"""Executed code in the pages, with its output kept beside it: ``python docs/hooks/examples.py`` writes the outputs.

The output of a block that begins with ```` ```python run ```` is in a block below it. The output of a comment that
begins with ``<!-- python run`` is Markdown between the comment and ``<!-- end -->``; readers see the output alone. The
blocks of a page run in order in one namespace, in which ``ROOT`` is the folder of the repository. A test runs the same
blocks, with warnings as errors, and compares the outputs.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
RUN = re.compile(
    r"^(?:(?P<hidden><!-- )|```)python run\n(?P<code>.*?)^(?(hidden)-->|```)$"
    r"(?(hidden)\n(?:(?!<!-- python run).)*?^<!-- end -->$"
    r"|(?:\n\n```text title=\"prints\"\n.*?^```$)?)",
    re.MULTILINE | re.DOTALL,
)


def with_output(text: str, page: str) -> str:
    """Run the code of a page in an empty folder, 80 characters wide, and replace the kept outputs.

    Parameters
    ----------
    text : str
        Markdown.
    page : str
        Name of the page, for the traceback of failing code.

    Raises
    ------
    Exception
        Any error of the code.
    """
    names: dict[str, Any] = {"__name__": f"page {page}", "ROOT": ROOT}

    def one(match: re.Match[str]) -> str:
        printed = io.StringIO()
        line = text.count("\n", 0, match.start()) + 1
        # As many empty lines before it as in the page, so that a traceback has the line of the page.
        code = compile("\n" * line + match["code"], page, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        output = "\n".join(line.rstrip() for line in printed.getvalue().strip("\n").split("\n"))
        if match["hidden"]:
            return f"<!-- python run\n{match['code']}-->\n\n{output}\n\n<!-- end -->"
        block = f"```python run\n{match['code']}```"
        return f'{block}\n\n```text title="prints"\n{output}\n```' if output else block

    with (
        tempfile.TemporaryDirectory() as empty,
        contextlib.chdir(empty),
        patch.dict(os.environ, COLUMNS="80"),
    ):
        return RUN.sub(one, text)


def shown(text: str, page: str) -> str:
    """Return a page without hidden code and without marks.

    Raises
    ------
    ValueError
        If hidden code has no end mark.
    """

    def one(match: re.Match[str]) -> str:
        if match["hidden"]:
            return match[0].partition("\n-->\n")[2].removesuffix("<!-- end -->").strip("\n")
        return match[0].replace("```python run", "```python", 1)

    plain = RUN.sub(one, text)
    if "python run\n" in plain:
        raise ValueError(f"{page}: hidden code must be followed by <!-- end -->.")
    return plain


def main() -> None:
    """Write the outputs of the pages given as arguments, or of all pages."""
    for path in map(Path, sys.argv[1:] or sorted((ROOT / "docs").rglob("*.md"))):
        text = path.read_text(encoding="utf-8")
        written = with_output(text, path.name)
        if written != text:
            path.write_text(written, encoding="utf-8")
            print(f"{path} changed")


if __name__ == "__main__":
    main()
