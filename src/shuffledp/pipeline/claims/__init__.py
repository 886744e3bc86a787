"""What the papers state, as data, and functions that test it.

Errata are kept in one YAML file per paper, each with the words of the paper that it is about. Each names a function
that computes, from the accounting functions, the number that the printed form gives and the number that is right; the
condition under which the two demonstrate the erratum is evaluated by machine. What was inferred, reconstructed or read
off a figure is a reading note, kept in a list of its own. Tables of a paper that hold formulas are checked as a whole
(:data:`TABLES`).
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.pipeline.claims.claim_tables import TABLES, table
    from shuffledp.pipeline.claims.errata_data import (
        EFFECTS,
        Erratum,
        ErratumError,
        Findings,
        ReadingNote,
        Withdrawn,
        errata,
        findings,
        papers,
        reading_notes,
    )
    from shuffledp.pipeline.claims.evaluation import evaluate, markdown_table
    from shuffledp.pipeline.claims.quotes import missing_quotes
    from shuffledp.pipeline.claims.review import VERDICTS, verdicts
    from shuffledp.pipeline.claims.witness import Witness
    from shuffledp.pipeline.papers.random_population.multi_message_gaps import multi_gaps, table_two
    from shuffledp.pipeline.papers.random_population.published_gaps import (
        budget_gaps,
        checkin_gaps,
        dummy_gaps,
        gradient_gaps,
        safety_margins,
        variance_gaps,
    )
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "EFFECTS",
    "TABLES",
    "VERDICTS",
    "Erratum",
    "ErratumError",
    "Findings",
    "ReadingNote",
    "Withdrawn",
    "Witness",
    "budget_gaps",
    "checkin_gaps",
    "dummy_gaps",
    "errata",
    "evaluate",
    "findings",
    "gradient_gaps",
    "markdown_table",
    "missing_quotes",
    "multi_gaps",
    "papers",
    "reading_notes",
    "safety_margins",
    "table",
    "table_two",
    "variance_gaps",
    "verdicts",
]
