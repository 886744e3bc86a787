"""Relative errors of the public functions of the accounting, against references in more than 50 digits.

For every public name that returns a number, a curve or parameters, the tool computes the largest relative error on
either side. The settings are the corners of the range, then random settings with a fixed seed. References are
implemented from the formulas of the sources in `numerical/`, a module per family, without the accounting. Inverse
functions are checked by the reference of the forward function. A name without a reference is in
`numerical/elsewhere.py`, with the reason; a new name fails a test until the name has one or the other.

    python tools/numerical_errors.py                 # all; exits with 1 if an error is larger than stated
    python tools/numerical_errors.py --only clone    # functions with this in their name
    python tools/numerical_errors.py --page          # also writes the table into docs/numerics.md

Every finished setting is a line of a file with a digest of the code. So an interrupted run is continued, and a change
of the code repeats only the settings that reach this code.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path

import mpmath

from shuffledp import accountant, accounting, designs
from shuffledp.accounting import Infeasible
from shuffledp.pipeline.code_keys import CodeKeys
from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.pipeline.resumable import Lines
from shuffledp.protocols import calibrations

ROOT = Path(__file__).resolve().parents[1]
#: Packages whose public functions have references, or a reason for none.
DOORS = (accounting, accountant, calibrations, designs)
sys.path.insert(0, str(ROOT / "tools"))  # the references, when this is not run as a script

from numerical.claims import Claim, Setting  # noqa: E402
from numerical.elsewhere import REASONS  # noqa: E402

DIGITS = 80  # 50 of them are wanted; the others may cancel
PAGE = ROOT / "docs" / "numerics.md"
#: File with the finished settings.
LINES = ROOT / "logs" / "numerical_errors.jsonl"
#: Modules of references, in the order of the table.
FAMILIES = ("blankets", "clones", "counts", "curves", "elementary")


@dataclass
class Found:
    """Results for a function: the largest relative errors below and above the reference, 0 without an error.

    `settings` and `refused` count settings with a value and with an error message. `wrong` lists settings with an error
    larger than stated.
    """

    low: float = 0.0
    high: float = 0.0
    settings: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, claim: Claim, setting: Setting, error: float | None) -> None:
        """Count a setting with its error; None is a setting without a value."""
        if error is None:
            self.refused += 1
            return
        self.settings += 1
        self.low, self.high = min(self.low, error), max(self.high, error)
        if not claim.holds(error):
            self.wrong.append(f"{claim.name}: off by {error:.2g} at {setting}")


def families() -> Iterator[tuple[str, str, list[Claim]]]:
    """Yield module, heading and claims of every family."""
    for name in FAMILIES:
        module = import_module(f"numerical.{name}")
        yield name, module.FAMILY, module.CLAIMS


def covered() -> set[str]:
    """Return the public names with a reference."""
    return {claim.public for _, _, claims in families() for claim in claims}


def missing() -> list[str]:
    """Return public names with neither a reference nor a reason or with both, and listed names that do not exist."""
    checked = covered()
    names = {name for door in DOORS for name in door.__all__}
    return sorted((names ^ (checked | set(REASONS))) | (checked & set(REASONS)))


def measured(claim: Claim, setting: Setting) -> float | None:
    """Return the signed relative error in one setting; None if the function raises an error."""
    with mpmath.workdps(DIGITS):
        try:
            return float(claim.measure(**setting))
        except Infeasible:
            return None


def digest(code: CodeKeys, module: str) -> str:
    """Return a digest of the library and of the references of a claim."""
    return "".join(key[:6] for key in code.keys("results", f"tools/numerical/{module}.py").values())


def done(chosen: Iterable[tuple[str, Claim]], lines: Path) -> dict[str, Found]:
    """Return the results of all claims by name; missing settings are computed and appended."""
    known, code = Lines(lines), CodeKeys(ROOT)
    answers: dict[str, Found] = {}
    for module, claim in chosen:
        found = answers.setdefault(claim.name, Found())
        version = digest(code, module)
        for setting in claim.settings():
            key = f"{version} {claim.name} {json.dumps(setting)}"
            found.add(claim, setting, known.of(key, partial(measured, claim, setting)))
        print(
            f"{claim.name}: {found.settings} settings, {abs(found.low):.1e} below, {found.high:.1e} above",
            flush=True,
        )
        for text in found.wrong:
            print(f"  {text}", flush=True)
    return answers


def amount(error: float) -> str:
    """Return an error as text for the table."""
    return "0" if error == 0 else "any" if math.isinf(error) else f"{error:.1e}"


def table(found: dict[str, Found]) -> str:
    """Return the results as Markdown for the documentation."""
    parts = []
    for _, heading, claims in families():
        rows = [
            "| function | tried | settings | below: found | stated | above: found | stated |",
            "|---|---|---|---|---|---|---|",
        ]
        for claim in claims:
            one = found[claim.name]
            count = f"{one.settings}" + (f", {one.refused} refused" if one.refused else "")
            errors = (amount(e) for e in (-one.low, claim.below, one.high, claim.above))
            name = f"`{claim.public}`{claim.name[len(claim.public) :]}"
            rows.append(f"| {' | '.join([name, claim.tried(), count, *errors])} |")
        parts.append(f"### {heading[0].upper()}{heading[1:]}\n\n" + "\n".join(rows))
    total = sum(one.settings for one in found.values())
    wrong = sum(len(one.wrong) for one in found.values())
    first = (
        f"The run covered {len(covered())} public names in {total:,} settings. Of these settings, {wrong} "
        f"have an error that exceeds the stated limit or is on the wrong side."
    )
    reasons = [
        "| name | reason |",
        "|---|---|",
        *(f"| `{name}` | {why} |" for name, why in sorted(REASONS.items(), key=lambda r: r[0].lower())),
    ]
    return "\n\n".join([first, *parts, "### Names without a reference of their own", "\n".join(reasons)])


def main() -> int:
    """Compute all settings; return 1 if an error is larger than stated."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="write what was found into docs/numerics.md")
    parser.add_argument("--only", default="", metavar="TEXT", help="only functions with this in their name")
    given = parser.parse_args()
    if given.page and given.only:
        parser.error("--page is about all functions: leave out --only")
    if names := missing():
        parser.error(f"neither a reference nor a reason: {', '.join(names)}")
    chosen = [
        (module, claim) for module, _, claims in families() for claim in claims if given.only in claim.name
    ]
    if not chosen:
        parser.error(f"no function has {given.only!r} in its name")
    found = done(chosen, LINES)
    if given.page:
        text = table(found)
        write_block(PAGE, "numerical errors", text)
    return int(any(one.wrong for one in found.values()))


if __name__ == "__main__":
    sys.exit(main())
