"""How far the claims behind a drawing can be trusted, in words: for legends and for captions.

The labels are those of `shuffledp.accounting.standing`; results carry one per cell, with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from shuffledp.experiments.results import GUARANTEE_LABELS, IN_DOUBT

_IN_WORDS = {"violated": "violated in a known setting, shown here or not"}
"""Labels that a caption does not use by themselves."""
TRUST = {
    "shuffler": "a shuffler",
    "shuffler_adds": "a shuffler that adds messages",
    "secure_sum": "secure summation",
    "local": "nobody",
    "central": "a curator",
}
"""Whom users trust, by the word in the results."""


def doubts(cells: pd.DataFrame, order: Sequence[str]) -> dict[str, str]:
    """Remarks for the legend by curve, such as ``violated`` or ``printed: violated``; curves without doubt have none.

    Parameters
    ----------
    cells : DataFrame
        With the columns ``curve``, ``accounting`` and ``guarantee``; several cells of a curve under an accounting have
        the weakest of their labels.
    order : sequence of str
        Accountings in the order of the configuration.
    """
    return {str(curve): text for curve, rows in cells.groupby("curve") if (text := _doubt(rows, order))}


def _doubt(rows: pd.DataFrame, order: Sequence[str]) -> str:
    labels = _weakest_by_accounting(rows)
    doubtful = [
        label for label in reversed(GUARANTEE_LABELS) if label in IN_DOUBT and label in labels.values()
    ]
    if len(set(labels.values())) == 1:
        return "".join(doubtful)
    return ", ".join(
        f"{', '.join(a for a in order if labels.get(a) == label)}: {label}" for label in doubtful
    )


def _weakest_by_accounting(rows: pd.DataFrame) -> dict[str, str]:
    known = rows[rows["guarantee"].notna()]
    return {
        str(accounting): max(group, key=GUARANTEE_LABELS.index)
        for accounting, group in known.groupby("accounting")["guarantee"]
    }


def guarantee_facts(cells: pd.DataFrame, names: Mapping[str, str], order: Sequence[str]) -> dict[str, str]:
    """What a caption says: the labels of all methods, the reasons of those in doubt, and whom users trust.

    Parameters
    ----------
    cells : DataFrame
        With the columns ``method``, ``accounting``, ``guarantee``, ``guarantee_note`` and ``trust``.
    names : mapping
        Legend names by method.
    order : sequence of str
        Accountings in the order of the configuration.

    Returns
    -------
    dict
        ``guarantee``, ``why in doubt`` and ``trust``, as far as there is something to say.
    """
    known = cells[cells["guarantee"].notna()]
    labels = {_IN_WORDS.get(label, label): known[known["guarantee"] == label] for label in GUARANTEE_LABELS}
    doubtful = known[known["guarantee"].isin(IN_DOUBT) & known["guarantee_note"].fillna("").ne("")]
    reasons = {str(note): rows for note, rows in doubtful.groupby("guarantee_note", sort=False)}
    trusted = cells[cells["trust"].notna()]
    believed = {text: trusted[trusted["trust"] == word] for word, text in TRUST.items()}
    facts = {
        "guarantee": _grouped(labels, known, names, order),
        "why in doubt": " | ".join(
            f"{_named(rows, known, names, order)}: {note}" for note, rows in reasons.items()
        ),
        "users trust": _grouped(believed, trusted, names, order),
    }
    return {key: text for key, text in facts.items() if text}


def _grouped(
    groups: Mapping[str, pd.DataFrame], every: pd.DataFrame, names: Mapping[str, str], order: Sequence[str]
) -> str:
    """What the rows of each group have in common, and whose they are unless there is one group."""
    some = {text: rows for text, rows in groups.items() if not rows.empty}
    if len(some) == 1:
        return next(iter(some))
    return " | ".join(f"{text}: {_named(rows, every, names, order)}" for text, rows in some.items())


def _named(rows: pd.DataFrame, every: pd.DataFrame, names: Mapping[str, str], order: Sequence[str]) -> str:
    """The methods of some rows, and which part of each method if not all of its rows are among them."""
    texts = []
    for method, name in names.items():
        some, whole = (
            frame.loc[frame["method"] == method, "accounting"].value_counts() for frame in (rows, every)
        )
        if some.empty:
            continue
        parts = [", ".join(a for a in order if a in some.index)] if len(some) < len(whole) else []
        parts += ["in part"] if any(some[a] < whole[a] for a in some.index) else []
        texts.append(f"{name} ({', '.join(parts)})" if parts else name)
    return "; ".join(texts)  # names may have commas
