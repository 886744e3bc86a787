"""Code of the pages, run: what a page shows as the output of its code comes from running it.

A block that begins with ```` ```python run ```` is executed, the blocks of a page one after the other in one namespace;
what it prints is shown below it. A test runs the same blocks, with warnings as errors.
"""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

RUN = re.compile(r"^```python run\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def with_output(text: str, page: str) -> str:
    """Run the code of a page and show what it prints.

    Parameters
    ----------
    text : str
        Markdown.
    page : str
        Its name, for the traceback of code that fails.

    Raises
    ------
    Exception
        Whatever the code raises.
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
