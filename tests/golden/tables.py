"""The golden table: a file of rows per part, and the differences between two versions of a part.

A file is JSON with one line per quantity, so that `git diff` is readable. Long texts appear once, under ``texts``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from golden.values import Rows, Value, digest

FOLDER = Path(__file__).resolve().parent / "table"
TOLERANCE = 1e-11
"""Relative difference up to which two floats are equal."""
SEARCHED = "noise that a search finds: its optimum is flat"
SENSITIVE = {
    "accounting/functions": "certified deltas are small differences of sums",
    "experiments/comparison": SEARCHED,
    "experiments/dump": "NumPy draws the stand-in for MovieLens, and its errors are small differences",
    "experiments/segmented": "a plan that a search finds: its optimum is flat",
    "experiments/shuffle_gaussian": "a discretized privacy loss",
    "experiments/summation": SEARCHED,
    "protocols/frequency.jump_counts": SEARCHED,
    "protocols/summation.coarse_correlated_sum": SEARCHED,
    "protocols/summation.correlated_sum": SEARCHED,
    "protocols/summation.real_sum": SEARCHED,
    "protocols/summation.sparse_sum": SEARCHED,
}
"""Parts whose numbers move with the last bits of NumPy and SciPy on another processor, with the reasons."""
SENSITIVE_TOLERANCE, SEARCHED_TOLERANCE = 1e-8, 1e-6
"""Relative differences up to which two floats of these parts are equal."""
ROUNDED = {"parameters.certified_margin": 1e-3}
"""Quantities that bound rounding errors, and the relative difference up to which two of them are equal."""
LONG = 60
"""Number of characters beyond which a text is under ``texts``."""
REFERENCE = "text:"


def path_of(part: str, folder: Path = FOLDER) -> Path:
    """Return the file of a part."""
    return folder / f"{part}.json"


def parts_in(folder: Path = FOLDER) -> set[str]:
    """Return the parts that have a file."""
    return {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.json")}


def text_of(rows: Rows, elsewhere: Rows | None = None) -> str:
    """Return the content of a file: cases in alphabetical order, one line per quantity.

    ``elsewhere`` has values on a processor without AVX-512, for quantities whose last digits depend on the processor.
    """
    texts: dict[str, str] = {}

    def kept(value: Value) -> str:
        if isinstance(value, str) and (len(value) > LONG or value.startswith(REFERENCE)):
            texts[digest(value)] = value
            value = REFERENCE + digest(value)
        return json.dumps(value)

    def section(cases: Rows) -> str:
        return ",\n".join(
            f"{json.dumps(case)}: {{\n"
            + ",\n".join(f" {json.dumps(name)}: {kept(value)}" for name, value in sorted(row.items()))
            + "\n}"
            for case, row in sorted(cases.items())
        )

    sections = {"rows": section(rows), **({"elsewhere": section(elsewhere)} if elsewhere else {})}
    if texts:
        sections["texts"] = ",\n".join(
            f" {json.dumps(key)}: {json.dumps(texts[key])}" for key in sorted(texts)
        )
    return "{" + ",\n".join(f"{json.dumps(name)}: {{\n{body}\n}}" for name, body in sections.items()) + "}\n"


def rows_of(text: str, section: str = "rows") -> Rows:
    """Return a section of a file's content."""
    content = json.loads(text)

    def whole(value: Value) -> Value:
        is_reference = isinstance(value, str) and value.startswith(REFERENCE)
        return content["texts"][value.removeprefix(REFERENCE)] if is_reference else value

    cases = content.get(section, {}).items()
    return {case: {name: whole(value) for name, value in row.items()} for case, row in cases}


def read(part: str, folder: Path = FOLDER, section: str = "rows") -> Rows:
    """Return a section of a part; empty without a file."""
    path = path_of(part, folder)
    return rows_of(path.read_text(encoding="utf-8"), section) if path.is_file() else {}


@dataclass(frozen=True)
class Difference:
    """Quantity that differs from its previous value.

    Parameters
    ----------
    part, case, quantity : str
        Place of the quantity in the table.
    kind : str
        ``moved`` (a float), ``changed`` (anything else), ``missing`` or ``added``.
    before, after : value or None
        Values before and after; None for a missing value.
    relative : float
        Largest relative difference of floats.
    """

    part: str
    case: str
    quantity: str
    kind: str
    before: Value
    after: Value
    relative: float = math.nan

    def __str__(self) -> str:
        """Return one line on the difference."""
        size = "" if math.isnan(self.relative) else f" ({self.relative:.1e} relative)"
        return (
            f"{self.part}: {self.case}: {self.quantity} {self.kind}: {self.before!r} -> {self.after!r}{size}"
        )


def relative_difference(before: float, after: float) -> float:
    """Return the difference relative to the larger of two numbers; 0 if both are nan."""
    if before == after or (math.isnan(before) and math.isnan(after)):
        return 0.0
    if not (math.isfinite(before) and math.isfinite(after)):
        return math.inf
    return abs(after - before) / max(abs(before), abs(after))


def moved(before: Value, after: Value, tolerance: float = TOLERANCE) -> tuple[str, float] | None:
    """Return the kind and the size of a difference between two values; None if they are equal."""
    old, new = (value if isinstance(value, list) else [value] for value in (before, after))
    if isinstance(before, list) != isinstance(after, list) or list(map(type, old)) != list(map(type, new)):
        return "changed", math.nan
    if not all(isinstance(one, float) for one in old):
        return None if old == new else ("changed", math.nan)
    most = max((relative_difference(a, b) for a, b in zip(old, new, strict=True)), default=0.0)  # type: ignore[arg-type]
    return None if most <= tolerance else ("moved", most)


def differences(part: str, before: Rows, after: Rows, elsewhere: Rows | None = None) -> Iterator[Difference]:
    """Compare all rows of a part by quantity; a value of the other processor also counts as equal."""
    other = elsewhere or {}
    tolerance = SENSITIVE_TOLERANCE if part in SENSITIVE else TOLERANCE
    if SENSITIVE.get(part) is SEARCHED:
        tolerance = SEARCHED_TOLERANCE
    for case in sorted(before.keys() | after.keys()):
        old, new = before.get(case, {}), after.get(case, {})
        for name in sorted(old.keys() | new.keys()):
            if name not in new:
                yield Difference(part, case, name, "missing", old[name], None)
            elif name not in old:
                yield Difference(part, case, name, "added", None, new[name])
            elif (found := moved(old[name], new[name], ROUNDED.get(name, tolerance))) is not None and not (
                name in other.get(case, {}) and moved(other[case][name], new[name], tolerance) is None
            ):
                yield Difference(part, case, name, found[0], old[name], new[name], found[1])


def summary(found: Iterable[Difference]) -> Iterator[str]:
    """Yield a line per part, quantity and kind: number of cases, largest relative difference, and an example."""
    groups: dict[tuple[str, str, str], list[Difference]] = {}
    for one in found:
        groups.setdefault((one.part, one.quantity, one.kind), []).append(one)
    for (part, quantity, kind), group in sorted(groups.items()):
        largest = max(group, key=lambda one: -1.0 if math.isnan(one.relative) else one.relative)
        size = "" if math.isnan(largest.relative) else f", at most {largest.relative:.2g} relative"
        shown = " -> ".join(shortened(value) for value in (largest.before, largest.after))
        yield f"{part}: {quantity} {kind} in {len(group)} case{'s'[: len(group) > 1]}{size}; {largest.case}: {shown}"


def shortened(value: Value, most: int = 160) -> str:
    """Return a value as a text of limited length."""
    text = "none" if value is None else repr(value)
    return text if len(text) <= most else f"{text[: most - 2]}.."


def write(part: str, rows: Rows, folder: Path = FOLDER, elsewhere: Rows | None = None) -> None:
    """Write the file of a part."""
    path = path_of(part, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(rows, elsewhere), encoding="utf-8", newline="\n")


def only_different(rows: Rows, elsewhere: Rows) -> Rows:
    """Return the other processor's quantities that differ from this one's."""
    found: Rows = {}
    for one in differences("", rows, elsewhere):
        if one.kind not in ("missing", "added"):
            found.setdefault(one.case, {})[one.quantity] = one.after
    return found
