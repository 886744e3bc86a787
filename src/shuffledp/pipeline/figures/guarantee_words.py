"""Guarantees (`shuffledp.guarantees`) of a drawing's claims as text, for legends and captions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from shuffledp.guarantees import FROM_BELOW
from shuffledp.pipeline.experiments.results import GUARANTEE_LABELS, IN_DOUBT

#: A method and an accounting.
_Part = tuple[str, str]
#: Texts in captions for labels that need an explanation.
_IN_WORDS = {"violated": "violated in a known setting, perhaps not drawn here"}
#: Word for `FROM_BELOW`, a lower bound, which cannot be violated.
NO_GUARANTEE = "lower bound, no guarantee"
_LABELS = (*GUARANTEE_LABELS, NO_GUARANTEE)
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
    labels = _weakest_by_accounting(rows)
    doubtful = [label for label in _DOUBTED if label in labels.values()]
    if len(set(labels.values())) == 1:
        return "".join(doubtful)
    return ", ".join(
        f"{', '.join(a for a in order if labels.get(a) == label)}: {label}" for label in doubtful
    )


def _weakest_by_accounting(rows: pd.DataFrame) -> dict[str, str]:
    labeled = rows[rows["guarantee"].notna()]
    return {
        str(accounting): max(group, key=_LABELS.index)
        for accounting, group in labels_of(labeled).groupby(labeled["accounting"])
    }


def labels_of(cells: pd.DataFrame) -> pd.Series:
    """Return the label of each cell's guarantee, or `NO_GUARANTEE` for a lower bound."""
    return cells["guarantee"].mask(cells["guarantee_note"] == FROM_BELOW.note, NO_GUARANTEE)


def guarantee_facts(cells: pd.DataFrame, names: Mapping[str, str], order: Sequence[str]) -> dict[str, str]:
    """Return facts for a caption: the labels of all methods, reasons for doubtful claims, and trusted parties."""
    parts = list(zip(cells["method"], cells["accounting"], strict=True))
    labels = _parts_by(labels_of(cells), parts)
    trusted = _parts_by(cells["trust"], parts)
    notes = [
        note if label in IN_DOUBT else None
        for label, note in zip(cells["guarantee"], cells["guarantee_note"], strict=True)
    ]
    all_parts = sum(labels.values(), Counter())
    in_words = {_IN_WORDS.get(label, label): labels[label] for label in _LABELS if label in labels}
    whom = {text: trusted[word] for word, text in TRUST.items() if word in trusted}
    facts = {
        "guarantee": _grouped(in_words, names, order),
        "why in doubt": " | ".join(
            f"{_named(some, all_parts, names, order)}: {note}"
            for note, some in _parts_by(notes, parts).items()
        ),
        "users trust": _grouped(whom, names, order),
    }
    return {key: text for key, text in facts.items() if text}


def _parts_by(words: Iterable[object], parts: Iterable[_Part]) -> dict[str, Counter[_Part]]:
    parts_of_word: dict[str, Counter[_Part]] = {}
    for word, part in zip(words, parts, strict=True):
        if isinstance(word, str) and word:
            parts_of_word.setdefault(word, Counter())[part] += 1
    return parts_of_word


def _grouped(groups: Mapping[str, Counter[_Part]], names: Mapping[str, str], order: Sequence[str]) -> str:
    if len(groups) == 1:
        return next(iter(groups))
    all_parts = sum(groups.values(), Counter())
    return " | ".join(f"{text}: {_named(some, all_parts, names, order)}" for text, some in groups.items())


def _named(
    some: Counter[_Part], all_parts: Counter[_Part], names: Mapping[str, str], order: Sequence[str]
) -> str:
    """Return the methods of some cells, with their accountings if only some of a method's cells are included."""
    texts = []
    for method, name in names.items():
        chosen = [accounting for of, accounting in some if of == method]
        if not chosen:
            continue
        whole = [accounting for of, accounting in all_parts if of == method]
        parts = [", ".join(a for a in order if a in chosen)] if len(chosen) < len(whole) else []
        parts += ["in part"] if any(some[method, a] < all_parts[method, a] for a in chosen) else []
        texts.append(f"{name} ({', '.join(parts)})" if parts else name)
    return "; ".join(texts)  # names may have commas
