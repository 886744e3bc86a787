"""Evaluating the errata and reading notes of a paper: tables, a check, and the tables as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from shuffledp.pipeline.claims.errata_data import Erratum, ErratumError, ReadingNote, errata, reading_notes
from shuffledp.pipeline.claims.witness import Witness

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


#: Entries beside what their witnesses gave, once: a witness is computed anew at every call.
_Found = list[tuple[Erratum | ReadingNote, Witness]]


def _computed(entries: Iterable[Erratum | ReadingNote]) -> _Found:
    return [(entry, _witness(entry)) for entry in entries]


def _witness(entry: Erratum | ReadingNote) -> Witness:
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
    return _table(COLUMNS, _computed(errata(paper)))


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
    return _table(NOTE_COLUMNS, _computed(reading_notes(paper)))


def _table(columns: Sequence[str], found: _Found) -> pd.DataFrame:
    """A row per entry: what it states, then what its witness found."""
    rows: list[dict[str, Any]] = []
    for entry, witness in found:
        said = (witness.quantity, witness.printed, witness.correct, entry.shown_by(witness), witness.note)
        rows.append(dict(zip(columns, (*_stated(entry), *said), strict=True)))
    return pd.DataFrame(rows, columns=list(columns))


def _stated(entry: Erratum | ReadingNote) -> tuple[str, ...]:
    if isinstance(entry, Erratum):
        quote = " [...] ".join(entry.quote)
        return (
            entry.id,
            entry.place,
            quote,
            entry.effect,
            entry.printed,
            entry.corrected,
            entry.explanation,
        )
    return entry.id, entry.formerly, entry.place, entry.read, entry.used, entry.why, entry.consequence


def checked_errata(paper: str) -> pd.DataFrame:
    """Return the table of :func:`evaluate` after the check of :func:`check`, on the same witnesses.

    Raises
    ------
    ErratumError
        As :func:`check`.
    """
    return _checked(paper, COLUMNS, errata(paper))


def checked_notes(paper: str) -> pd.DataFrame:
    """Return the table of :func:`evaluate_notes` after the check of :func:`check_notes`, on the same witnesses.

    Raises
    ------
    ErratumError
        As :func:`check_notes`.
    """
    return _checked(paper, NOTE_COLUMNS, reading_notes(paper))


def _checked(paper: str, columns: Sequence[str], entries: Iterable[Erratum | ReadingNote]) -> pd.DataFrame:
    found = _computed(entries)
    _demand_shown(paper, found)
    return _table(columns, found)


def check(paper: str) -> None:
    """Check that every erratum of a paper is shown by its witness.

    Raises
    ------
    ErratumError
        Naming every erratum that is not shown, with its values; or if the errata are not valid.
    """
    _demand_shown(paper, _computed(errata(paper)))


def check_notes(paper: str) -> None:
    """Check that every reading note of a paper is shown by its witness.

    Raises
    ------
    ErratumError
        Naming every note that is not shown, with its values; or if the notes are not valid.
    """
    _demand_shown(paper, _computed(reading_notes(paper)))


def _demand_shown(paper: str, found: _Found) -> None:
    failed = []
    for entry, witness in found:
        if entry.shown_by(witness):
            continue
        if isinstance(entry, Erratum):
            form, other, side = "printed", "correct", entry.printed_is
        else:
            form, other, side = "read", "used", entry.read_is
        failed.append(
            f"{entry.id} ({entry.witness}): {form} {witness.printed:.6g}, {other} {witness.correct:.6g}, "
            f"expected the first {side} the second; condition {'holds' if witness.shows else 'fails'}"
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
