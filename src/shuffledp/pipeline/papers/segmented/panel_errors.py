"""Data for claims of segmented privacy: errors and other numbers of methods by panel, for either truth."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import xarray as xr

from shuffledp.accounting.segmented.items import blanket_slots
from shuffledp.accounting.segmented.plans import blanket_law_of
from shuffledp.accounting.segmented.set_errors import blanket_sse, sampling_sse
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.query import Array, mapped, select

#: The protocol at the number of blanket messages with the least expected error.
OURS = "segmented_best"
#: Names of the competitors in the paper.
RIVALS = {
    "balls_into_bins": "MM",
    "subset_shuffled": "the shuffled subset mechanism",
    "subset_local": "the local subset mechanism",
    "separate": "SepMM",
    "separate_weighted": "weighted SepMM",
}
NAMES = {
    **RIVALS,
    OURS: "the segmented protocol",
    "separate_inverse_variance": "SepMM with inverse variances",
}
#: Names of the shares of users per level.
SPLITS = {"25-50-25": "S1", "50-25-25": "S2", "25-25-50": "S3"}
#: Variables of all numbers here; curves also have the variable ``m``.
PANEL = ("data", "s", "n", "split")
#: Items per user after padding.
MSNBC_ITEMS = 4
EXPERIMENTS = ("msnbc", "uniform")


def panels(case: Case, quantity: str, method: str, **at: Any) -> Array:
    """Return a quantity of a method in both experiments, by `PANEL` or at values of its variables."""
    parts = []
    for experiment in EXPERIMENTS:
        values = case(quantity, method, experiment=experiment)
        new = {"data": [experiment], **({} if "s" in values.dims else {"s": [MSNBC_ITEMS]})}
        parts.append(values.expand_dims(new))
    whole = xr.concat(parts, "data", join="outer", coords="minimal", compat="override")
    return select(whole.transpose(*PANEL, ...), **at)


def errors(case: Case, method: str, **at: Any) -> Array:
    """Return a method's expected errors as `panels` does, against the truth of the case.

    Levels are assigned at random, so that the error around the participants' frequencies is independent of the
    difference between participants and population. This difference adds the variance of a mean over the participants.
    """
    values = panels(case, "expected", method)
    if case.target == "population":
        values = values + spreads(case) / values["n"]
    return select(values, **at)


def spreads(case: Case) -> Array:
    """Return the sum of f (1 - f) over the items' frequencies f, by panel, from SepMM's sampling error."""

    def number(quantity: str) -> Array:
        return panels(case, quantity, "separate")

    error, poisson = number("expected"), blanket_law_of(case.accounting) == "poisson"
    noise, squares = xr.zeros_like(error), xr.zeros_like(error)
    for level in (1, 2, 3):
        weight, blankets = number(f"parameters.weight_{level}"), number(f"parameters.blankets_{level}")
        shares = [float(split.split("-")[level - 1]) for split in error["split"].to_numpy()]
        users = Array(shares, {"split": error["split"].to_numpy()}, ["split"]) * error["n"] / 100
        rates = blankets * 0 if poisson else mapped(lambda m: blanket_slots(m).rate, blankets)
        noise += weight**2 * mapped(blanket_sse, users * blankets, rates / number("domain_size"), users)
        squares += weight**2 / users
    return (error - noise) / mapped(
        lambda part, n: sampling_sse(part, n, 1.0, "empirical"), squares, error["n"]
    )


def available_errors(case: Case, methods: Iterable[str], **at: Any) -> dict[str, Array]:
    """Return the errors of all methods that have results under the accounting."""
    available = case.where(experiment=EXPERIMENTS[0]).available("expected", methods)
    return {method: errors(case, method, **at) for method in available}
