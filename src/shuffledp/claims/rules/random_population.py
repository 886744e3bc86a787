"""Rules that decide the claims of Wang et al. 2023 (TPDS), random population."""

from __future__ import annotations

from collections.abc import Mapping

from shuffledp.claims.case import Rule
from shuffledp.claims.rules import (
    general,
    random_population_bounds,
    random_population_dummies,
    random_population_errors,
    random_population_multi,
)

RULES: Mapping[str, Rule] = {
    **general.RULES,
    **random_population_errors.RULES,
    **random_population_bounds.RULES,
    **random_population_dummies.RULES,
    **random_population_multi.RULES,
}
"""By the names that ``stated/random_population.yaml`` uses."""
