"""Run the benchmarks and print a Markdown table: ``python benchmarks/run.py``.

Times depend on the machine; the ratios compare two computations in the same run.
"""

from itertools import chain

import dump
import learning
import multi_message
import peers
import random_population
import segmented
import shuffle_gaussian
import simulation
import summation
import times_by_version

import accountant


def main() -> None:
    print("| what | time | plain way | ratio | relative difference |")
    print("|---|---:|---:|---:|---:|")
    parts = (
        random_population,
        multi_message,
        dump,
        peers,
        accountant,
        shuffle_gaussian,
        segmented,
        summation,
        simulation,
        learning,
    )
    seconds = {}
    for row in chain.from_iterable(part.rows() for part in parts):
        cells = ["", "", ""]
        if row.reference is not None:
            cells[:2] = f"{1e3 * row.reference:.1f} ms", f"{row.reference / row.seconds:.3g}"
        if row.difference is not None:
            cells[2] = f"{row.difference:.0e}"
        print(f"| {row.name} | {1e3 * row.seconds:.2f} ms | {' | '.join(cells)} |", flush=True)
        seconds[row.name.partition(":")[0]] = row.seconds  # behind it are speeds of this run
    times_by_version.keep(seconds, times_by_version.of_code())


if __name__ == "__main__":
    main()
