"""The golden table: a file of rows per part, and the differences between two versions of a part.

A file is JSON with one line per quantity, so that `git diff` is readable. Long texts appear once, under ``texts``.
"""

import json
from pathlib import Path

from golden.values import Rows, Value, digest
from shuffledp.pipeline.reference.comparator import TableComparison, compare
from shuffledp.pipeline.reference.tolerances import ANSWER, LAST_BITS, MARGIN, SEARCHED

FOLDER = Path(__file__).resolve().parent / "table"
SEARCHED_NOISE = (SEARCHED, "noise that a search finds: its optimum is flat")
#: Parts whose numbers move with the last bits of NumPy and SciPy on another processor: tolerance and reason.
SENSITIVE = {
    "accounting/functions": (LAST_BITS, "certified deltas are small differences of sums"),
    "experiments/comparison": SEARCHED_NOISE,
    "experiments/dump": (
        LAST_BITS,
        "NumPy draws the stand-in for MovieLens, and its errors are small differences",
    ),
    "experiments/segmented": (LAST_BITS, "a plan that a search finds: its optimum is flat"),
    "experiments/shuffle_gaussian": (LAST_BITS, "a discretized privacy loss"),
    "experiments/summation": SEARCHED_NOISE,
    "protocols/frequency.jump_counts": SEARCHED_NOISE,
    "protocols/summation.coarse_correlated_sum": SEARCHED_NOISE,
    "protocols/summation.correlated_sum": SEARCHED_NOISE,
    "protocols/summation.real_sum": SEARCHED_NOISE,
    "protocols/summation.sparse_sum": SEARCHED_NOISE,
}
#: Quantities that bound rounding errors, with their tolerance.
ROUNDED = {"parameters.certified_margin": MARGIN}
#: Number of characters beyond which a text is under ``texts``.
LONG = 60
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


def differences(part: str, before: Rows, after: Rows, elsewhere: Rows | None = None) -> TableComparison:
    """Compare all rows of a part by quantity; a value of the other processor also counts as equal."""
    usual = SENSITIVE.get(part, (ANSWER,))[0]
    found = compare(before, after, lambda name: ROUNDED.get(name, usual))
    if elsewhere:
        other = {case: row | elsewhere.get(case, {}) for case, row in before.items()}
        ours = {(one.row, one.column) for one in compare(other, after, lambda name: usual).differences}
        found.differences[:] = [one for one in found.differences if (one.row, one.column) in ours]
    return found


def merge_rows(before: Rows, after: Rows, comparison: TableComparison) -> Rows:
    """Return the later rows with the earlier values of all quantities that do not differ."""
    moved = {(one.row, one.column) for one in comparison.differences}
    return {
        case: {
            name: before[case][name] if name in before.get(case, {}) and (case, name) not in moved else value
            for name, value in row.items()
        }
        for case, row in after.items()
    }


def write(part: str, rows: Rows, folder: Path = FOLDER, elsewhere: Rows | None = None) -> None:
    """Write the file of a part."""
    path = path_of(part, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(rows, elsewhere), encoding="utf-8", newline="\n")


def only_different(rows: Rows, elsewhere: Rows) -> Rows:
    """Return the other processor's quantities that differ from this one's."""
    found: Rows = {}
    for one in differences("", rows, elsewhere).differences:
        if one.before is not None and one.after is not None:
            found.setdefault(one.row, {})[one.column] = one.after
    return found
