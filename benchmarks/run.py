"""Run the benchmarks and print a Markdown table: ``python benchmarks/run.py``.

Times depend on the machine; the ratios compare both ways in the same run.
"""

from itertools import chain

import dump
import multi_message
import random_population


def main() -> None:
    print("| what | time | plain way | ratio | relative difference |")
    print("|---|---:|---:|---:|---:|")
    for row in chain(random_population.rows(), multi_message.rows(), dump.rows()):
        cells = ["", "", ""]
        if row.reference is not None and row.difference is not None:
            cells = [
                f"{1e3 * row.reference:.1f} ms",
                f"{row.reference / row.seconds:.0f}",
                f"{row.difference:.0e}",
            ]
        print(f"| {row.name} | {1e3 * row.seconds:.2f} ms | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
