"""Rules that decide the claims of the paper on summation with correlated noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shuffledp.pipeline.claims import general_rules
from shuffledp.pipeline.claims.case import Case, Rule
from shuffledp.pipeline.claims.outcomes import CLOSED_FORM, Outcome, Untestable, Verdict
from shuffledp.pipeline.papers.summation import figure_claims, theorem_claims


def single_message(case: Case, users: int, most_extra: float) -> Verdict:
    """Fewer extra messages per user than ``most_extra`` among so many users; in part if that takes more of them."""
    cells = case.cells("users", "correlated_sum")
    messages, extra = cells["messages_per_user"].sort_index(), cells["extra_messages"].sort_index()
    if users not in extra.index:
        raise Untestable(f"the grid of summation.users lacks n = {users:,}")
    at = cells.loc[users]
    falls = bool(np.all(np.diff(extra) < 0))
    outcome: Outcome = "holds" if extra[users] < most_extra else "in part" if falls else "fails"
    trend = "fall" if falls else "do not always fall"
    return Verdict(
        f"{messages[users]:.3g} messages per user (n = {users:,}, D = {at.domain_size - 1:g}, eps = {at.eps:g}, "
        f"delta = {at.delta:g})",
        CLOSED_FORM,
        outcome,
        f"extra messages {trend} from {extra.iloc[0]:.3g} to {extra.iloc[-1]:.2g} over {min(extra.index):,} to "
        f"{max(extra.index):,} users",
    )


RULES: Mapping[str, Rule] = {
    **general_rules.RULES,
    **theorem_claims.RULES,
    **figure_claims.RULES,
    "single_message": single_message,
}
"""By the names that ``stated_claims.yaml`` uses."""
