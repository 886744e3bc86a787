"""Rules that decide the claims of the paper on segmented privacy."""

from __future__ import annotations

from collections.abc import Mapping

from shuffledp.pipeline.claims import general_rules
from shuffledp.pipeline.claims.case import Rule
from shuffledp.pipeline.papers.segmented import error_claims, theorem_claims

RULES: Mapping[str, Rule] = {**general_rules.RULES, **error_claims.RULES, **theorem_claims.RULES}
"""By the names that ``stated_claims.yaml`` uses."""
