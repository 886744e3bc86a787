"""In every cell of a tiny run under its last accounting, the simulated errors agree with the expected error."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from golden.experiment_answers import tiny_jobs
from golden.inside import run
from golden.parts import EXPERIMENTS

#: Repeats of a cell; few where the data take long to draw.
REPEATS, FEW = 20, {"segmented": 5}
#: Probability of a false alarm in a cell on either side, for the metric that varies most: one squared normal error.
RARE = 1e-8


def compared(paper, folder):
    """Yield the name of a cell and metric, the mean simulated error over the expected error, and the repeats."""
    for name, job in tiny_jobs(paper, folder, FEW.get(paper, REPEATS)):
        if not job.protocol:  # a function has nothing to simulate
            continue
        cells, values = run(replace(job, accounting=job.accounting[-1:]), folder)
        found = defaultdict(list)
        for value in values:
            found[value["cell"], value["metric"], value["kind"]].append(value["value"])
        places = {cell["cell"]: f"{name} {cell['point']} {cell['accounting']}" for cell in cells}
        for (cell, metric, kind), (expected, *_) in found.items():
            simulated = found.get((cell, metric, "simulated"), []) if kind == "expected" else []
            if simulated:
                yield f"{places[cell]}: {metric}", np.mean(simulated) / expected, len(simulated)


@pytest.mark.parametrize("paper", EXPERIMENTS)
def test_simulated_errors_agree_with_expectation(paper, tmp_path):
    wrong = []
    for name, ratio, repeats in compared(paper, tmp_path):
        low, high = (f(RARE, repeats) / repeats for f in (stats.chi2.ppf, stats.chi2.isf))
        if not low <= ratio <= high:
            wrong.append(f"{name} is {ratio:.3g} of its expected value, outside [{low:.2g}, {high:.2g}].")
    assert not wrong, "\n".join(wrong)
