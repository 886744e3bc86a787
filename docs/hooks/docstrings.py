"""Extension of the docstring reader that converts docstrings to Markdown, the format of the pages."""

from __future__ import annotations

import sys
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from griffe import Extension, Module, Object, Parameters

sys.path.append(str(Path(__file__).parent))  # loaded by its path alone
from markup import as_markdown

from shuffledp.comparison import options as comparison_options


class MarkdownDocstrings(Extension):
    """Extension that rewrites every docstring of the package after loading."""

    def on_package(self, *, pkg: Module, **kwargs: Any) -> None:
        """Rewrite the docstrings of a package and all its members."""
        self._rewrite(pkg)
        for function, options in (
            ("comparing.compare", "Options"),
            ("simulating.simulate", "BatchOptions"),
        ):
            fields = pkg[
                f"comparison.options.{options}"
            ].parameters  # of the decorator `with_arguments_of`
            for name, parameter in signature(
                getattr(comparison_options, options)
            ).parameters.items():
                fields[name].default = (
                    None if parameter.default is Parameter.empty else repr(parameter.default)
                )
            pkg[f"comparison.{function}"].parameters = Parameters(*list(fields)[1:])

    def _rewrite(self, found: Object) -> None:
        if found.docstring is not None:
            found.docstring.value = as_markdown(found.docstring.value)
        for member in found.members.values():
            if not member.is_alias:
                self._rewrite(member)
