"""Guarantees (`shuffledp.guarantees`) of a drawing's claims as text, for legends and captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from shuffledp.guarantees import FROM_BELOW
from shuffledp.pipeline.experiments.results import GUARANTEE_LABELS, IN_DOUBT

#: Word for `FROM_BELOW`, a lower bound, which cannot be violated.
NO_GUARANTEE = "lower bound, no guarantee"
#: Texts in captions by label, from the strongest to the weakest.
_LABELS = {label: label for label in (*GUARANTEE_LABELS, NO_GUARANTEE)} | {
    "violated": "violated in a known setting, perhaps not drawn here"
}
_DOUBTED = (*(label for label in reversed(GUARANTEE_LABELS) if label in IN_DOUBT), NO_GUARANTEE)
#: Trusted party, by the word in the results.
TRUST = {
    "shuffler": "a shuffler",
    "shuffler_adds": "a shuffler that adds messages",
    "secure_sum": "secure summation",
    "local": "nobody",
    "central": "a curator",
}


def doubts(cells: pd.DataFrame, order: Sequence[str]) -> dict[str, str]:
    """Return remarks for the legend by curve, such as ``printed: violated``; a curve with a proven claim has none."""
    return {str(curve): text for curve, rows in cells.groupby("curve") if (text := _doubt(rows, order))}


def _doubt(rows: pd.DataFrame, order: Sequence[str]) -> str:
    labels = labels_of(rows).dropna()
    weakest = labels.groupby(rows["accounting"]).agg(lambda some: max(some, key=[*_LABELS].index))
    doubtful = [label for label in _DOUBTED if label in weakest.to_numpy()]
    if weakest.nunique() == 1:
        return "".join(doubtful)
    return ", ".join(
        f"{', '.join(a for a in order if weakest.get(a) == label)}: {label}" for label in doubtful
    )


def labels_of(cells: pd.DataFrame) -> pd.Series:
    """Return the label of each cell's guarantee, or `NO_GUARANTEE` for a lower bound."""
    return cells["guarantee"].mask(cells["guarantee_note"] == FROM_BELOW.note, NO_GUARANTEE)


def guarantee_facts(cells: pd.DataFrame, names: Mapping[str, str], order: Sequence[str]) -> dict[str, str]:
    """Return facts for a caption: the labels of all methods, reasons for doubtful claims, and trusted parties."""
    labels, notes = labels_of(cells), cells["guarantee_note"].where(cells["guarantee"].isin(IN_DOUBT))
    labeled = cells[labels.notna()]
    facts = {
        "guarantee": _grouped(cells, labels, _LABELS, names, order),
        "why in doubt": " | ".join(
            f"{_named(cells[notes == note], labeled, names, order)}: {note}"
            for note in notes.dropna().unique()
        ),
        "users trust": _grouped(cells, cells["trust"], TRUST, names, order),
    }
    return {key: text for key, text in facts.items() if text}


def _grouped(
    cells: pd.DataFrame,
    words: pd.Series,
    texts: Mapping[str, str],
    names: Mapping[str, str],
    order: Sequence[str],
) -> str:
    """Return the texts of the cells' words with their methods; the only text has no methods."""
    groups = {text: cells[words == word] for word, text in texts.items() if (words == word).any()}
    if len(groups) == 1:
        return next(iter(groups))
    whole = cells[words.notna()]
    return " | ".join(f"{text}: {_named(some, whole, names, order)}" for text, some in groups.items())


def _named(some: pd.DataFrame, whole: pd.DataFrame, names: Mapping[str, str], order: Sequence[str]) -> str:
    """Return the methods of some cells, with their accountings if only some of a method's cells are included."""
    texts = []
    of_some, of_all = (rows.groupby(["method", "accounting"]).size() for rows in (some, whole))
    for method, name in names.items():
        if method not in of_some:
            continue
        counts, all_counts = of_some.xs(method), of_all.xs(method)
        parts = [", ".join(a for a in order if a in counts)] if len(counts) < len(all_counts) else []
        parts += ["in part"] if (counts < all_counts[counts.index]).any() else []
        texts.append(f"{name} ({', '.join(parts)})" if parts else name)
    return "; ".join(texts)  # names may have commas
