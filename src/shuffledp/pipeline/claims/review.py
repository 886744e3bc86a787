"""Review of every erratum ever listed, by the definitions in `shuffledp.pipeline.claims.errata_data`."""

from __future__ import annotations

from collections import Counter

from shuffledp.pipeline.claims.errata_data import findings, papers
from shuffledp.pipeline.claims.evaluation import code, markdown

#: Meaning of each verdict.
VERDICTS: dict[str, str] = {
    "kept": "the quoted words are in the paper and support the erratum",
    "narrowed": "a part of the erratum was withdrawn, and the quoted words support the rest",
    "reading note": "the entry depends on an inference, or the statement holds",
    "withdrawn": "the paper is right, or no content remains",
}


def _fates(paper: str) -> list[tuple[str, str, str]]:
    found = findings(paper)
    fates = {
        note.formerly: (note.number, "reading note", f"{note.id}: {note.why}")
        for note in found.notes
        if note.formerly
    }
    fates |= {entry.id: (entry.number, "withdrawn", entry.reason) for entry in found.withdrawn}
    for entry in found.errata:
        passages = " ".join(map(code, entry.quote))
        taken_back = f" *Taken back:* {entry.narrowed}" if entry.narrowed else ""
        verdict = "narrowed" if entry.narrowed else "kept"
        fates[entry.id] = entry.number, verdict, passages + taken_back
    return [
        (key, verdict, reason) for key, (_, verdict, reason) in sorted(fates.items(), key=lambda f: f[1][0])
    ]


def verdicts(paper: str) -> dict[str, str]:
    """Return the verdict on every erratum ever listed for a paper, by id: a key of :data:`VERDICTS`."""
    return {key: verdict for key, verdict, _ in _fates(paper)}


def summary_table() -> str:
    """Return the number of entries by paper and verdict as a Markdown table."""
    counts = {paper: Counter(verdicts(paper).values()) for paper in papers()}
    counts["all"] = sum(counts.values(), Counter())
    rows = [[name, *(str(of[v]) for v in VERDICTS), str(of.total())] for name, of in counts.items()]
    return markdown(["paper", *VERDICTS, "all"], rows)


def review_table() -> str:
    """Return a Markdown table with the verdict on every erratum ever listed, and its basis."""
    rows = [fate for paper in papers() for fate in _fates(paper)]
    return markdown(["id", "verdict", "passages of the paper, or the reason"], rows)
