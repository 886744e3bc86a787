"""Rules that decide the claims of the paper on segmented privacy."""

from __future__ import annotations

from collections.abc import Mapping

from shuffledp.claims.case import Rule
from shuffledp.claims.rules import general, segmented_errors, segmented_theory

RULES: Mapping[str, Rule] = {**general.RULES, **segmented_errors.RULES, **segmented_theory.RULES}
"""By the names that ``stated/segmented.yaml`` uses."""
