"""Rules that decide the claims of the paper on the shuffle Gaussian mechanism."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from shuffledp.pipeline.claims import general_rules
from shuffledp.pipeline.claims.case import Case, Rule
from shuffledp.pipeline.claims.outcomes import CLOSED_FORM, TIE, Untestable, Verdict, ordering, span
from shuffledp.pipeline.papers.shuffle_gaussian import divergence_claims, training_claims
from shuffledp.pipeline.papers.shuffle_gaussian.training_claims import assumed

ROUNDS = range(2, 8)
"""The columns of Table 1 with composition."""
TERMS = {
    "printed": ("table1", {"shuffle_to_order_30": "clones_as_printed"}, "the terms of Table 1"),
    "exact": (
        "composition",
        {"shuffle_distance_2": "clones_sensitivity_2", "shuffle_distance_1": "clones_sensitivity_1"},
        "equal sensitivity (2, then 1) and all orders",
    ),
}
"""Experiment, the method with its rival, and the terms of comparison. Each has no accounting of its own."""


def composition(case: Case) -> Verdict:
    """The eps of the method is below that of clones for every number of rounds of Table 1 above 1."""
    experiment, pairs, terms = TERMS[case.accounting]
    table = case.under("printed")
    parts = []
    for method, rival in pairs.items():
        ours, theirs = (table.closed_forms(experiment, m) for m in (method, rival))
        ratios = (theirs / ours).dropna()
        parts.append(ratios[ratios.index.isin(ROUNDS)])
    every = pd.concat(parts)
    if every.empty:
        raise Untestable(
            f"the grid of shuffle_gaussian.{experiment} has none of {min(ROUNDS)} to {max(ROUNDS)} rounds"
        )
    wins, losses = int((every > 1 + TIE).sum()), int((every < 1 - TIE).sum())
    found = Verdict(
        f"{', '.join(map(span, parts))} times smaller",
        CLOSED_FORM,
        ordering(wins, losses),
        f"on {terms} the eps of clones is larger at {wins} of {len(every)} points",
    )
    return assumed(found) if found.verdict == "holds" else found


RULES: Mapping[str, Rule] = {
    **general_rules.RULES,
    **divergence_claims.RULES,
    **training_claims.RULES,
    "composition": composition,
}
"""By the names that ``stated_claims.yaml`` uses."""
