"""Claims of Wang et al. 2023 on amplification by a random population, which the accounting decides."""

from __future__ import annotations

import math

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.clones import unamplified_budget, unamplified_delta
from shuffledp.accounting.random_population.amplification import amplified_epsilon, clone_delta, local_budget
from shuffledp.numerics.roots import root_below
from shuffledp.pipeline.claims.case import Case, Verdict
from shuffledp.pipeline.formatters import SAME, finite, number, percent, times
from shuffledp.pipeline.papers.random_population.error_claims import WORDS, budgets
from shuffledp.pipeline.papers.random_population.settings import DELTA, EPS
from shuffledp.pipeline.papers.random_population.witnesses import simplified_form_range
from shuffledp.pipeline.query import MissingResultsError, grade, monotone
from shuffledp.populations.base import Fixed, Law
from shuffledp.populations.bounds import MomentBounded
from shuffledp.populations.laws import Binomial, Poisson

#: Local budget (nats) and mean of Figure 2.
FIG2_LOCAL, FIG2_MEAN = 0.5, 5000.0
VARIANCES = (8700.0, 250_000.0)
#: Poisson means at which amplification is searched for.
MEANS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
#: Ratio of the local to the central budget from which a report counts as amplified.
AMPLIFIES = 1.001


def no_others(case: Case) -> Verdict:
    """Check that without other users the largest local budget is the central budget, up to the gain from delta."""
    gains = {
        accounting: max(local_budget(Fixed(0), eps, DELTA, accounting=accounting) / eps for eps in EPS)
        for accounting in ("printed", "exact")
    }
    alone = max(unamplified_budget(eps, DELTA) / eps for eps in EPS)
    nothing = gains["printed"] <= 1 and gains["exact"] <= alone * (1 + 1e-9)
    return Verdict(
        ", ".join(f"A(eps_c) / eps_c at most {gain:.4g} ({name})" for name, gain in gains.items()),
        nothing,
        f"over the grid of eps, with user 1 alone; delta allows {alone:.4g} for a single report",
    )


def mean_violates(case: Case) -> Verdict:
    """Check that the budget for the mean population exceeds delta if the variance is large."""
    granted = amplified_epsilon(Fixed(int(FIG2_MEAN)), FIG2_LOCAL, DELTA, accounting="exact")
    least = {}
    for variance in VARIANCES:
        nobody = variance / (variance + FIG2_MEAN**2)  # of two points with this mean and variance, one at 0
        least[variance] = nobody * unamplified_delta(FIG2_LOCAL, granted)
    law = Binomial(48_841, 0.05)
    alone = local_budget(Fixed(round(law.mean)), 0.05, DELTA, accounting="exact")
    binomial = clone_delta(law, alone, 0.05)
    violated = all(delta > DELTA for delta in least.values())
    return Verdict(
        ", ".join(
            f"delta at least {delta:.2g} at variance {variance:g}" for variance, delta in least.items()
        ),
        violated,
        f"the promised delta is {DELTA:g}; with a binomial population (Adult, rate 0.05, eps_c 0.05) it is "
        f"{binomial:.4g}",
    )


def needs_users(case: Case) -> Verdict:
    """Check that amplification begins at some mean population and persists for larger populations."""
    gains = {
        mean: max(
            local_budget(Poisson(float(mean)), eps, DELTA, accounting=case.accounting) / eps for eps in EPS
        )
        for mean in MEANS
    }
    amplified = [mean for mean, gain in gains.items() if gain > AMPLIFIES]
    stays = amplified == [mean for mean in MEANS if amplified and mean >= amplified[0]]
    first = amplified[0] if amplified else None
    return Verdict(
        "none"
        if first is None
        else f"from a mean of {first} others on, where A(eps_c) is {gains[first]:.3g} times eps_c",
        stays and bool(amplified),
        f"largest A(eps_c) / eps_c over the grid of eps, at {len(MEANS)} means from {MEANS[0]} to {MEANS[-1]:,}",
    )


def valid_theorems(case: Case) -> Verdict:
    """Check at random settings that the eps_c of Theorems 1 and 2 has at most the stated exact delta."""
    count = case.at_most(400, 40)
    rng = np.random.default_rng(20231101)
    worst, tried = 0.0, 0
    while tried < count:
        mean, rate = 10 ** rng.uniform(1.5, 5), rng.uniform(0.01, 1)
        law: Law = Poisson(mean) if rng.random() < 0.5 else Binomial(math.ceil(mean / rate), rate)
        eps_local, delta = 10 ** rng.uniform(-1.5, 0.7), 10 ** rng.uniform(-8, -1)
        eps = amplified_epsilon(law, eps_local, delta, accounting="printed")
        if eps < eps_local:
            worst, tried = max(worst, clone_delta(law, eps_local, eps) / delta), tried + 1
    wasted = [
        local_budget(law, eps, DELTA, accounting="exact")
        / local_budget(law, eps, DELTA, accounting="printed")
        for law in (Binomial(48_841, 0.01), Poisson(125_000.0))
        for eps in (EPS[0], EPS[-1])
    ]
    return Verdict(
        f"exact delta at most {worst:.2g} times the promised one",
        worst <= 1,
        f"binomial and Poisson populations in which the theorems amplify; the exact local budget is {times(wasted)} "
        "the printed one",
        f"{count} random settings",
    )


def eight_form(case: Case) -> Verdict:
    """Check that the simplified form has at most the stated delta from 3 log(4/delta) clones on."""
    e, users, log4 = math.exp(1.0), 100_001, math.log(4 / DELTA)
    ratios = []
    for multiple in np.linspace(3.0, 14.0, case.at_most(23, 7)):
        law = Binomial(users - 1, float(multiple) * (1 + 1e-12) * log4 * e / users)
        eps = amplified_epsilon(law, 1.0, DELTA, accounting="simplified")
        if eps < 1.0:
            ratios.append(clone_delta(law, 1.0, eps) / DELTA)
    if not ratios:
        raise MissingResultsError("the simplified form amplifies nowhere in its stated range")
    follows = simplified_form_range().correct
    valid = max(ratios) <= 1
    return Verdict(
        f"follows from {follows:.3g} log(4/delta) on",
        grade(strict=valid and follows <= 3, weak=valid),
        f"exact delta at most {max(ratios):.2g} times the promised one between 3 and 14 log(4/delta), but the theorem "
        "implies the form from the measured multiple on only",
    )


def amplification_grows(case: Case, experiment: str) -> Verdict:
    """Check that A(eps_c) at every eps_c grows with the participation rate, or with the mean of the other users."""
    local = budgets(case, experiment)
    panels = local["panel"].to_numpy()
    if panels.size < 2:
        raise MissingResultsError(f"needs the papers' grid: two values of the {WORDS[experiment]} at least")
    steps = monotone(local, "panel", rising=True)
    means = finite(local.mean("eps"))
    return Verdict(
        f"larger in {steps.pro} of {steps.decided} steps",
        steps,
        f"A(eps_c) from one {WORDS[experiment]} to the next at every eps_c; from {panels[0]:g} to {panels[-1]:g} its "
        f"mean grows to {times(means[-1] / means[0])}",
    )


def variance_costs(case: Case) -> Verdict:
    """Check that Theorem 3's central budget grows with the variance of the population."""
    delta = 0.001
    eps = case("expected", "amplified", experiment="variance", delta=delta)
    inside = eps[eps.to_numpy() < FIG2_LOCAL * (1 - SAME)]
    if inside.size < 2:
        raise MissingResultsError("Theorem 3 amplifies at fewer than two variances of the run")
    steps = monotone(inside, "variance", rising=True)
    return Verdict(
        ", ".join(f"{number(one)} at {float(one['variance']):g}" for one in inside),
        steps,
        f"eps_c (nats) by variance at delta {delta:g} where the theorem amplifies; larger in {steps.pro} of "
        f"{steps.decided} steps",
    )


def variance_limit(case: Case) -> Verdict:
    """Judge the least variance without amplification at the stated delta; "in part" if nothing amplifies."""
    stated, delta, within = 8700, 0.0001, 0.05
    most = stated * (1 + within)

    def excess(variance: float, at: float) -> float:
        population = MomentBounded(FIG2_MEAN, variance)
        eps = amplified_epsilon(population, FIG2_LOCAL, at, accounting=case.accounting)
        return eps - FIG2_LOCAL * (1 - 1e-6)

    def limit(at: float, most: float) -> float:
        """Return 0 if nothing amplifies, and infinity if amplification goes on at the largest variance."""
        if excess(0.0, at) >= 0:
            return 0.0
        if excess(most, at) < 0:
            return math.inf
        return root_below(lambda variance: excess(variance, at), stated, 0.0, most, xtol=1.0)

    try:
        least = limit(delta, most)
    except Infeasible as reason:
        raise MissingResultsError(str(reason)) from None
    measured = {
        0.0: "no amplification at any variance",
        math.inf: f"amplification goes on at {most:g}, with eps_c {excess(most, delta) + FIG2_LOCAL:.3g}",
    }.get(least, f"{least:.0f}")
    other = limit(10 * delta, 4 * stated) if case.accounting == "printed" else 0.0
    elsewhere = f"; at delta {10 * delta:g} the limit is {other:.0f}" if other else ""
    return Verdict(
        measured,
        grade(strict=abs(least - stated) <= within * stated, weak=not least),
        f"mean {FIG2_MEAN:g}, eps_l {FIG2_LOCAL:g}, delta {delta:g}, the stated limit {stated:g} within "
        f"{percent(within)}{elsewhere}",
    )
