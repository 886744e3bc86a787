"""Claims and errata of every paper: their texts, and verdicts and witnesses that need no results."""

import dataclasses

from golden.inside import claims_of, findings, stated, verdicts
from golden.values import Row, Rows, answer, digest, row_of

VERDICT = ("measured", "uncertainty", "verdict", "why", "overall", "difference")


def claims(paper: str) -> Rows:
    """Return a row per claim of a paper: a digest of its texts, its kind, and its verdicts if no results are needed."""
    rows: Rows = {}
    for claim in claims_of(paper):
        texts = stated(claim)
        row: Row = {
            "kind": claim.kind,
            "rule": texts["rule"],
            "expected": claim.expected,
            "stated": digest(repr(sorted(texts.items()))),
        }
        for verdict in verdicts(claim):
            if verdict["verdict"] != "untestable":
                told = {key: verdict[key] for key in VERDICT if verdict[key]}
                row |= row_of(told, f"{verdict['accounting']}, {verdict['target']}")
        rows[claim.id] = row
    return rows


def errata(paper: str) -> Rows:
    """Return a row per erratum, reading note and withdrawn erratum: texts, digests of quotations, and the witness."""
    rows: Rows = {}
    entries, withdrawn = findings(paper)
    for entry in entries:
        texts = {
            f.name: getattr(entry, f.name)
            for f in dataclasses.fields(entry)
            if f.name not in ("id", "quote", "compute")
        }
        row = {name: digest(text) if len(text) > 40 else text for name, text in texts.items() if text}
        row |= {f"quote {i}": digest(quote) for i, quote in enumerate(getattr(entry, "quote", ()))}
        row |= answer(lambda: _witness(entry), "computed")  # noqa: B023
        rows[entry.id] = row
    return rows | {one.id: {"withdrawn": digest(one.reason)} for one in withdrawn}


def _witness(entry: object) -> Row:
    witness = entry.compute()  # type: ignore[attr-defined]
    return {**row_of(witness), "shown": entry.shown_by(witness)}  # type: ignore[attr-defined]
