"""Compare the accuracies of training runs with different seeds: ``make -C tools training-seeds``.

With --page the table is written into docs/measured/.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean, stdev

from shuffledp.pipeline.experiments.trained import TrainingFiles, read

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/measured/training_seeds.md"
RUNS = {"sgd": "Figure 1a", "checkin": "Figure 1b"}
#: Shares of all rounds.
SHARES = (0.1, 0.25, 0.5, 1.0)


def table(results: Path) -> str:
    """Return a table with the accuracy of every seed at some rounds."""
    lines = [
        "| curve | round | accuracy by seed | mean | standard deviation |",
        "|---|---:|---|---:|---:|",
    ]
    for run, figure in RUNS.items():
        files = (results / "training/shuffle_gaussian").glob(f"{run}*.parquet")
        names = sorted(path.stem for path in files)  # the first seed has no number
        curves = [read(TrainingFiles.locate(results, "shuffle_gaussian", name)).accuracy for name in names]
        last = max(curves[0])
        for share in SHARES:
            at = min(curves[0], key=lambda round_: abs(round_ - share * last))
            found = [100 * curve[at] for curve in curves]
            by_seed = ", ".join(f"{accuracy:.2f} %" for accuracy in found)
            lines.append(f"| {figure} | {at:,} | {by_seed} | {mean(found):.2f} % | {stdev(found):.2f} % |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--page", action="store_true", help="write docs/measured/")
    given = parser.parse_args()
    found = table(given.results)
    if given.page:
        PAGE.write_text(found + "\n", encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
