"""Tables of claims by name, as the configuration lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module, resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_PAPERS = "shuffledp.pipeline.papers"
_EVALUATION = "shuffledp.pipeline.claims.evaluation"
#: Tables of entries whose witnesses have passed the check.
_EVALUATED = ("errata", "reading_notes")


def table(paper: str, name: str) -> pd.DataFrame:
    """Return ``errata`` or ``reading_notes`` with witnesses, or one of the ``TABLES`` in ``computed_tables.py``."""
    if name in _EVALUATED:
        evaluate: Callable[..., pd.DataFrame] = import_module(_EVALUATION).evaluate
        return evaluate(paper, name, checked=True)
    module = f"{_PAPERS}.{paper}.computed_tables"
    has_module = (resources.files(_PAPERS) / paper / "computed_tables.py").is_file()
    tables: Mapping[str, Callable[[], pd.DataFrame]] = import_module(module).TABLES if has_module else {}
    if name not in tables:
        raise ValueError(
            f"No table {name!r} of claims about {paper!r}. Known: {', '.join([*_EVALUATED, *tables])}."
        )
    return tables[name]()
