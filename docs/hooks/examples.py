"""Executed code in the pages: the site has the outputs, and the files of the pages have the code alone.

The output of a block that begins with ```` ```python run ```` is shown below it. A comment that begins with
``<!-- python run``, with the line `NOTE` behind it, is replaced by its output, which is Markdown. The blocks of a page
run in order in one namespace, in which ``ROOT`` is the folder of the repository. A test runs the same blocks, with
warnings as errors.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
#: Line behind hidden code, for readers of the file.
NOTE = "*The site of `make docs` shows the result here.*"
RUN = re.compile(
    r"^(?:(?P<hidden><!-- )|```)python run\n(?P<code>.*?)^(?(hidden)-->\n\n"
    + re.escape(NOTE)
    + r"|```)$",
    re.MULTILINE | re.DOTALL,
)


def with_output(text: str, page: str) -> str:
    """Run the code of a page in an empty folder, 80 characters wide, and insert the outputs.

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
    ValueError
        If a block has no end.
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
            return output
        block = f"```python\n{match['code']}```"
        return f'{block}\n\n```text title="prints"\n{output}\n```' if output else block

    with (
        tempfile.TemporaryDirectory() as empty,
        contextlib.chdir(empty),
        patch.dict(os.environ, COLUMNS="80"),
    ):
        page_text = RUN.sub(one, text)
    if "python run\n" in page_text:
        raise ValueError(f"{page}: hidden code must be followed by an empty line and {NOTE!r}.")
    return page_text
