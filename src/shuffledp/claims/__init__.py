"""What the papers state, as data, and functions that test it.

Errata are kept in one YAML file per paper. Each names a function that computes, from the accounting
functions, the number that the printed form gives and the number that is right; the condition under which the
two demonstrate the erratum is evaluated by machine. Tables of a paper that hold formulas are checked as a whole
(:data:`TABLES`).
"""

from typing import TYPE_CHECKING

from shuffledp.doors import door

if TYPE_CHECKING:
    from shuffledp.claims.comparisons import (
        budget_gaps,
        checkin_gaps,
        dummy_gaps,
        gradient_gaps,
        safety_margins,
        variance_gaps,
    )
    from shuffledp.claims.errata_data import EFFECTS, Erratum, ErratumError, errata, papers
    from shuffledp.claims.evaluation import check, evaluate, markdown_table
    from shuffledp.claims.multi_message import multi_gaps, table_two
    from shuffledp.claims.named import TABLES, table
    from shuffledp.claims.witness import Witness
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "EFFECTS",
    "TABLES",
    "Erratum",
    "ErratumError",
    "Witness",
    "budget_gaps",
    "check",
    "checkin_gaps",
    "dummy_gaps",
    "errata",
    "evaluate",
    "gradient_gaps",
    "markdown_table",
    "multi_gaps",
    "papers",
    "safety_margins",
    "table",
    "table_two",
    "variance_gaps",
]
