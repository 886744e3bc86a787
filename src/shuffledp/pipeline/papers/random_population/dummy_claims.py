"""Claims of Wang et al. 2023 on dummies: the setting of Figure 3, the best number of dummies, and gains in figures."""

from __future__ import annotations

import numpy as np

from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.accounting.random_population.best_dummies import dummy_grid, optimal_dummies
from shuffledp.accounting.random_population.report_errors import error_factor, report_variance
from shuffledp.pipeline.claims.case import POINTS, Case, Verdict
from shuffledp.pipeline.formatters import finite, percent, percents, times
from shuffledp.pipeline.papers.random_population.error_claims import COUNTED, WORDS, all_errors, ratio
from shuffledp.pipeline.papers.random_population.settings import DELTA
from shuffledp.pipeline.query import (
    TIE,
    Array,
    Outcome,
    Points,
    compare,
    grade,
    lines,
    mapped,
    monotone,
    near,
    select,
    share,
    total,
)
from shuffledp.populations.laws import Binomial, Poisson

#: Poisson means at which dummies are tried.
SMALL_MEANS = (12, 30, 100, 300, 1000, 5000, 25_000)
#: Relative gain up to which there is no gain.
NO_GAIN = 0.001
#: Change of a gain that counts as a step: one percentage point.
POINT = 0.01
FIG3 = Binomial(5000, 0.2)
#: Other users and central budget (nats) of Figure 3.
FIG3_EPS = 0.05


def budgets_by_dummies(case: Case) -> Array:
    """Return A(k) in nats by the number k of dummies, from the run."""
    if case.accounting != "simplified":
        return case("eps_local", "non_adaptive", experiment="dummies")

    def budget(dummies: float) -> float:
        return local_budget(FIG3, FIG3_EPS, DELTA, dummies=int(dummies), accounting="simplified")

    return mapped(budget, case.under("printed")("eps_local", "non_adaptive", experiment="dummies")["k"])


def dummies_amplify(case: Case) -> Verdict:
    """Check that A(k) grows with k."""
    local = budgets_by_dummies(case)
    steps = monotone(local, "k", rising=True)
    first, last = local[0], local[-1]
    return Verdict(
        f"{float(first):.3f} to {float(last):.3f}",
        steps,
        f"A(k) in nats from {int(first['k'])} to {int(last['k'])} dummies, larger in {steps.pro} of "
        f"{steps.decided} steps",
    )


def _gain_outcome(gain: float, stated: float, least: float) -> Outcome:
    """Judge a gain of about a stated fraction, which fails up to a least gain."""
    return near(gain, stated, POINTS) if gain > least else "fails"


def best_number_gains(case: Case) -> Verdict:
    """Judge the reduction of the squared error by the run's best number of dummies."""
    if case.accounting == "simplified":
        budgets = budgets_by_dummies(case)
        error = mapped(lambda a, k: report_variance(a) * error_factor(FIG3, int(k)), budgets, budgets["k"])
    else:
        error = case("expected", "non_adaptive", experiment="dummies")
    gain = 1 - float(error.min() / select(error, k=0))
    return Verdict(
        percent(gain),
        _gain_outcome(gain, 0.2, 0),
        f"squared error with the best of {error.size} numbers of dummies, {int(error.idxmin())}, against none",
    )


def steps_suffice(case: Case) -> Verdict:
    """Compare the least error over steps of sqrt(n') with the least error over all numbers of dummies."""
    steps = [int(k) for k in dummy_grid(FIG3)]
    numbers = range(0, max(steps) + 1, case.at_most(1, 10))
    coarse, fine = (
        optimal_dummies(FIG3, FIG3_EPS, DELTA, accounting="printed", grid=list(grid))
        for grid in (steps, numbers)
    )
    lost = coarse.objective / fine.objective - 1
    return Verdict(
        f"{lost:.1e} of the squared error lost",
        lost <= 0.001,
        f"{coarse.dummies} dummies by steps of {steps[1]}, {fine.dummies} by {len(numbers)} numbers",
    )


def none_without_amplification(case: Case) -> Verdict:
    """Check that equation (6) is least without dummies if A(k) is the central budget for every k."""
    errors = [report_variance(FIG3_EPS) * error_factor(FIG3, k) for k in range(0, 5001, 50)]
    best, grows = int(np.argmin(errors)) * 50, bool(np.all(np.diff(errors) > 0))
    return Verdict(
        f"{best} dummies",
        best == 0 and grows,
        f"the error grows to {errors[-1] / errors[0]:.3g} times with 5000 dummies"
        if grows
        else "the error does not always grow",
    )


# -- gains in the figures --------------------------------------------------------------------------------------------


def gain_at(case: Case) -> Verdict:
    """Judge the gain of dummies at one point."""
    experiment, panel, eps = "adult", 0.05, 0.001
    gain = float(1 - select(ratio(case, experiment, "non_adaptive", "amplified"), panel=panel, eps=eps))
    return Verdict(
        percent(gain),
        _gain_outcome(gain, 0.1, NO_GAIN),
        f"expected errors at {WORDS[experiment]} {panel:g}, eps_c {eps:g}, against AMPLIFIED",
    )


def gain_shrinks(case: Case) -> Verdict:
    """Check that the gain of dummies decreases from panel to panel and from one budget to the next."""
    gain = 1 - all_errors(case, "adult", "non_adaptive") / all_errors(case, "adult", "amplified")
    if gain.max() <= NO_GAIN:
        return Verdict(f"at most {percent(gain.max())}", "fails", "no point has a gain, so none can shrink")
    steps = np.concatenate([np.diff(line) for name in ("panel", "eps") for _, line in lines(gain, name)])
    falls, rises = int((steps < -POINT).sum()), int((steps > POINT).sum())
    return Verdict(
        f"at eps_c {float(gain['eps'][0]):g} {percents(gain[:, 0])}",
        Points(falls, rises),
        f"by panel; from one panel or budget to the next it falls in {falls} steps and rises in {rises}, by more than "
        f"{percent(POINT)}",
    )


def gain_of_panel(case: Case) -> Verdict:
    """Judge the mean gain of dummies in one panel."""
    experiment, panel = "poisson_even", 1000
    curve = 1 - select(ratio(case, experiment, "non_adaptive", "amplified"), panel=panel)
    mean = float(curve.mean())
    return Verdict(
        percent(mean),
        _gain_outcome(mean, 0.1, NO_GAIN),
        f"mean over the grid of eps at {WORDS[experiment]} {panel:g}; {percent(curve[0])} at the smallest budget, "
        f"{percent(curve.min())} at the least",
    )


def dominated(case: Case) -> Verdict:
    """Check that one way of adding dummies is never better than another."""
    better, other = (
        [all_errors(case, experiment, method) for experiment in COUNTED]
        for method in ("non_adaptive", "adaptive")
    )
    points = total(map(compare, better, other))
    return Verdict(
        f"{times(high / low for low, high in zip(better, other, strict=True))} the error",
        points.with_ties,
        f"of non_adaptive: above it at {points.pro}, below it at {points.con} and tied (within {percent(TIE, 1)}) at "
        f"{points.tied} of {points.total} points",
    )


def almost_equal(case: Case) -> Verdict:
    """Check that the error is close to AMPLIFIED's at most points, and smaller at more points than larger."""
    within = 0.02
    gain = finite(1 - ratio(case, "adult", "adaptive", "amplified"))
    close = share(abs(gain) < within)
    worse, better = int((gain < -TIE).sum()), int((gain > TIE).sum())
    most = close.pro > close.con
    return Verdict(
        f"within {percent(within)} at {close}",
        grade(strict=most and better > worse, weak=most),
        f"gain over AMPLIFIED {percent(gain.min())} to {percent(gain.max())}; below its error by more than "
        f"{percent(TIE, 1)} at {better} points, above it at {worse}",
    )


def helps_small(case: Case) -> Verdict:
    """Judge the largest mean population for which the best number of dummies clearly reduces the error."""
    eps, least, plotted = 0.05, 0.01, 1000
    gains_by_mean = {}
    for mean in SMALL_MEANS:
        law = Poisson(float(mean))
        grid = sorted({*range(0, 2 * mean + 1, max(1, mean // 20))})
        plans = [
            optimal_dummies(law, eps, DELTA, adaptive=adaptive, accounting=case.accounting, grid=grid)
            for adaptive in (False, True)
        ]
        alone = optimal_dummies(law, eps, DELTA, accounting=case.accounting, grid=[0])
        gains_by_mean[mean] = 1 - min(plan.objective for plan in plans) / alone.objective
    helped = [mean for mean, gain in gains_by_mean.items() if gain > least]
    listed = ", ".join(f"{percent(gain)} at {mean}" for mean, gain in gains_by_mean.items())
    return Verdict(
        f"up to a mean of {max(helped)} others" if helped else "nowhere",
        grade(strict=bool(helped) and max(helped) >= plotted, weak=bool(helped)),
        f"gain in squared error above {percent(least)} at eps_c {eps:g}: "
        f"{listed}; the figures begin at {plotted:g}",
    )
