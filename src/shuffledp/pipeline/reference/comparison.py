"""Comparison of a run with the reference: equal values, values within tolerance, differences and excluded parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shuffledp.pipeline.reference import comparator
from shuffledp.pipeline.reference.snapshot import DIGEST, TRAINING, ReferencePart, Snapshot
from shuffledp.pipeline.reference.tolerances import COLUMNS, IDENTICAL, PROFILE

#: Exit codes of the command.
SAME, DIFFERENT, REFUSED = 0, 1, 2
_VERDICTS = {
    SAME: "Everything agrees with the reference",
    DIFFERENT: "The run does not agree with the reference",
    REFUSED: "Not everything could be compared",
}
#: Column of expected numbers whose metric is delta at another eps (`shuffledp.pipeline.experiments.bundle`).
_DELTA = "delta at eps"
_TOLERANCES = {**COLUMNS, DIGEST: IDENTICAL, _DELTA: PROFILE}
#: Sources of published files, whose checksums the project knows.
_REAL = ("official", "mirror")


@dataclass(frozen=True)
class Verification:
    """Comparisons by paper, the names of excluded parts by reason, and training runs that the run left out.

    ``same_machine`` requires equal bytes for all compared parts.
    """

    sections: Mapping[str, comparator.TableComparison]
    refused: Mapping[str, Sequence[str]]
    same_machine: bool
    untrained: Sequence[str]

    @property
    def exit_code(self) -> int:
        """Exit code: 0 if everything agrees, 1 if something differs or is missing, 2 if something was not compared."""
        if self.refused:
            return REFUSED
        return (
            DIFFERENT
            if any(section.differences or section.missing for section in self.sections.values())
            else SAME
        )

    def report(self) -> Iterator[str]:
        """Yield the lines of the report; the last line has the totals and the verdict."""
        if self.same_machine:
            yield "Same machine and versions as the reference: the same bytes are expected."
        else:
            yield "The reference has another machine or other versions: tolerances apply."
        totals = [0, 0, 0]
        for name, section in self.sections.items():
            yield f"\n{name}\n  {'column':18}{'compared':>9}{'equal':>9}{'within':>8}{'different':>10}  tolerance"
            for column in _TOLERANCES:
                counts = [
                    counter[column] for counter in (section.identical, section.within, section.different)
                ]
                totals = [total + count for total, count in zip(totals, counts, strict=True)]
                if any(counts):
                    equal, within, different = counts
                    says = _TOLERANCES[column].says
                    yield f"  {column:18}{sum(counts):>9}{equal:>9}{within:>8}{different:>10}  {says}"
            yield from (f"  {line}" for line in comparator.report(section))
        yield ""
        if self.untrained:
            yield f"Training is not compared, there is no curve: {', '.join(self.untrained)}"
        for reason, names in self.refused.items():
            rest = f" and {len(names) - comparator.FIRST} more" if len(names) > comparator.FIRST else ""
            yield f"Refused, {reason}: {', '.join(names[: comparator.FIRST])}{rest}"
        equal, within, different = totals
        yield (
            f"{_VERDICTS[self.exit_code]}: {sum(totals):,} values compared, {equal:,} equal, "
            f"{within:,} within tolerance, {different:,} different."
        )


def compare(reference: Snapshot, computed: Snapshot) -> Verification:
    """Compare a run with the reference, except parts with another seed, number of repeats, grid, settings or data."""
    refused: dict[str, list[str]] = {}
    tables: dict[str, tuple[comparator.Rows, comparator.Rows]] = {}
    untrained, strict = [], set()
    for key in dict.fromkeys((*reference, *computed)):
        name, mine, other = ".".join(key), reference.get(key), computed.get(key)
        before, after = tables.setdefault(key[0], ({}, {}))
        if mine is None or other is None:
            if other is None and key[1] == TRAINING:
                untrained.append(name)
            else:
                (after if mine is None else before)[name] = {}
        elif reason := _incomparable(mine, other):
            refused.setdefault(reason, []).append(name)
        else:
            strict.add(mine.environment == other.environment)
            columns = (*COLUMNS, *([DIGEST] if mine.environment == other.environment else []))
            before |= _rows(name, mine, columns)
            after |= _rows(name, other, columns)
    sections = {name: comparator.compare(*pair, _TOLERANCES.__getitem__) for name, pair in tables.items()}
    return Verification(sections, refused, strict == {True}, untrained)


def _rows(name: str, part: ReferencePart, columns: Sequence[str]) -> comparator.Rows:
    """Return some columns of a part's rows, by full names."""
    return {
        f"{name} [{', '.join(filter(None, place))}]": {
            _DELTA if c == "expected" and place[-1].startswith("delta_at_") else c: row[c]
            for c in columns
            if c in row
        }
        for place, row in part.rows.items()
    }


def _incomparable(reference: ReferencePart, computed: ReferencePart) -> str:
    """Return the reason why two parts are not comparable, with both values; empty if they are comparable."""
    if _kind(reference.source) != _kind(computed.source):
        return f"data {reference.dataset}: {reference.source} in the reference, {computed.source} here"
    if reference.seed != computed.seed:
        return f"seed: {reference.seed or 'none'} in the reference, {computed.seed or 'none'} here"
    if reference.scale != computed.scale:
        mine, others = (set(part.scale.split()) for part in (reference, computed))
        return (
            f"scale: {' '.join(sorted(mine - others)) or 'no such setting'} in the reference, "
            f"{' '.join(sorted(others - mine)) or 'no such setting'} here"
        )
    expected_points, present = _grid(reference), _grid(computed)
    for variable in dict(expected_points):
        values = {value for name, value in expected_points if name == variable}
        if missing := values - {value for name, value in present if name == variable}:
            return f"scale: {len(values)} values of {variable} in the reference, {len(values - missing)} of them here"
    return ""


def _kind(source: str) -> str:
    return "real" if source in _REAL else source


def _grid(part: ReferencePart) -> list[tuple[str, str]]:
    """Return the pairs of a grid variable and its value, in the order of the rows."""
    pairs = dict.fromkeys(pair for place in part.rows for pair in place[0].split() if "=" in pair)
    return [(name, value) for name, _, value in (pair.partition("=") for pair in pairs)]
