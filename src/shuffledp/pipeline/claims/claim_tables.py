"""Tables of claims by name, as the configuration lists them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Checked tables of the papers, computed on demand: the module in the paper's folder and its function.
TABLES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "random_population": {"table2": ("lower_bounds", "table_two")},
    "dump": {
        "table2": ("computed_tables", "table_two"),
        "table3": ("computed_tables", "table_three"),
        "table4": ("computed_tables", "table_four"),
    },
    "summation": {
        "figure_points": ("computed_tables", "figure_points"),
        "noise_messages": ("computed_tables", "accountings"),
        "designs": ("computed_tables", "designs"),
    },
    "shuffle_gaussian": {
        "table1": ("computed_tables", "table_one"),
        "shuffling_cost": ("computed_tables", "shuffling_cost"),
    },
    "deployments": {"systems": ("computed_tables", "systems"), "sources": ("computed_tables", "sources")},
}
_PAPERS = "shuffledp.pipeline.papers"
_EVALUATION = "shuffledp.pipeline.claims.evaluation"
#: Tables of entries whose witnesses have passed the check.
_EVALUATED = ("errata", "reading_notes")


def table(paper: str, name: str) -> pd.DataFrame:
    """Return a table: ``errata`` or ``reading_notes`` with witnesses, or a checked table of the paper."""
    home, function = (_EVALUATION, "evaluate") if name in _EVALUATED else _known(paper, name)
    make = getattr(import_module(home), function)
    found: pd.DataFrame = make(paper, name, checked=True) if name in _EVALUATED else make()
    return found


def _known(paper: str, name: str) -> tuple[str, str]:
    known = TABLES.get(paper, {})
    if name not in known:
        raise ValueError(
            f"No table {name!r} of claims about {paper!r}. Known: {', '.join([*_EVALUATED, *known])}."
        )
    module, function = known[name]
    return f"{_PAPERS}.{paper}.{module}", function
