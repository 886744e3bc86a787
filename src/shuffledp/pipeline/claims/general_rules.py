"""General rules: claims decided by errata, orderings and scaling laws of result tables."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pandas as pd

from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.errata_data import Entry, findings
from shuffledp.pipeline.claims.outcomes import (
    TIE,
    ByPoint,
    Names,
    Outcome,
    Untestable,
    Verdict,
    compared,
    never_above,
    span,
)
from shuffledp.pipeline.claims.stated_claims import Catalogue

Errors = Callable[[Case, str, str], ByPoint]
"""Closed forms of a method by experiment and method, as a paper's rules read them."""
_BY_ERRATUM, _BY_NOTE = ("in part", "fails"), ("holds", "untestable")
"""Outcomes of a claim that an erratum, or a reading note, decides."""


def erratum(case: Case, by: str, shown: Outcome | None) -> Verdict:
    """Return the verdict on a claim that an erratum or reading note concerns.

    An erratum decides against the paper if its witness demonstrates it. A reading note makes the claim untestable if
    one of its readings is inferred; otherwise the statement holds as printed.
    """
    outcome = shown or case.claim.expected
    found = findings(case.claim.paper)
    entries: dict[str, Entry] = {entry.id: entry for entry in (*found.errata, *found.notes)}
    if by not in entries:
        raise ValueError(f"{case.claim.id}: no erratum or note {by!r} about {case.claim.paper}.")
    printed = by in {entry.id for entry in found.errata}
    if outcome == "open" or outcome not in (_BY_ERRATUM if printed else _BY_NOTE):
        raise ValueError(f"{case.claim.id}: {by} cannot make the claim {outcome!r}.")
    witness = entries[by].compute()
    shows = entries[by].shown_by(witness)
    return Verdict(
        f"{witness.correct:.4g} against {witness.printed:.4g} as {'printed' if printed else 'read'}",
        outcome if shows else "holds" if printed else "untestable",
        f"{by}{'' if shows else ' is not shown'}: {witness.quantity}. {witness.note}".rstrip(" ."),
    )


def by_entry(claim: Catalogue, id: str, by: str, *, shown: Outcome | None = None) -> None:
    """Declare a claim that an entry decides; `shown` is the outcome if its witness demonstrates it."""
    claim(id, by=by, shown=shown)(erratum)


def available(methods: Names, read: Callable[[str], ByPoint], what: str) -> dict[str, ByPoint]:
    """Return the numbers of the methods with results. Raise `Untestable` if no method has results."""
    found = {}
    for method in methods:
        with suppress(Untestable):
            found[method] = read(method)
    if not found:
        raise Untestable(f"there is nothing to compare with {what}")
    return found


def paired(case: Case, errors: Errors, experiments: Names, lower: str, upper: Names) -> pd.DataFrame:
    """Return closed forms of a method and of the best other method, at every point with both."""
    parts = {}
    for experiment in experiments:
        ours = errors(case, experiment, lower)
        best = pd.concat([errors(case, experiment, m).reindex(ours.index) for m in upper], axis=1).min(axis=1)
        parts[experiment] = pd.DataFrame({"lower": ours, "upper": best}).dropna()
    every = pd.concat(parts)
    if every.empty:
        raise Untestable("no point has results of both sides")
    return every


def never_above_best(case: Case, errors: Errors, experiments: Names, lower: str, upper: Names) -> Verdict:
    """Judge whether ``lower`` never exceeds the best of ``upper``, at all points of the experiments."""
    pairs = paired(case, errors, experiments, lower, upper)
    below, above, ties = compared(pairs["lower"], pairs["upper"])
    return Verdict(
        f"{span(pairs['upper'] / pairs['lower'])} times",
        never_above(above, len(pairs)),
        f"below at {below}, above at {above} and tied (within {100 * TIE:g} %) at {ties} of {len(pairs)} points; "
        "measured is the other error over this error",
    )


def monotone(values: ByPoint, level: str, *, rising: bool) -> tuple[int, int]:
    """Count the steps along an index level in the right direction and, beyond `TIE`, in the wrong direction."""
    others = [name for name in values.index.names if name != level]
    groups = [one for _, one in values.groupby(level=others)] if others else [values]
    right = wrong = 0
    for one in groups:
        ordered = one.sort_index(level=level).to_numpy()
        early, late = ordered[:-1], ordered[1:]
        if not rising:
            early, late = late, early
        right += int((late > early).sum())
        wrong += int((late < early * (1 - TIE)).sum())
    return right, wrong
