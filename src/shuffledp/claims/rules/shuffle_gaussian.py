"""Rules that decide the claims of the paper on the shuffle Gaussian mechanism."""

from __future__ import annotations

from collections.abc import Mapping

from shuffledp.claims.case import Case, Rule
from shuffledp.claims.outcomes import CLOSED_FORM, TIE, Untestable, Verdict, ordering, span
from shuffledp.claims.rules import general, shuffle_gaussian_bounds, shuffle_gaussian_training

ROUNDS = range(2, 8)
"""The columns of Table 1 with composition."""
TERMS = {
    "printed": ("table1", "shuffle_to_order_30", "clones_as_printed", "the terms of Table 1"),
    "exact": (
        *("composition", "shuffle_distance_2", "clones_sensitivity_2"),
        "equal sensitivity and all orders",
    ),
}
"""Experiment, the method, its rival and the terms of comparison. Both are bounds with no accounting of their own."""


def composition(case: Case) -> Verdict:
    """The eps of the method is below that of clones for every number of rounds of Table 1 above 1."""
    experiment, method, rival, terms = TERMS[case.accounting]
    table = case.under("printed")
    ours, theirs = (table.closed_forms(experiment, m) for m in (method, rival))
    ratios = (theirs / ours).dropna()
    ratios = ratios[ratios.index.isin(ROUNDS)]
    if ratios.empty:
        raise Untestable(
            f"the grid of shuffle_gaussian.{experiment} has none of {min(ROUNDS)} to {max(ROUNDS)} rounds"
        )
    wins, losses = int((ratios > 1 + TIE).sum()), int((ratios < 1 - TIE).sum())
    return Verdict(
        f"{span(ratios)} times tighter",
        CLOSED_FORM,
        ordering(wins, losses),
        f"on {terms} the eps of clones is larger at {wins} of {len(ratios)} numbers of rounds",
    )


RULES: Mapping[str, Rule] = {
    **general.RULES,
    **shuffle_gaussian_bounds.RULES,
    **shuffle_gaussian_training.RULES,
    "composition": composition,
}
"""By the names that ``stated/shuffle_gaussian.yaml`` uses."""
