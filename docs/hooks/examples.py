"""Executed code in the pages: the output below a block comes from a run of the block.

A block that begins with ```` ```python run ```` is executed, and its output is shown below it. The blocks of a page run
in order in one namespace. A test runs the same blocks, with warnings as errors.
"""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

RUN = re.compile(r"^```python run\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


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
    names: dict[str, Any] = {"__name__": f"page {page}"}

    def one(match: re.Match[str]) -> str:
        printed = io.StringIO()
        line = text.count("\n", 0, match.start()) + 1
        # As many empty lines before it as in the page, so that a traceback has the line of the page.
        code = compile("\n" * line + match["code"], page, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        shown = f"```python\n{match['code']}```"
        output = printed.getvalue().rstrip("\n")
        return f'{shown}\n\n```text title="prints"\n{output}\n```' if output else shown

    return RUN.sub(one, text)
