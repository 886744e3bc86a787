"""Evaluating the errata and reading notes of a paper: tables, a check, and the tables as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from shuffledp.claims.errata_data import Erratum, ErratumError, ReadingNote, errata, reading_notes
from shuffledp.claims.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Columns of :func:`evaluate`, in order.
COLUMNS = (
    "id",
    "place",
    "quote",
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

#: Columns of :func:`evaluate_notes`, in order.
NOTE_COLUMNS = (
    "id",
    "formerly",
    "place",
    "as read",
    "as used",
    "why a note",
    "consequence",
    "quantity",
    "value as read",
    "value as used",
    "shown",
    "note",
)


def _computed(entry: Erratum | ReadingNote) -> Witness:
    witness = entry.compute()
    if not (math.isfinite(witness.printed) and math.isfinite(witness.correct)):
        raise ErratumError(
            f"{entry.id}: witness {entry.witness} gives {witness.printed!r} and {witness.correct!r}, "
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
    stated = [
        (e, (e.id, e.place, " [...] ".join(e.quote), e.effect, e.printed, e.corrected, e.explanation))
        for e in errata(paper)
    ]
    return _table(COLUMNS, stated)


def evaluate_notes(paper: str) -> pd.DataFrame:
    """Compute all witnesses of a paper's reading notes.

    Parameters
    ----------
    paper : str
        A key, for example ``summation``.

    Returns
    -------
    DataFrame
        One row per note, by number, with the columns :data:`NOTE_COLUMNS`; no row if the paper has none.

    Raises
    ------
    ErratumError
        If the notes are not valid or a value is not finite. A witness that does not show its note is a row with
        ``shown`` False; see :func:`check`.
    """
    stated = [
        (n, (n.id, n.formerly, n.place, n.read, n.used, n.why, n.consequence)) for n in reading_notes(paper)
    ]
    return _table(NOTE_COLUMNS, stated)


def _table(
    columns: Sequence[str], stated: Iterable[tuple[Erratum | ReadingNote, tuple[str, ...]]]
) -> pd.DataFrame:
    """A row per entry: what it states, then what its witness found."""
    rows: list[dict[str, Any]] = []
    for entry, texts in stated:
        witness = _computed(entry)
        shown = entry.shown_by(witness)
        found = (witness.quantity, witness.printed, witness.correct, shown, witness.note)
        rows.append(dict(zip(columns, (*texts, *found), strict=True)))
    return pd.DataFrame(rows, columns=list(columns))


def check(paper: str) -> None:
    """Check that every erratum of a paper is shown by its witness.

    Raises
    ------
    ErratumError
        Naming every erratum that is not shown, with its values; or if the errata are not valid.
    """
    _check(paper, [(erratum, "printed", erratum.printed_is) for erratum in errata(paper)])


def check_notes(paper: str) -> None:
    """Check that every reading note of a paper is shown by its witness.

    Raises
    ------
    ErratumError
        Naming every note that is not shown, with its values; or if the notes are not valid.
    """
    _check(paper, [(entry, "read", entry.read_is) for entry in reading_notes(paper)])


def _check(paper: str, entries: Sequence[tuple[Erratum | ReadingNote, str, str]]) -> None:
    failed = []
    for entry, form, side in entries:
        witness = _computed(entry)
        if not entry.shown_by(witness):
            failed.append(
                f"{entry.id} ({entry.witness}): {form} {witness.printed:.6g}, "
                f"{'correct' if form == 'printed' else 'used'} {witness.correct:.6g}, expected the first {side} the "
                f"second; condition {'holds' if witness.shows else 'fails'}"
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
            code(row["printed form"]),
            code(row["corrected form"]),
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


def notes_table(paper: str) -> str:
    """Return the reading notes of a paper with their witnesses as a Markdown table, as :func:`markdown_table`."""
    body = [
        [
            row["id"],
            row["place"],
            code(row["as read"]),
            code(row["as used"]),
            row["why a note"],
            f"{row['consequence']} {row['note']}",
            row["quantity"],
            f"{row['value as read']:.4g}",
            f"{row['value as used']:.4g}",
        ]
        for row in evaluate_notes(paper).to_dict("records")
    ]
    headers = ["id", "place", "as read", "as used", "why a note", "what follows", "witness"]
    return markdown([*headers, "value as read", "value as used"], body)


def code(text: str) -> str:
    """Return a text as a Markdown code span; a text with a backtick gets two of them around it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def markdown(headers: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table of cells that are text already; bars in them are escaped."""
    lines = [headers, ["---"] * len(headers), *body]
    return "".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |\n" for line in lines)
