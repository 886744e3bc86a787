"""What became of every erratum ever listed, by one rule.

The rule: an erratum quotes words that stand in the paper and are not right in their context. What is inferred,
reconstructed or read off a figure, and what holds as it stands, is a reading note.
"""

from __future__ import annotations

from collections import Counter

from shuffledp.pipeline.claims.errata_data import Erratum, Findings, ReadingNote, Withdrawn, findings, papers
from shuffledp.pipeline.claims.evaluation import code, markdown

#: What a verdict means.
VERDICTS: dict[str, str] = {
    "kept": "the words that are quoted stand in the paper and carry what is said",
    "narrowed": "so do these, after a part was taken back",
    "reading note": "the entry rests on an inference, or the statement holds as it stands",
    "withdrawn": "the paper is right, or nothing remains to be said",
}


def verdicts(paper: str) -> dict[str, str]:
    """Return the verdict on every erratum that a paper ever had, a key of :data:`VERDICTS` by id, by number."""
    found = findings(paper)
    narrowed = {e.id: "narrowed" if e.narrowed else "kept" for e in found.errata}
    notes = {n.formerly: "reading note" for n in found.notes if n.formerly and n.formerly not in narrowed}
    withdrawn = {w.id: "withdrawn" for w in found.withdrawn}
    order = {**{e.id: e.number for e in found.errata}, **{w.id: w.number for w in found.withdrawn}}
    order |= {n.formerly: n.number for n in found.notes if n.formerly}
    return dict(sorted({**narrowed, **notes, **withdrawn}.items(), key=lambda item: order[item[0]]))


def summary_table() -> str:
    """Return the number of entries by paper and verdict as a Markdown table."""
    rows = []
    total: Counter[str] = Counter()
    for paper in papers():
        counts = Counter(verdicts(paper).values())
        total += counts
        rows.append([paper, *(str(counts[v]) for v in VERDICTS), str(counts.total())])
    rows.append(["all", *(str(total[v]) for v in VERDICTS), str(total.total())])
    return markdown(["paper", *VERDICTS, "all"], rows)


def review_table() -> str:
    """Return one row per erratum ever listed, with its verdict and what it rests on, as a Markdown table."""
    rows = []
    for paper in papers():
        found = findings(paper)
        rows += [[key, verdict, _reason(key, verdict, found)] for key, verdict in verdicts(paper).items()]
    return markdown(["id", "verdict", "passages of the paper, or the reason"], rows)


def _reason(key: str, verdict: str, found: Findings) -> str:
    entry = _entry(key, verdict, found)
    if isinstance(entry, Withdrawn):
        return entry.reason
    if isinstance(entry, ReadingNote):
        return f"{entry.id}: {entry.why}"
    passages = " ".join(code(passage) for passage in entry.quote)
    return f"{passages} *Taken back:* {entry.narrowed}" if entry.narrowed else passages


def _entry(key: str, verdict: str, found: Findings) -> Erratum | ReadingNote | Withdrawn:
    if verdict == "withdrawn":
        return next(entry for entry in found.withdrawn if entry.id == key)
    if verdict == "reading note":
        return next(entry for entry in found.notes if entry.formerly == key)
    return next(entry for entry in found.errata if entry.id == key)
