"""Evaluating the errata of a paper: a table, a check, and the table as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from shuffledp.claims.errata_data import Erratum, ErratumError, errata
from shuffledp.claims.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Columns of :func:`evaluate`, in order.
COLUMNS = (
    "id",
    "place",
    "effect",
    "printed form",
    "corrected form",
    "explanation",
    "quantity",
    "printed value",
    "correct value",
    "shown",
    "note",
)


def _computed(erratum: Erratum) -> Witness:
    witness = erratum.compute()
    if not (math.isfinite(witness.printed) and math.isfinite(witness.correct)):
        raise ErratumError(
            f"{erratum.id}: witness {erratum.witness} gives {witness.printed!r} and {witness.correct!r}, "
            "expected two finite numbers."
        )
    return witness


def evaluate(paper: str) -> pd.DataFrame:
    """Compute all witnesses of a paper.

    Parameters
    ----------
    paper : str
        A key, for example ``random_population``.

    Returns
    -------
    DataFrame
        One row per erratum, by number, with the columns :data:`COLUMNS`. ``shown`` is the machine's verdict.

    Raises
    ------
    ErratumError
        If the errata are not valid or a value is not finite. A witness that does not show its erratum is a
        row with ``shown`` False; see :func:`check`.
    """
    rows: list[dict[str, Any]] = []
    for erratum in errata(paper):
        witness = _computed(erratum)
        values = (
            erratum.id,
            erratum.place,
            erratum.effect,
            erratum.printed,
            erratum.corrected,
            erratum.explanation,
            witness.quantity,
            witness.printed,
            witness.correct,
            erratum.shown_by(witness),
            witness.note,
        )
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def check(paper: str) -> None:
    """Check that every erratum of a paper is shown by its witness.

    Raises
    ------
    ErratumError
        Naming every erratum that is not shown, with its values; or if the errata are not valid.
    """
    failed = []
    for erratum in errata(paper):
        witness = _computed(erratum)
        if not erratum.shown_by(witness):
            failed.append(
                f"{erratum.id} ({erratum.witness}): printed {witness.printed:.6g}, correct {witness.correct:.6g}, "
                f"expected the printed value {erratum.printed_is} the correct one; "
                f"condition {'holds' if witness.shows else 'fails'}"
            )
    if failed:
        raise ErratumError(f"{paper}: not shown: " + "; ".join(failed) + ".")


def markdown_table(paper: str) -> str:
    """Return the errata of a paper with their witnesses as a Markdown table.

    Numbers have four significant digits, so that the text does not depend on the machine.
    """
    table = evaluate(paper)
    body = [
        [
            row["id"],
            row["place"],
            f"`{row['printed form']}`",
            f"`{row['corrected form']}`",
            row["effect"],
            f"{row['explanation']} {row['note']}",
            row["quantity"],
            f"{row['printed value']:.4g}",
            f"{row['correct value']:.4g}",
        ]
        for row in table.to_dict("records")
    ]
    return markdown(
        ["id", "place", "printed", "corrected", "effect", "why", "witness", "printed value", "correct value"],
        body,
    )


def markdown(headers: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table of cells that are text already."""
    lines = [headers, ["---"] * len(headers), *body]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
