"""Tables of claims by name, as the configuration lists them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Checked tables of the papers, computed when asked for: the module of this room and its function.
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
    "shuffle_gaussian": {"table1": ("shuffle_gaussian", "table_one")},
}
_HERE = "shuffledp.claims"
_ERRATA = f"{_HERE}.evaluation"


def table(paper: str, name: str) -> pd.DataFrame:
    """Return one table: ``errata`` of the paper with their witnesses, or a checked table of the paper.

    Parameters
    ----------
    paper, name : str
        Keys, for example ``random_population`` and ``table2``.

    Raises
    ------
    ErratumError
        If a witness does not show its erratum.
    ValueError
        If the paper has no such table.
    """
    if name == "errata":
        import_module(_ERRATA).check(paper)
    module, function = (_ERRATA, "evaluate") if name == "errata" else _known(paper, name)
    found: pd.DataFrame = getattr(import_module(module), function)(*([paper] if name == "errata" else []))
    return found


def _known(paper: str, name: str) -> tuple[str, str]:
    known = TABLES.get(paper, {})
    if name not in known:
        raise ValueError(
            f"No table {name!r} of claims about {paper!r}. Known: {', '.join(['errata', *known])}."
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
    if name != "errata":
        return (_known(paper, name)[0],)
    text = resources.files(_HERE) / "errata" / f"{paper}.yaml"
    return _ERRATA, f"{_HERE}.witnesses.{paper}", Path(str(text))
