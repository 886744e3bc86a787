"""Claims of Ghazi et al. 2021 on result tables: Figure 1, and the experiments on real and sparse sums."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.outcomes import (
    SLOPE,
    ByPoint,
    Outcome,
    Untestable,
    Verdict,
    combined,
    compared,
    exponent,
    never_above,
    percent,
    scaling,
    span,
    tally,
)
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.papers.summation.computed_tables import EPS_STAR, GAMMA, readings
from shuffledp.pipeline.papers.summation.theorem_claims import READING, central_slope

claim = catalogue("summation")

AGREES = 4
"""Standard errors within which a simulated value agrees with a closed form."""
SINGLE = {"central_laplace": "exact", "split_and_mix": "printed", "split_and_mix_figure": "printed"}
"""Methods with a single accounting, under which all claims are judged."""
EQUAL = 0.01
"""Relative difference up to which two errors are equal."""


def _under(case: Case, method: str) -> Case:
    return case.under(SINGLE.get(method, case.accounting))


def errors(case: Case, experiment: str, method: str) -> ByPoint:
    """Return root mean squared errors by grid point."""
    return _under(case, method).closed_forms(experiment, method) ** 0.5


def bits(case: Case, experiment: str, method: str) -> ByPoint:
    """Return bits per user by grid point."""
    found = _under(case, method).cells(experiment, method)["bits_per_user"].astype(float)
    return found.sort_index()


@claim("SU-01")
def simulated_error(case: Case) -> Verdict:
    """Compare simulated errors with the variance of discrete Laplace noise at (1 - gamma) eps."""
    experiment, method = "sizes", "correlated_sum"
    cells = case.cells(experiment, method)
    values = case.evidence.found(experiment, method).values
    runs = values[(values["kind"] == "simulated") & (values["metric"] == "mse")].groupby("cell")["value"]
    worst, ratios = 0.0, list[float]()
    for size, cell in cells["cell"].items():
        stated = discrete_laplace_variance(EPS_STAR / float(str(size)))
        sample = runs.get_group(cell) if cell in runs.groups else pd.Series(dtype=float)
        if len(sample) < 2:
            raise Untestable("there are no repeats to compare with")
        ratios.append(float(sample.mean()) / stated)
        worst = max(
            worst, abs(float(sample.mean()) - stated) / (float(sample.std()) / math.sqrt(len(sample)))
        )
    return Verdict(
        f"{span(ratios)} times the stated error",
        worst <= AGREES,
        f"{len(ratios)} D; agreement within {AGREES} standard errors is accepted",
        f"at most {worst:.2g} standard errors of the mean",
    )


@claim("SU-17")
def error_ratios(case: Case) -> Verdict:
    """Compare errors of the method and of IKOS with the central mechanism's error."""
    experiment = "sizes"
    central = errors(case, experiment, "central_laplace")
    ours, ikos = (
        (errors(case, experiment, m) / central).dropna() for m in ("correlated_sum", "split_and_mix")
    )
    near = bool((abs(ours * EPS_STAR - 1) <= EQUAL).all())
    same = bool((abs(ikos - 1) <= EQUAL).all())
    return Verdict(
        f"{span(ours)} times, IKOS {span(ikos)} times",
        tally([near, same]),
        f"1 / {EPS_STAR:g} and 1 are stated; within {percent(EQUAL)} is accepted",
    )


@claim("SU-18")
def linear_errors(case: Case) -> Verdict:
    """Judge the exponents of the errors in D."""
    slopes = {
        m: scaling(found.index, found)
        for m in ("correlated_sum", "split_and_mix")
        if len(found := errors(case, "sizes", m)) > 1
    }
    if len(slopes) < 2:
        raise Untestable("needs the papers' grid: a slope needs two D")
    slopes["central_laplace"] = central_slope(case)
    outcomes = {exponent(slope, 1) for slope in slopes.values()}
    return Verdict(
        f"exponents {', '.join(f'{slope:.3f} ({m})' for m, slope in slopes.items())}",
        combined(outcomes),
        "least squares over the D of the grid",
    )


@claim("SU-19")
def rappor_slope(case: Case) -> Verdict:
    """Judge the local exponent of RAPPOR's error in D."""
    method = "rappor_plain"
    last = (10, 15)
    found = errors(case, "sizes", method)
    if not set(last) <= set(found.index):
        raise Untestable(f"needs the papers' grid: D = {' and '.join(map(str, last))}")
    slope = scaling(last, [float(found.loc[d]) for d in last])
    return Verdict(
        f"exponent {slope:.3f} from D = {last[0]} to {last[-1]}",
        exponent(slope, 1.5),
        f"{method}; within {SLOPE} of 1.5 is accepted",
    )


@claim("SU-21", method="rappor_plain", within=0.01)
@claim("SU-36", method="correlated_sum", within=1e-09)
def constant_error(case: Case, method: str, within: float) -> Verdict:
    """Check that the error is constant in the number of users."""
    found = errors(case, "users", method)
    if len(found) < 2:
        raise Untestable("needs the papers' grid: several n")
    spread = float(found.max() / found.min() - 1)
    return Verdict(
        f"relative spread {spread:.2g}",
        spread < within,
        f"{method}, n = {found.index.min():,} to {found.index.max():,}; below {within:g} is accepted",
    )


@claim("SU-25")
def readings_of_users(case: Case) -> Verdict:
    """Compare the bits of the method with the points of Figure 1b."""
    drawn = readings()
    drawn = drawn[(drawn["panel"] == "b") & (drawn["curve"] == "correlated noise")].set_index("n")
    found = bits(case, "users", "correlated_sum").reindex(drawn.index)
    if found.isna().any():
        raise Untestable("needs the papers' grid: not all n of the figure")
    near = int((abs(found - drawn["reading"]) <= drawn["reading_error"]).sum())
    per_message = 4  # bits, D = 5
    first = drawn.index.min()
    noise = (float(drawn["reading"].loc[first]) / per_message - 1) * first
    fitted = per_message * (1 + noise / drawn.index.to_numpy(float))
    fits = int((abs(fitted - drawn["reading"]) <= drawn["reading_error"]).sum())
    verdict: Outcome = "holds" if near == len(drawn) else "in part" if near or fits == len(drawn) else "fails"
    return Verdict(
        f"{', '.join(f'{b:.4g}' for b in found)} bits",
        verdict,
        f"{near} of {len(drawn)} points agree; one number of noise messages, {noise:.3g}, fits {fits} of {len(drawn)}",
        READING,
    )


@claim("SU-26")
def messages_vanish(case: Case) -> Verdict:
    """Judge the extra messages times the number of users."""
    slopes = {}
    for method in ("correlated_sum", "rappor_plain"):
        extra = case.cells("users", method)["extra_messages"].astype(float).sort_index()
        if len(extra) < 2:
            raise Untestable("needs the papers' grid: several n")
        slopes[method] = scaling(extra.index, extra)
    outcomes = {exponent(slope, -1) for slope in slopes.values()}
    return Verdict(
        f"exponents {', '.join(f'{slope:.3f} ({m})' for m, slope in slopes.items())}",
        combined(outcomes),
        "extra messages per user against n: -1 is a constant number for all users together",
    )


@claim("SU-27")
def fewer_bits(case: Case) -> Verdict:
    """Check that the method has fewer bits than IKOS at every n of Figure 1b."""
    ours, ikos = bits(case, "users", "correlated_sum"), bits(case, "users", "split_and_mix_figure")
    both = pd.DataFrame({"ours": ours, "ikos": ikos}).dropna()
    below, above, _ = compared(both["ours"], both["ikos"])
    return Verdict(
        f"IKOS needs {span(both['ikos'] / both['ours'])} times the bits",
        (below, above),
        f"fewer at {below} and more at {above} of {len(both)} n; IKOS has the shares of the figure",
    )


@claim("SU-29")
def shares_fall(case: Case) -> Verdict:
    """Check that IKOS needs at least three messages, and fewer for more users."""
    shares = _under(case, "split_and_mix_figure").cells("users", "split_and_mix_figure")["messages_per_user"]
    counts = [float(x) for x in shares.sort_index()]
    if len(counts) < 2:
        raise Untestable("needs the papers' grid: several n")
    falls = counts == sorted(counts, reverse=True) and counts[-1] < counts[0]
    return Verdict(
        f"{', '.join(f'{c:g}' for c in counts)} shares",
        tally([falls, min(counts) >= 3]),
        f"n = {shares.index.min():,} to {shares.index.max():,}",
    )


@claim("SU-32")
def artefact(case: Case) -> Verdict:
    """Judge how bits grow with D, in the figure and for better designs."""
    table = readings()
    panel = table[(table["panel"] == "c") & (table["curve"] == "correlated noise")]
    drawn = dict(zip(panel["max_value"], panel["reading"], strict=True))
    ours = bits(case, "sizes", "correlated_sum")
    large = [d for d in (5, 10, 15) if d in ours.index]
    if len(large) < 2:
        raise Untestable("needs the papers' grid: D = 5 and more")
    figure = scaling(large, [drawn[d] for d in large])
    found = scaling(large, [float(ours.loc[d]) for d in large])
    return Verdict(
        f"exponent {found:.2f} instead of {figure:.2f}",
        figure > 1 >= found,
        f"bits from D = {large[0]} to {large[-1]}: {', '.join(f'{float(ours.loc[d]):.3g}' for d in large)}; the figure "
        f"has {', '.join(f'{drawn[d]:.3g}' for d in large)}",
        READING,
    )


@claim("SU-08")
def two_copies(case: Case) -> Verdict:
    """Judge a coordinate's budget for 1-sparse vectors, from the calibrated protocol."""
    cells = case.cells("pages", "sparse_sum")
    each = [float(json.loads(str(text))["eps_star"]) for text in cells["parameters"]]
    shares = [value / (1 - GAMMA) / float(str(eps)) for value, eps in zip(each, cells.index, strict=True)]
    return Verdict(
        f"{span(shares)} of eps",
        all(math.isclose(share, 0.5, rel_tol=1e-9) for share in shares),
        "budget of the noise of each coordinate over 1 - gamma: replacing a user touches two of them",
    )


@claim(
    "O-20",
    what="error",
    experiments=["sizes"],
    pairs=[
        ["central_laplace", "correlated_sum"],
        ["correlated_sum", "rappor_centred"],
        ["correlated_sum", "rappor_plain"],
    ],
    same=["split_and_mix", "central_laplace"],
)
@claim(
    "O-21",
    what="bits",
    experiments=["sizes", "users"],
    pairs=[
        ["rappor_plain", "correlated_sum"],
        ["central_laplace", "correlated_sum"],
        ["correlated_sum", "split_and_mix_figure"],
    ],
)
def chain(
    case: Case,
    what: str,
    experiments: Sequence[str],
    pairs: Sequence[Sequence[str]],
    same: Sequence[str] = (),
) -> Verdict:
    """Check that the first of each pair never exceeds the second in errors or bits; ``same`` are two equal methods."""
    read = {"error": errors, "bits": bits}[what]
    outcomes: list[Outcome] = []
    said, wrong, points = [], 0, 0
    for experiment in experiments:
        for lower, upper in pairs:
            both = pd.concat([read(case, experiment, lower), read(case, experiment, upper)], axis=1).dropna()
            if both.empty:
                raise Untestable("no point has results of both sides")
            _, above, _ = compared(both.iloc[:, 0], both.iloc[:, 1])
            outcomes.append(never_above(above, len(both)))
            wrong, points = wrong + above, points + len(both)
            if above:
                said.append(f"{lower} above {upper} at {above} of {len(both)} points of {experiment}")
        if same:
            ratio = (read(case, experiment, same[0]) / read(case, experiment, same[1])).dropna()
            outcomes.append("holds" if bool((abs(ratio - 1) <= EQUAL).all()) else "fails")
            said.append(f"{same[0]} over {same[1]} is {span(ratio)}")
    return Verdict(
        f"the wrong way at {wrong} of {points} points",
        combined(outcomes),
        "; ".join(said) or f"in order at all points of {', '.join(experiments)}",
    )


@claim("SU-34")
def single_message(case: Case) -> Verdict:
    """Check that extra messages per user are below ``most_extra``; "in part" if they at least decrease with n."""
    users = 1_000_000
    cells = case.cells("users", "correlated_sum")
    messages, extra = cells["messages_per_user"].sort_index(), cells["extra_messages"].sort_index()
    if users not in extra.index:
        raise Untestable(f"the grid of summation.users lacks n = {users:,}")
    at = cells.loc[users]
    falls = bool(np.all(np.diff(extra) < 0))
    outcome: Outcome = "holds" if extra[users] < 1.0 else "in part" if falls else "fails"
    trend = "fall" if falls else "do not always fall"
    return Verdict(
        f"{messages[users]:.3g} messages per user (n = {users:,}, D = {at.domain_size - 1:g}, eps = {at.eps:g}, "
        f"delta = {at.delta:g})",
        outcome,
        f"extra messages {trend} from {extra.iloc[0]:.3g} to {extra.iloc[-1]:.2g} over {min(extra.index):,} to "
        f"{max(extra.index):,} users",
    )
