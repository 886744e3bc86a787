"""Rules that decide the claims of the DUMP paper (arXiv 2009.13738)."""

from __future__ import annotations

from collections.abc import Mapping

from shuffledp.pipeline.claims import general_rules
from shuffledp.pipeline.claims.case import Rule
from shuffledp.pipeline.papers.dump import comparison_claims, figure_claims, simulated_claims, theorem_claims
from shuffledp.pipeline.papers.dump.comparison_claims import available

__all__ = ["RULES", "available"]

RULES: Mapping[str, Rule] = {
    **general_rules.RULES,
    **comparison_claims.RULES,
    **figure_claims.RULES,
    **simulated_claims.RULES,
    **theorem_claims.RULES,
}
"""By the names that ``stated_claims.yaml`` uses."""
