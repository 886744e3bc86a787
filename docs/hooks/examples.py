"""Executed code in the pages: the output of a block comes from a run of the block.

A block that begins with ```` ```python run ```` is executed, and its output is shown below it. The output of a block
that begins with ```` ```python run markdown ```` is Markdown; it replaces the block. The blocks of a page run in order
in one namespace, in which ``ROOT`` is the folder of the repository. A test runs the same blocks, with warnings as
errors.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RUN = re.compile(
    r"^```python run(?P<markdown> markdown)?\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


def with_output(text: str, page: str) -> str:
    """Run the code of a page, and insert its output.

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
        output = printed.getvalue().rstrip("\n")
        if match["markdown"]:
            return output
        shown = f"```python\n{match['code']}```"
        return f'{shown}\n\n```text title="prints"\n{output}\n```' if output else shown

    return RUN.sub(one, text)
