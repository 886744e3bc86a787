"""Extension of the docstring reader that converts docstrings to Markdown, the format of the pages."""

from __future__ import annotations

import sys
from inspect import Parameter, signature
from itertools import takewhile
from pathlib import Path
from typing import Any

from griffe import Docstring, Extension, Module, Object, Parameters

sys.path.append(str(Path(__file__).parent))  # loaded by its path alone
from markup import as_markdown

from shuffledp.comparison.options import BatchOptions, Options
from shuffledp.comparison.simulating_ranges import RangeOptions


class MarkdownDocstrings(Extension):
    """Extension that rewrites every docstring of the package after loading."""

    def on_package(self, *, pkg: Module, **kwargs: Any) -> None:
        """Rewrite the docstrings of a package and all its members."""
        self._rewrite(pkg)
        for function, options in (
            ("comparing.compare", Options),
            ("simulating.simulate", BatchOptions),
            ("simulating_ranges.simulate_ranges", RangeOptions),
        ):
            place = f"{options.__module__}.{options.__qualname__}".removeprefix(f"{pkg.name}.")
            fields = pkg[place].parameters  # of the decorator `with_arguments_of`
            for name, parameter in signature(options).parameters.items():
                fields[name].default = (
                    None if parameter.default is Parameter.empty else repr(parameter.default)
                )
            pkg[f"comparison.{function}"].parameters = Parameters(*list(fields)[1:])

    def _rewrite(self, found: Object) -> None:
        if found.docstring is None and found.is_attribute and found.parent.is_class:
            found.docstring = comment_above(found)
        if found.docstring is not None:
            found.docstring.value = as_markdown(found.docstring.value)
        for member in found.members.values():
            if not member.is_alias:
                self._rewrite(member)


def comment_above(found: Object) -> Docstring | None:
    """Return the lines `#:` above a class variable as its docstring; griffe does not read them."""
    above = reversed(found.lines_collection[found.filepath][: found.lineno - 1])
    lines = list(takewhile(lambda line: line.startswith("#:"), map(str.strip, above)))
    text = "\n".join(line.removeprefix("#:").strip() for line in reversed(lines))
    return Docstring(text, parent=found) if text else None
