"""Data for claims of segmented privacy: errors and best numbers of messages by panel, for either truth."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from shuffledp.accounting.segmented.items import blanket_slots
from shuffledp.accounting.segmented.plans import blanket_law_of
from shuffledp.accounting.segmented.set_errors import blanket_sse, sampling_sse
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.general_rules import available
from shuffledp.pipeline.claims.outcomes import ByPoint, Names, Untestable

OURS = "segmented_best"
"""The protocol at the number of blanket messages with the least expected error."""
RIVALS = {
    "balls_into_bins": "MM",
    "subset_shuffled": "the shuffled subset mechanism",
    "subset_local": "the local subset mechanism",
    "separate": "SepMM",
    "separate_weighted": "weighted SepMM",
}
"""Names of the competitors in the paper."""
NAMES = {
    **RIVALS,
    OURS: "the segmented protocol",
    "separate_inverse_variance": "SepMM with inverse variances",
}
SPLITS = {"25-50-25": "S1", "50-25-25": "S2", "25-25-50": "S3"}
"""Names of the shares of users per level."""
PANEL = ["data", "s", "n", "split"]
"""Index levels of all results here; curves also have the level ``m``."""
MSNBC_ITEMS = 4
"""Items per user after padding."""
EXPERIMENTS = ("msnbc", "uniform")
Panel = tuple[str, int, int, str]


def table(case: Case, method: str) -> pd.DataFrame:
    """Return a method's cells in both experiments, indexed by `PANEL`."""
    parts = []
    for experiment in EXPERIMENTS:
        cells = case.cells(experiment, method).reset_index().assign(data=experiment)
        parts.append(cells.assign(s=MSNBC_ITEMS) if experiment == "msnbc" else cells)
    whole = pd.concat(parts, ignore_index=True)
    return whole.set_index([*PANEL, *(["m"] if "m" in whole else [])]).sort_index()


def parameters(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a method's calibrated parameters by cell."""
    if "parameters" not in cells or cells["parameters"].isna().any():
        raise Untestable("the table has no calibrated parameters")
    return [json.loads(text) for text in cells["parameters"]]


def parameter(case: Case, method: str, name: str) -> ByPoint:
    """Return a calibrated parameter by panel."""
    cells = table(case, method)
    return pd.Series([float(content[name]) for content in parameters(cells)], cells.index)


def errors(case: Case, method: str) -> ByPoint:
    """Return a method's expected errors by panel, against the truth of the case.

    Levels are assigned at random, so that the error around the participants' frequencies is independent of the
    difference between participants and population. This difference adds the variance of a mean over the participants.
    """
    expected = table(case, method)["closed_form"].astype(float)
    if expected.isna().any():
        raise Untestable(f"{method} has no closed form")
    if case.target != "population":
        return expected
    sampling_errors = {panel: spread / panel[2] for panel, spread in spreads(case).items()}
    return expected + np.array([sampling_errors[key[:4]] for key in expected.index.to_list()])


def spreads(case: Case) -> dict[Panel, float]:
    """Return the sum of f (1 - f) over the items' frequencies f, by panel, from SepMM's sampling error."""
    cells = table(case, "separate")
    law, spreads_of = blanket_law_of(case.accounting), dict[Panel, float]()
    rows = zip(
        cells.index.to_list(), cells["closed_form"], cells["domain_size"], parameters(cells), strict=True
    )
    for panel, error, d, content in rows:
        _, _, n, split = panel
        noise = squares = 0.0
        for level, share in enumerate(str(split).split("-"), start=1):
            users, weight = float(share) * n / 100, content[f"weight_{level}"]
            blankets = content[f"blankets_{level}"]
            cell_rate = 0.0 if law == "poisson" else blanket_slots(blankets).rate / d
            noise += weight**2 * blanket_sse(users * blankets, cell_rate, users)
            squares += weight**2 / users
        spreads_of[panel] = (error - noise) / sampling_sse(squares, n, 1.0, "empirical")
    return spreads_of


def available_errors(case: Case, methods: Names) -> dict[str, ByPoint]:
    """Return the errors of all methods that have results under the accounting."""
    what = f"has results with {case.accounting} accounting"
    return available(methods, lambda method: errors(case, method), what)


def select_panels(values: ByPoint, *, split: str | None = None, data: str | None = None) -> ByPoint:
    """Return the values of an experiment, or of a split, or of both; raise `Untestable` if there are none."""
    if split is not None:
        values = values[values.index.get_level_values("split") == split]
    if data is not None:
        values = values[values.index.get_level_values("data") == data]
    if values.empty:
        raise Untestable(
            f"needs the papers' grid: nothing at split {split or 'of any kind'} in {data or 'any data'}"
        )
    return values


def by_panel(values: ByPoint) -> dict[Panel, ByPoint]:
    """Return the curves over m, by panel."""
    panels = dict.fromkeys(key[:4] for key in values.index.to_list())
    return {panel: values.loc[panel] for panel in panels}


def across(values: ByPoint, level: str, first: Any, second: Any) -> pd.DataFrame:
    """Return the values of common panels at two values of a level, in the columns ``first`` and ``second``."""
    wide = values.unstack(level)
    if not {first, second} <= set(wide.columns):
        raise Untestable(f"needs the papers' grid: {level} {first} and {second}")
    both = pd.DataFrame({"first": wide[first], "second": wide[second]}).dropna()
    if both.empty:
        raise Untestable(f"needs the papers' grid: no panel has {level} {first} and {second}")
    return both
