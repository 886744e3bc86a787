"""Comparison of a run with the reference: equal values, values within tolerance, differences, and excluded parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shuffledp.pipeline.reference.snapshot import DIGEST, KEY, Job, Row, Snapshot, Training
from shuffledp.pipeline.reference.tolerances import OF_CELLS, OF_CURVES, Tolerance

SAME, DIFFERENT, REFUSED = 0, 1, 2
"""Exit codes."""
_REAL = ("official", "mirror")
"""Both are the published files, whose checksums the project knows."""
_UNITS = {DIGEST: "bytes, on the machine of the reference"}


@dataclass(frozen=True)
class Difference:
    """Value outside of its column's tolerance."""

    where: str
    column: str
    reference: str
    found: str


@dataclass
class Column:
    """Counts of the comparisons of a column; ``different`` counts the remaining ones."""

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
    """Comparison of a paper, or of the training runs, with the parts that only the reference or only the run has."""

    columns: dict[str, Column]
    differences: list[Difference] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    additional: list[str] = field(default_factory=list)
    same_files: int = 0
    files: int = 0

    @property
    def agrees(self) -> bool:
        """True if all values of the reference were found; additional values of the run do not count."""
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
        """Exit code 0 if everything agrees, 1 if something differs or is missing, 2 if something was not compared."""
        if self.refused:
            return REFUSED
        return SAME if all(section.agrees for section in self.sections.values()) else DIFFERENT


def compare(reference: Snapshot, found: Snapshot) -> Comparison:
    """Compare a run with the reference, except jobs with another seed, number of repeats, grid or data."""
    refused: dict[str, list[str]] = {}
    sections = {
        paper: _paper(paper, reference, found, refused)
        for paper in dict.fromkeys(key[0] for key in (*reference.jobs, *found.jobs))
    }
    untrained = [run.name for key, run in reference.training.items() if key not in found.training]
    if found.training:
        sections["training"] = _trainings(reference, found, refused)
    made = [(reference.jobs[key].made, found.jobs[key].made) for key in reference.jobs if key in found.jobs]
    same = bool(made) and all(mine.same_machine(other) for mine, other in made)
    return Comparison(sections, refused, same, untrained)


# -- experiments -----------------------------------------------------------------------------------------------------


def _paper(paper: str, reference: Snapshot, found: Snapshot, refused: dict[str, list[str]]) -> Section:
    section = Section(_columns(OF_CELLS))
    mine = {key[1:]: job for key, job in reference.jobs.items() if key[0] == paper}
    others = {key[1:]: job for key, job in found.jobs.items() if key[0] == paper}
    section.missing += _only(paper, mine, others)
    section.additional += _only(paper, others, mine)
    for key in sorted(mine.keys() & others.keys()):
        reason = _incomparable(mine[key], others[key])
        if reason:
            refused.setdefault(reason, []).append(f"{mine[key].name}.{mine[key].method}")
        else:
            _compare_jobs(section, mine[key], others[key])
    return section


def _columns(tolerances: Mapping[str, Tolerance]) -> dict[str, Column]:
    return {name: Column(tolerance.says) for name, tolerance in tolerances.items()} | {
        DIGEST: Column(_UNITS[DIGEST])
    }


def _only(
    paper: str, these: Mapping[tuple[str, str], Job], those: Mapping[tuple[str, str], Job]
) -> Iterator[str]:
    """Yield the experiments that only one side has, and the methods in other experiments that only one side has."""
    shared = {experiment for experiment, _ in those}
    for experiment in dict.fromkeys(experiment for experiment, _ in these):
        if experiment not in shared:
            yield f"experiment {paper}.{experiment}"
    for experiment, method in these:
        if experiment in shared and (experiment, method) not in those:
            yield f"method {paper}.{experiment}.{method}"


def _incomparable(reference: Job, found: Job) -> str:
    """Return the reason why two jobs are not comparable, with the values of both jobs; empty if they are comparable."""
    if _kind(reference.source) != _kind(found.source):
        return f"data {reference.dataset}: {reference.source} in the reference, {found.source} here"
    if reference.seed != found.seed:
        return f"seed: {reference.seed or 'none'} in the reference, {found.seed or 'none'} here"
    if reference.repeats != found.repeats:
        return f"scale: {reference.repeats or 'no'} repeats in the reference, {found.repeats or 'no'} here"
    mine, others = _grid(reference.rows), _grid(found.rows)
    for variable, values in mine.items():
        lacking = values.keys() - others.get(variable, {}).keys()
        if lacking:
            left = len(values) - len(lacking)
            return f"scale: {len(values)} values of {variable} in the reference, {left} of them here"
    return ""


def _kind(source: str) -> str:
    return "real" if source in _REAL else source


def _grid(rows: Iterable[Row]) -> dict[str, Counter[str]]:
    grid: dict[str, Counter[str]] = {}
    for row in rows:
        for part in row["point"].split(" ") if row["point"] else ():
            variable, _, value = part.partition("=")
            grid.setdefault(variable, Counter())[value] += 1
    return grid


def _compare_jobs(section: Section, reference: Job, found: Job) -> None:
    strict = reference.made.same_machine(found.made)
    name = f"{reference.name}.{reference.method}"
    mine, others = ({tuple(row[k] for k in KEY[1:]): row for row in job.rows} for job in (reference, found))
    section.missing += [f"cell {_cell(name, mine[key])}" for key in mine if key not in others]
    section.additional += [f"cell {_cell(name, others[key])}" for key in others if key not in mine]
    for key, row in mine.items():
        if key in others:
            _compare_rows(section, _cell(name, row), row, others[key], OF_CELLS)
            _compare_digests(section, _cell(name, row), row[DIGEST], others[key][DIGEST], strict)
    section.files += 2
    section.same_files += reference.cells_sha256 == found.cells_sha256
    section.same_files += reference.values_sha256 == found.values_sha256


def _cell(name: str, row: Row) -> str:
    parts = (row["point"], row["accounting"], row["metric"])
    return f"{name} [{', '.join(part for part in parts if part)}]"


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


# -- training --------------------------------------------------------------------------------------------------------


def _trainings(reference: Snapshot, found: Snapshot, refused: dict[str, list[str]]) -> Section:
    section = Section(_columns(OF_CURVES))
    section.additional += [
        f"training {run.name}" for key, run in found.training.items() if key not in reference.training
    ]
    for key, mine in reference.training.items():
        other = found.training.get(key)
        if other is None:
            continue
        reason = _other_training(mine, other)
        if reason:
            refused.setdefault(reason, []).append(mine.name)
        else:
            _compare_curves(section, mine, other)
    return section


def _other_training(reference: Training, found: Training) -> str:
    if _kind(reference.source) != _kind(found.source):
        return f"data {reference.dataset}: {reference.source} in the reference, {found.source} here"
    if reference.seed != found.seed:
        return f"seed: {reference.seed} in the reference, {found.seed} here"
    if reference.settings != found.settings:
        mine, others = (set(run.settings.split(" ")) for run in (reference, found))
        return (
            f"scale: {' '.join(sorted(mine - others)) or 'no such setting'} in the reference, "
            f"{' '.join(sorted(others - mine)) or 'no such setting'} here"
        )
    return ""


def _compare_curves(section: Section, reference: Training, found: Training) -> None:
    mine, others = ({row["round"]: row for row in run.rows} for run in (reference, found))
    section.missing += [f"round {reference.name} [{r}]" for r in mine if r not in others]
    section.additional += [f"round {reference.name} [{r}]" for r in others if r not in mine]
    for r, row in mine.items():
        if r in others:
            _compare_rows(section, f"{reference.name} [round={r}]", row, others[r], OF_CURVES)
    strict = reference.made.same_machine(found.made)
    _compare_digests(section, reference.name, reference.curve_sha256, found.curve_sha256, strict)
    section.files += 1
    section.same_files += reference.curve_sha256 == found.curve_sha256
