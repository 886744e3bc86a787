"""Report of a comparison as text: compared values by paper and column, then differences, then the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shuffledp.pipeline.reference.comparison import DIFFERENT, REFUSED, SAME, Comparison, Section

FIRST = 10
"""Largest number of differences, and of missing or additional entries, in the list of a paper."""
_VERDICTS = {
    SAME: "Everything agrees with the reference.",
    DIFFERENT: "The run does not agree with the reference.",
    REFUSED: "Not everything could be compared.",
}


def report(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of a report on a comparison; the last lines are the total and the verdict."""
    yield (
        "Same machine and versions as the reference: the same bytes are expected."
        if comparison.same_machine
        else "The reference has another machine or other versions: tolerances apply."
    )
    for name, section in comparison.sections.items():
        yield from _section(name, section)
    if comparison.untrained:
        yield f"Training is not compared, there is no curve: {', '.join(comparison.untrained)}"
    for reason, what in comparison.refused.items():
        yield f"Refused, {reason}: {_some(what)}"
    columns = [column for section in comparison.sections.values() for column in section.columns.values()]
    yield (
        f"{sum(column.compared for column in columns):,} values compared, "
        f"{sum(column.different for column in columns):,} different."
    )
    yield _VERDICTS[comparison.exit_code]


def _section(name: str, section: Section) -> Iterator[str]:
    yield ""
    yield f"{name}: {section.same_files} of {section.files} result files with the same bytes"
    compared = {column: counts for column, counts in section.columns.items() if counts.compared}
    if compared:
        yield f"  {'column':18}{'compared':>9}{'identical':>10}{'within':>8}{'different':>10}  tolerance"
    for column, counts in compared.items():
        numbers = f"{counts.compared:>9}{counts.identical:>10}{counts.within:>8}{counts.different:>10}"
        yield f"  {column:18}{numbers}  {counts.tolerance}"
    yield from _listed("missing", section.missing)
    yield from _listed("additional", section.additional)
    for one in section.differences[:FIRST]:
        yield f"  different: {one.where} {one.column}: {one.reference} in the reference, {one.found} here"
    if len(section.differences) > FIRST:
        yield f"  different: {len(section.differences) - FIRST} more"


def _listed(what: str, entries: Sequence[str]) -> Iterator[str]:
    for entry in entries[:FIRST]:
        yield f"  {what}: {entry}"
    if len(entries) > FIRST:
        yield f"  {what}: {len(entries) - FIRST} more"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:FIRST])
    return shown if len(names) <= FIRST else f"{shown} and {len(names) - FIRST} more"
