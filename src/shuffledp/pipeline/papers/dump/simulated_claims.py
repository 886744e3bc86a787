"""Rules on DUMP that simulated errors decide, and rules on the flexible variants."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import pandas as pd

from shuffledp.accounting.dump.errors import dump_mse, printed_dump_mse, printed_flexible_mse
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.outcomes import Untestable, Verdict, compared, percent, span
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.papers.dump.comparison_claims import DUMP, PLOTTED
from shuffledp.pipeline.papers.dump.computed_tables import EPS_LOCAL

claim = catalogue("dump")

FLEXIBLE = ("flexible_pure_dump", "flexible_mix_dump")
DEVIATIONS = 4.0
"""Standard errors up to which a simulated and an expected error agree."""
FEWEST_REPEATS = 30
"""Least number of repeats: with fewer, the standard error is so uncertain that chance exceeds four of them too
often."""


def deviations(case: Case, experiment: str, method: str) -> pd.DataFrame:
    """Return, per feasible cell, the simulated minus the expected error in standard errors."""
    cells = case.cells(experiment, method)
    values = case.evidence.found(experiment, method).values
    repeats = values[values["kind"] == "simulated"].groupby("cell")["value"]
    mean, count = cells["cell"].map(repeats.mean()), cells["cell"].map(repeats.count())
    if count.isna().any() or count.min() < FEWEST_REPEATS:
        raise Untestable(f"{experiment}.{method} has fewer than {FEWEST_REPEATS} repeats")
    error = cells["cell"].map(repeats.std()) / count.map(math.sqrt)
    return cells.assign(mean=mean, error=error, z=(mean - cells["closed_form"]) / error)


def _worst(parts: Mapping[str, pd.DataFrame]) -> tuple[pd.DataFrame, int]:
    every = pd.concat(parts.values())
    return every, int((every["z"].abs() > DEVIATIONS).sum())


@claim("DU-24")
def simulated_agrees(case: Case) -> Verdict:
    """Check that simulated and expected errors agree at every point."""
    parts = {
        f"{experiment} {method}": deviations(case, experiment, method)
        for experiment in ("domains", "users")
        for method in DUMP
    }
    every, apart = _worst(parts)
    mix = pd.concat([part for name, part in parts.items() if name.endswith("mix_dump")])
    short = [
        printed_dump_mse(
            int(row["users_expected"]),
            int(row["domain_size"]),
            json.loads(row["parameters"])["dummies"],
            eps_local=EPS_LOCAL,
        )
        / row["closed_form"]
        for row in mix.to_dict("records")
    ]
    gaps = (every["mean"] / every["closed_form"] - 1).abs()
    return Verdict(
        f"{percent(gaps.mean())} on average, {percent(gaps.max())} at most",
        (len(every) - apart, apart),
        f"more than {DEVIATIONS:g} standard errors apart at {apart} of {len(every)} points; the usual short form of "
        f"mixDUMP's error is {span(short)} times the exact one",
        f"{every['z'].abs().max():.2g} standard errors at most",
    )


@claim("DU-44")
def unbiased(case: Case) -> Verdict:
    """Check that squared errors do not exceed the estimators' variances, which a squared bias would increase."""
    parts = {
        method: deviations(case, experiment, method)
        for experiment, methods in (("domains", DUMP), ("flexible", FLEXIBLE))
        for method in methods
    }
    every, _ = _worst(parts)
    above = int((every["z"] > DEVIATIONS).sum())
    most = {
        method: math.sqrt(
            max(0.0, float((part["mean"] + DEVIATIONS * part["error"] - part["closed_form"]).min()))
        )
        for method, part in parts.items()
    }
    return Verdict(
        f"squared error above the variance at {above} of {len(every)} points",
        (len(every) - above, above),
        f"by more than {DEVIATIONS:g} standard errors; a bias of the frequencies is at most "
        + ", ".join(f"{bias:.1g} ({method})" for method, bias in most.items())
        + " at the point that shows it best",
        f"{every['z'].max():.2g} standard errors at most",
    )


@claim("DU-36")
def simulated_all_the_same(case: Case) -> Verdict:
    """Compare a protocol's simulated and expected errors; the claim is about run time and therefore untestable."""
    parts = {experiment: deviations(case, experiment, "private_coin") for experiment in PLOTTED}
    every, apart = _worst(parts)
    n, k = int(every["users_expected"].max()), int(every["domain_size"].max())
    return Verdict(
        f"simulated at {len(every)} points with up to {n} users and {k} values",
        "untestable",
        "the paper's program needs these hours to match every message with codewords; our errors are drawn "
        "from the law of the counts; they are "
        f"more than {DEVIATIONS:g} standard errors from the expected error at {apart} points",
        f"{every['z'].abs().max():.2g} standard errors at most",
    )


@claim("DU-40")
def flexible_formula(case: Case) -> Verdict:
    """Compare the printed error of flexible variants with the simulated error when senders have several dummies."""
    right = wrong = 0
    ratios = []
    for method in FLEXIBLE:
        for row in deviations(case, "flexible", method).reset_index().to_dict("records"):
            dummies = int(json.loads(row["parameters"])["dummies_per_sender"])
            if dummies < 2:
                continue
            local = EPS_LOCAL if "mix" in method else math.inf
            printed = printed_flexible_mse(
                int(row["users_expected"]), int(row["domain_size"]), dummies, row["rate"], eps_local=local
            )
            ratios.append(row["mean"] / printed)
            agrees = abs(row["mean"] - printed) <= DEVIATIONS * row["error"]
            right, wrong = right + agrees, wrong + (not agrees)
    return Verdict(
        f"{span(ratios)} times the error of the formula as rebuilt",
        "untestable",
        f"the available text lacks the formula (DUMP-N3); simulations agree with the rebuilt formula at {right} of "
        f"{right + wrong} points with several dummies per sender",
        f"{DEVIATIONS:g} standard errors count",
    )


@claim("DU-41")
def flexible_saves(case: Case) -> Verdict:
    """Check that flexible dummies have fewer messages and less error than a whole number of dummies per user."""
    messages, errors = [], []
    for row in case.cells("flexible", "flexible_pure_dump").reset_index().to_dict("records"):
        n, k = int(row["users_expected"]), int(row["domain_size"])
        sent = row["rate"] * json.loads(row["parameters"])["dummies_per_sender"]
        every = math.ceil(sent)
        messages.append(sent / every)
        errors.append(row["closed_form"] / dump_mse(n, k, n * every))
    both = [max(pair) for pair in zip(messages, errors, strict=True)]
    below, above, ties = compared(both, 1.0)
    return Verdict(
        f"{span(messages)} times the dummies, {span(errors)} times the error",
        (below, above),
        f"both below at {below}, not at {above}, tied at {ties} of {len(both)} points, where every user sends a whole "
        "number of dummies, one at least",
    )
