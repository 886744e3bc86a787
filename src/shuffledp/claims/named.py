"""Tables of claims by name, as the configuration lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from shuffledp.claims import dump, multi_message, shuffle_gaussian, summation
from shuffledp.claims.evaluation import check, check_notes, evaluate, evaluate_notes

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
    if name == "errata":
        check(paper)
        return evaluate(paper)
    if name == "reading_notes":
        check_notes(paper)
        return evaluate_notes(paper)
    known = TABLES.get(paper, {})
    if name not in known:
        raise ValueError(
            f"No table {name!r} of claims about {paper!r}. Known: {', '.join(['errata', 'reading_notes', *known])}."
        )
    return known[name]()
