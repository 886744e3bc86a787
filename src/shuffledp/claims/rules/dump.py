"""Rules that decide the claims of the DUMP paper (arXiv 2009.13738)."""

from __future__ import annotations

from collections.abc import Mapping

from shuffledp.claims.case import Rule
from shuffledp.claims.rules import dump_figures, dump_simulated, dump_tables, dump_theory, general
from shuffledp.claims.rules.dump_tables import available

__all__ = ["RULES", "available"]

RULES: Mapping[str, Rule] = {
    **general.RULES,
    **dump_tables.RULES,
    **dump_figures.RULES,
    **dump_simulated.RULES,
    **dump_theory.RULES,
}
"""By the names that ``stated/dump.yaml`` uses."""
