"""Tables of claims by name, as the configuration lists them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Checked tables of the papers, computed when asked for: the module of this package and its function.
TABLES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "random_population": {"table2": ("multi_message", "table_two")},
    "dump": {
        "table2": ("dump", "table_two"),
        "table3": ("dump", "table_three"),
        "table4": ("dump", "table_four"),
    },
    "summation": {
        "figure_points": ("summation", "figure_points"),
        "noise_messages": ("summation", "accountings"),
        "designs": ("summation", "designs"),
    },
    "shuffle_gaussian": {
        "table1": ("shuffle_gaussian", "table_one"),
        "shuffling_cost": ("shuffle_gaussian", "shuffling_cost"),
    },
    "deployments": {"systems": ("deployments", "systems"), "sources": ("deployments", "sources")},
}
_HERE = "shuffledp.pipeline.claims"
_EVALUATION = f"{_HERE}.evaluation"
#: Tables of what the papers say and of how they were read, whose witnesses have passed the check.
_EVALUATIONS = {"errata": "checked_errata", "reading_notes": "checked_notes"}


def table(paper: str, name: str) -> pd.DataFrame:
    """Return one table: ``errata`` or ``reading_notes`` with their witnesses, or a checked table of the paper.

    Parameters
    ----------
    paper, name : str
        Keys, for example ``random_population`` and ``table2``.

    Raises
    ------
    ErratumError
        If a witness does not show its erratum or note.
    ValueError
        If the paper has no such table.
    """
    evaluation = _EVALUATIONS.get(name)
    if evaluation is not None:
        found: pd.DataFrame = getattr(import_module(_EVALUATION), evaluation)(paper)
        return found
    home, function = _known(paper, name)
    checked: pd.DataFrame = getattr(import_module(home), function)()
    return checked


def _known(paper: str, name: str) -> tuple[str, str]:
    known = TABLES.get(paper, {})
    if name not in known:
        raise ValueError(
            f"No table {name!r} of claims about {paper!r}. Known: {', '.join(['errata', 'reading_notes', *known])}."
        )
    module, function = known[name]
    return f"{_HERE}.{module}", function


def entries(paper: str, name: str) -> tuple[str | Path, ...]:
    """Return the modules and files that `table` chooses by name, where the code of its job begins.

    Parameters
    ----------
    paper, name : str
        As for `table`.

    Raises
    ------
    ValueError
        If the paper has no such table.
    """
    if name not in _EVALUATIONS:
        return (_known(paper, name)[0],)
    text = resources.files(_HERE) / "errata" / f"{paper}.yaml"
    return _EVALUATION, f"{_HERE}.witnesses.{paper}", Path(str(text))
