"""Rules that decide the claims of Wang et al. 2023 (TPDS), random population."""

from __future__ import annotations

from collections.abc import Mapping

from shuffledp.pipeline.claims import general_rules
from shuffledp.pipeline.claims.case import Rule
from shuffledp.pipeline.papers.random_population import (
    amplification_claims,
    dummy_claims,
    error_claims,
    multi_message_claims,
)

RULES: Mapping[str, Rule] = {
    **general_rules.RULES,
    **error_claims.RULES,
    **amplification_claims.RULES,
    **dummy_claims.RULES,
    **multi_message_claims.RULES,
}
"""By the names that ``stated_claims.yaml`` uses."""
