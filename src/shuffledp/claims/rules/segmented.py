"""Rules that decide the claims of the paper on segmented privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from shuffledp.claims.case import Case, Rule
from shuffledp.claims.outcomes import CLOSED_FORM, Verdict, about, percent
from shuffledp.claims.rules import general
from shuffledp.claims.rules.dump import available

RIVALS = {
    "balls_into_bins": "MM",
    "subset_shuffled": "the shuffled subset mechanism",
    "subset_local": "the local subset mechanism",
    "separate": "SepMM",
    "separate_weighted": "weighted SepMM",
}
"""What the paper compares with, in words."""


def gain(case: Case, experiments: Sequence[str], split: str, stated: float, least: float) -> Verdict:
    """A share of the best rival's error is gone: about the stated one as a mean, and in no panel less than a least."""
    gains: list[float] = []
    absent: set[str] = set()
    for experiment in experiments:
        ours = best_number(case.closed_forms(experiment, "segmented"), split)
        rivals = available(case, experiment, tuple(RIVALS))
        absent |= {name for method, name in RIVALS.items() if method not in rivals}
        best = pd.concat([best_number(v, split).reindex(ours.index) for v in rivals.values()], axis=1)
        gains += list((1 - ours / best.min(axis=1)).dropna())
    mean = float(np.mean(gains))
    outcome = about(mean, stated)
    if outcome == "holds" and min(gains) < least:
        outcome = "in part"
    without = f"; {', '.join(sorted(absent))}: no result with {case.accounting} accounting" if absent else ""
    return Verdict(
        percent(mean),
        CLOSED_FORM,
        outcome,
        f"{percent(min(gains))} to {percent(max(gains))} below the best rival in {len(gains)} panels{without}",
    )


def best_number(values: pd.Series[float], split: str) -> pd.Series[float]:
    """The least value over the number of blanket messages, at one split of the users over the levels."""
    panels = [name for name in values.index.names if name not in ("m", "split")]
    if "split" in values.index.names:
        values = values[values.index.get_level_values("split") == split]
    return values.groupby(level=panels).min()


RULES: Mapping[str, Rule] = {**general.RULES, "gain": gain}
"""By the names that ``stated/segmented.yaml`` uses."""
