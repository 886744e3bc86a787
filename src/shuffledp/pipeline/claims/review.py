"""Review of every erratum ever listed, by the definitions in `shuffledp.pipeline.claims.errata_data`."""

from __future__ import annotations

from shuffledp.pipeline.claims.errata_data import findings

#: Meaning of each verdict.
VERDICTS: dict[str, str] = {
    "kept": "the quoted words are in the paper and support the erratum",
    "narrowed": "a part of the erratum was withdrawn, and the quoted words support the rest",
    "reading note": "the entry depends on an inference, or the statement holds",
    "withdrawn": "the paper is right, or no content remains",
}


def verdicts(paper: str) -> dict[str, str]:
    """Return the verdict on every erratum ever listed for a paper, by id: a key of :data:`VERDICTS`."""
    entries_found = findings(paper)
    entries = [
        *((note.number, note.formerly, "reading note") for note in entries_found.notes if note.formerly),
        *((entry.number, entry.id, "withdrawn") for entry in entries_found.withdrawn),
        *(
            (entry.number, entry.id, "narrowed" if entry.narrowed else "kept")
            for entry in entries_found.errata
        ),
    ]
    return {key: verdict for _, key, verdict in sorted(entries)}
