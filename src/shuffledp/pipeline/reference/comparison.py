"""Comparison of a run with the reference: equal values, values within tolerance, differences and excluded parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shuffledp.pipeline.reference.snapshot import DIGEST, Key, Part, Row, Snapshot
from shuffledp.pipeline.reference.tolerances import OF_CELLS, OF_CURVES, Tolerance

SAME, DIFFERENT, REFUSED = 0, 1, 2
"""Exit codes of the command."""
_REAL = ("official", "mirror")
"""Sources of published files, whose checksums the project knows."""


@dataclass(frozen=True)
class Difference:
    """Value outside the tolerance of its column."""

    where: str
    column: str
    reference: str
    found: str


@dataclass
class Column:
    """Counts for the comparison of a column; ``different`` counts values outside the tolerance."""

    tolerance: str
    identical: int = 0
    within: int = 0
    different: int = 0

    @property
    def compared(self) -> int:
        """Number of values that at least one side has."""
        return self.identical + self.within + self.different


@dataclass
class Section:
    """Comparison of a paper, or of the training runs, with the parts that only one side has."""

    columns: dict[str, Column]
    differences: list[Difference] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    additional: list[str] = field(default_factory=list)
    same_files: int = 0
    files: int = 0

    @property
    def agrees(self) -> bool:
        """True if all values of the reference were found; additional values of the run are ignored."""
        return not self.differences and not self.missing


@dataclass(frozen=True)
class Comparison:
    """All sections by paper, the reasons for exclusions, and the terms of the comparison.

    The section ``training`` is last and exists if either side has a curve. ``refused`` has the excluded parts by
    reason. ``same_machine`` requires equal bytes for all compared parts. ``untrained`` are runs of the reference that
    the other run left out.
    """

    sections: Mapping[str, Section]
    refused: Mapping[str, Sequence[str]]
    same_machine: bool
    untrained: Sequence[str]

    @property
    def exit_code(self) -> int:
        """Exit code: 0 if everything agrees, 1 if something differs or is missing, 2 if something was not compared."""
        if self.refused:
            return REFUSED
        return SAME if all(section.agrees for section in self.sections.values()) else DIFFERENT


def compare(reference: Snapshot, found: Snapshot) -> Comparison:
    """Compare a run with the reference, except parts with another seed, number of repeats, grid, settings or data."""
    refused: dict[str, list[str]] = {}
    sections: dict[str, Section] = {}
    for paper in dict.fromkeys(key[0] for key in (*reference.jobs, *found.jobs)):
        section = sections[paper] = Section(_columns(OF_CELLS))
        section.missing += _only(paper, reference.jobs, found.jobs)
        section.additional += _only(paper, found.jobs, reference.jobs)
        for key in sorted(key for key in reference.jobs if key[0] == paper and key in found.jobs):
            _compare(section, reference.jobs[key], found.jobs[key], refused)
    if found.training:
        section = sections["training"] = Section(_columns(OF_CURVES))
        section.additional += [
            f"training {run.name}" for key, run in found.training.items() if key not in reference.training
        ]
        for key in reference.training:
            if key in found.training:
                _compare(section, reference.training[key], found.training[key], refused)
    untrained = [run.name for key, run in reference.training.items() if key not in found.training]
    made = [(reference.jobs[key].made, found.jobs[key].made) for key in reference.jobs if key in found.jobs]
    same = bool(made) and all(mine.same_machine(other) for mine, other in made)
    return Comparison(sections, refused, same, untrained)


def _columns(tolerances: Mapping[str, Tolerance]) -> dict[str, Column]:
    return {name: Column(tolerance.says) for name, tolerance in tolerances.items()} | {
        DIGEST: Column("bytes, on the machine of the reference")
    }


def _only(paper: str, these: Iterable[Key], those: Iterable[Key]) -> Iterator[str]:
    """Yield the experiments that only one side has, and the methods of common experiments that only one side has."""
    others = {key[1:] for key in those if key[0] == paper}
    shared = {experiment for experiment, _ in others}
    own = [key[1:] for key in these if key[0] == paper]
    for experiment in dict.fromkeys(experiment for experiment, _ in own):
        if experiment not in shared:
            yield f"experiment {paper}.{experiment}"
    for experiment, method in own:
        if experiment in shared and (experiment, method) not in others:
            yield f"method {paper}.{experiment}.{method}"


def _compare(section: Section, reference: Part, found: Part, refused: dict[str, list[str]]) -> None:
    if reason := _incomparable(reference, found):
        refused.setdefault(reason, []).append(reference.name)
        return
    strict = reference.made.same_machine(found.made)
    mine, others = ({_place(part, row): row for row in part.rows} for part in (reference, found))
    section.missing += [place for place in mine if place not in others]
    section.additional += [place for place in others if place not in mine]
    for place, row in mine.items():
        if place in others:
            where = place.partition(" ")[2]
            _compare_rows(section, where, row, others[place], OF_CELLS if DIGEST in row else OF_CURVES)
            if DIGEST in row:
                _compare_digests(section, where, row[DIGEST], others[place][DIGEST], strict)
    if reference.key[1] == "training":
        _compare_digests(section, reference.name, reference.sha256[0], found.sha256[0], strict)
    section.files += len(reference.sha256)
    section.same_files += sum(map(str.__eq__, reference.sha256, found.sha256))


def _place(part: Part, row: Row) -> str:
    """Return the kind and the name of a row, which is a cell of an experiment or a round of a training run."""
    if DIGEST not in row:
        return f"round {part.name} [round={row['round']}]"
    shown = (row["point"], row["accounting"], row["metric"])
    return f"cell {part.name} [{', '.join(text for text in shown if text)}]"


def _incomparable(reference: Part, found: Part) -> str:
    """Return the reason why two parts are not comparable, with both values; empty if they are comparable."""
    if _kind(reference.source) != _kind(found.source):
        return f"data {reference.dataset}: {reference.source} in the reference, {found.source} here"
    if reference.seed != found.seed:
        return f"seed: {reference.seed or 'none'} in the reference, {found.seed or 'none'} here"
    if reference.scale != found.scale:
        mine, others = (set(part.scale.split()) for part in (reference, found))
        return (
            f"scale: {' '.join(sorted(mine - others)) or 'no such setting'} in the reference, "
            f"{' '.join(sorted(others - mine)) or 'no such setting'} here"
        )
    own, present = _grid(reference.rows), _grid(found.rows)
    for variable, values in own.items():
        if lacking := values - present.get(variable, set()):
            left = len(values) - len(lacking)
            return f"scale: {len(values)} values of {variable} in the reference, {left} of them here"
    return ""


def _kind(source: str) -> str:
    return "real" if source in _REAL else source


def _grid(rows: Iterable[Row]) -> dict[str, set[str]]:
    grid: dict[str, set[str]] = {}
    for row in rows:
        for part in row.get("point", "").split():
            variable, _, value = part.partition("=")
            grid.setdefault(variable, set()).add(value)
    return grid


def _compare_rows(
    section: Section, where: str, reference: Row, found: Row, tolerances: Mapping[str, Tolerance]
) -> None:
    for name, tolerance in tolerances.items():
        mine, other = reference[name], found[name]
        column = section.columns[name]
        if not mine and not other:
            continue
        if mine == other:
            column.identical += 1
        elif mine and other and tolerance.within(reference, found):
            column.within += 1
        else:
            column.different += 1
            section.differences.append(Difference(where, name, mine or "nothing", other or "nothing"))


def _compare_digests(section: Section, where: str, reference: str, found: str, strict: bool) -> None:
    column = section.columns[DIGEST]
    if reference == found:
        column.identical += 1
    elif not strict:
        column.within += 1
    else:
        column.different += 1
        section.differences.append(Difference(where, DIGEST, reference, found))
