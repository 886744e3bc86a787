"""Numbers of accepted and rejected inputs among hundreds of faulty configurations and data files.

The strategies in tests/properties draw the inputs; `make test` tests a few of them. Each input must be accepted with
the right plan or count, or rejected in one clear line, within a limit of CPU seconds. All other outcomes are printed
and counted as faults.

    python tools/property_tests.py                    # exits with 1 if there is a fault
    python tools/property_tests.py --configurations 100 --files 100 --seed 7
    python tools/property_tests.py --page             # also writes the counts into docs/measured/
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/properties"))

import configurations  # noqa: E402
import data_files  # noqa: E402
from judged import Outcome  # noqa: E402

PAGE = ROOT / "docs/measured/bad_inputs.md"
KINDS = ("refused", "accepted", "fault")


def tried(strategy: Any, trial: Callable[[Any], Outcome], wanted: int, chosen: int) -> Counter[str]:
    """Return the outcomes of `wanted` different inputs."""
    counts: Counter[str] = Counter()
    seen: set[Any] = set()

    @seed(chosen)
    @settings(
        max_examples=4 * wanted,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def one(bad: Any) -> None:
        key = repr(bad), bad.content
        if key in seen or len(seen) >= wanted:
            return
        seen.add(key)
        found = trial(bad)
        counts[found.kind] += 1
        if found.kind == "fault":
            print(f"{bad}: {found.text}", flush=True)

    one()
    return counts


def table(rows: dict[str, Counter[str]]) -> str:
    """Return the counts as Markdown for the page."""
    lines = [
        "| input | tried | refused in one line | accepted and correct | anything else |",
        "|---|---|---|---|---|",
    ]
    for name, counts in rows.items():
        lines.append(
            f"| {name} | {counts.total():,} | " + " | ".join(f"{counts[kind]:,}" for kind in KINDS) + " |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Test all inputs, print the counts, and write the page with --page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--configurations", type=int, default=600)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project, data = Path(folder) / "project", Path(folder) / "data"
        configurations.make_project(project)
        data.mkdir()
        rows = {
            "configurations": tried(
                configurations.bad_configurations(),
                lambda bad: configurations.trial(bad, project),
                asked.configurations,
                asked.seed,
            ),
            "files of data": tried(
                data_files.bad_data_files(), lambda bad: data_files.trial(bad, data), asked.files, asked.seed
            ),
        }
    print(table(rows))
    if asked.page:
        PAGE.write_text(table(rows), encoding="utf-8")
    return int(any(counts["fault"] for counts in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
