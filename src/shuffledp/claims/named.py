"""Tables of claims by name, as the configuration lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shuffledp.claims.evaluation import check, evaluate
from shuffledp.claims.multi_message import tables

if TYPE_CHECKING:
    import pandas as pd


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
    known = tables(paper)
    if name not in known:
        raise ValueError(
            f"No table {name!r} of claims about {paper!r}. Known: {', '.join(['errata', *known])}."
        )
    return known[name]
