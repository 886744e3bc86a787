"""Rules that decide the claims of Luo, Wang, Xu, Yang: DUMP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from shuffledp.claims.case import Case, Rule
from shuffledp.claims.outcomes import CLOSED_FORM, TIE, Untestable, Verdict, ordering, span
from shuffledp.claims.rules import general


def available(case: Case, experiment: str, methods: Sequence[str]) -> dict[str, pd.Series[float]]:
    """Closed forms of those methods that have one under the accounting: both sides of a ratio have the same.

    Raises
    ------
    Untestable
        If none has.
    """
    found = {}
    for method in methods:
        try:
            found[method] = case.closed_forms(experiment, method)
        except Untestable:
            continue
    if not found:
        raise Untestable(
            f"nothing to compare with in {case.claim.paper}.{experiment} with {case.accounting} accounting"
        )
    return found


def lowest_error(case: Case, experiments: Sequence[str], of: str, rivals: Sequence[str]) -> Verdict:
    """The error of a method is below that of every rival, at all points where one of them is feasible."""
    leads = pd.concat([_leads(case, experiment, of, rivals) for experiment in experiments])
    wins, losses = int((leads > 1 + TIE).sum()), int((leads < 1 - TIE).sum())
    ties = len(leads) - wins - losses
    rest = [f"{how} at {count}" for how, count in (("tied", ties), ("not lowest", losses)) if count]
    return Verdict(
        ", ".join([f"lowest at {wins} of {len(leads)} points", *rest]),
        CLOSED_FORM,
        ordering(wins, losses),
        f"the best existing protocol has {span(leads)} times the error",
    )


def _leads(case: Case, experiment: str, of: str, rivals: Sequence[str]) -> pd.Series[float]:
    """The lowest error among the rivals over that of the method, where one of them is feasible."""
    ours = case.closed_forms(experiment, of)
    found = available(case, experiment, rivals)
    best = pd.concat([values.reindex(ours.index) for values in found.values()], axis=1).min(axis=1)
    return (best / ours).dropna()


RULES: Mapping[str, Rule] = {**general.RULES, "lowest_error": lowest_error}
"""By the names that ``stated/dump.yaml`` uses."""
