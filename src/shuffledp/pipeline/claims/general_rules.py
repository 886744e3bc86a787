"""Functions that decide claims of any paper, and words for comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from shuffledp.pipeline.claims.case import Case, Verdict, combined
from shuffledp.pipeline.claims.errata_data import Entry, findings
from shuffledp.pipeline.formatters import percent, times
from shuffledp.pipeline.query import TIE, Array, Outcome, Points, compare, total

#: Outcomes of a claim that an erratum, or a reading note, decides.
_BY_ERRATUM, _BY_NOTE = ("in part", "fails"), ("holds", "untestable")


def erratum(case: Case, by: str, shown: Outcome) -> Verdict:
    """Return the verdict on a claim that an erratum or reading note concerns; ``shown`` if its witness demonstrates it.

    An erratum decides against the paper. A reading note makes the claim untestable if one of its readings is inferred;
    otherwise the statement holds as printed.
    """
    remarks = findings(case.paper)
    entries: dict[str, Entry] = {entry.id: entry for entry in (*remarks.errata, *remarks.notes)}
    if by not in entries:
        raise ValueError(f"No erratum or note {by!r} about {case.paper}. Known: {', '.join(entries)}.")
    entry, printed = entries[by], by in {entry.id for entry in remarks.errata}
    if shown not in (_BY_ERRATUM if printed else _BY_NOTE):
        raise ValueError(f"{by} cannot make the claim {shown!r}.")
    witness = entry.compute()
    shows = entry.shown_by(witness)
    otherwise: Outcome = "holds" if printed else "untestable"
    return Verdict(
        f"{witness.correct:.4g} against {witness.printed:.4g} as {'printed' if printed else 'read'}",
        shown if shows else otherwise,
        f"{by}{'' if shows else ' is not shown'}: {witness.quantity}. {witness.note}".rstrip(" ."),
    )


def counts(points: Points) -> str:
    """Return the points of a comparison in words."""
    return (
        f"below at {points.pro:,}, above at {points.con:,} and tied (within {percent(TIE, 1)}) at {points.tied:,} of "
        f"{points.total:,} points"
    )


def without(values: Array, name: str, wanted: Iterable[float]) -> str:
    """Return words on the wanted values of a variable that the grid lacks, empty if it has all of them."""
    missing = [f"{value:g}" for value in wanted if value not in values[name]]
    return f"; without {name} {', '.join(missing)}, which this run lacks" if missing else ""


def never_above(lower: Iterable[Array], upper: Iterable[Array]) -> Verdict:
    """Judge whether errors never exceed other errors; both have an entry for each experiment."""
    both = [*zip(lower, upper, strict=True)]
    points = total(compare(*sides) for sides in both)
    return Verdict(
        times(high / low for low, high in both),
        points.with_ties,
        f"{counts(points)}; measured is the other error over this error",
    )


def in_order(pairs: Mapping[tuple[str, ...], Sequence[Array]]) -> Verdict:
    """Judge whether the first numbers of each pair never exceed the second; the keys are the names of both."""
    by_pair = {" below ".join(names): compare(*sides) for names, sides in pairs.items()}
    points = total(by_pair.values())
    return Verdict(
        f"above at {points.con} of {points.total} points",
        combined(part.with_ties.outcome for part in by_pair.values()),
        "; ".join(f"{name} at {p.pro}, above at {p.con}, tied at {p.tied}" for name, p in by_pair.items()),
    )
