"""Tables of claims by name, as the configuration lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from shuffledp.claims import dump, multi_message, shuffle_gaussian, summation
from shuffledp.claims.evaluation import check, evaluate

#: Checked tables of the papers: computed when asked for.
TABLES: Mapping[str, Mapping[str, Callable[[], pd.DataFrame]]] = {
    "random_population": {"table2": multi_message.table_two},
    "dump": {"table2": dump.table_two, "table3": dump.table_three, "table4": dump.table_four},
    "summation": {
        "figure_points": summation.figure_points,
        "noise_messages": summation.accountings,
        "designs": summation.designs,
    },
    "shuffle_gaussian": {
        "table1": shuffle_gaussian.table_one,
        "shuffling_cost": shuffle_gaussian.shuffling_cost,
    },
}


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
        check(paper)
        return evaluate(paper)
    known = TABLES.get(paper, {})
    if name not in known:
        raise ValueError(
            f"No table {name!r} of claims about {paper!r}. Known: {', '.join(['errata', *known])}."
        )
    return known[name]()
