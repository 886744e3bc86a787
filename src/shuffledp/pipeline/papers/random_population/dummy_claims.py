"""Claims of Wang et al. 2023 on dummies: the setting of Figure 3, the best number of dummies, and gains in figures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.accounting.random_population.best_dummies import dummy_grid, optimal_dummies
from shuffledp.accounting.random_population.report_errors import error_factor, report_variance
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.general_rules import monotone, paired
from shuffledp.pipeline.claims.outcomes import (
    TIE,
    ByPoint,
    Outcome,
    Untestable,
    Verdict,
    about,
    compared,
    never_above,
    percent,
    percents,
    span,
)
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.papers.random_population.error_claims import COUNTED, WORDS, all_errors, errors
from shuffledp.pipeline.papers.random_population.settings import DELTA
from shuffledp.populations.laws import Binomial, Poisson

claim = catalogue("random_population")

SMALL_MEANS = (12, 30, 100, 300, 1000, 5000, 25_000)
"""Poisson means at which dummies are tried."""
NO_GAIN = 0.001
"""Relative gain up to which there is no gain."""
POINT = 0.01
"""Change of a gain that counts as a step: one percentage point."""
FIG3 = Binomial(5000, 0.2)
FIG3_EPS = 0.05
"""Other users and central budget (nats) of Figure 3."""


def budgets_by_dummies(case: Case) -> ByPoint:
    """Return A(k) in nats by the number k of dummies, from the run."""
    table = case.under("printed") if case.accounting == "simplified" else case
    found: ByPoint = table.cells("dummies", "non_adaptive")["eps_local"]
    if case.accounting != "simplified":
        return found
    values = [
        local_budget(FIG3, FIG3_EPS, DELTA, dummies=int(k), accounting="simplified") for k in found.index
    ]
    return pd.Series(values, found.index)


@claim("RP-16")
def dummies_amplify(case: Case) -> Verdict:
    """Check that A(k) grows with k."""
    found = budgets_by_dummies(case)
    up, down = monotone(found, "k", rising=True)
    return Verdict(
        f"{found.iloc[0]:.3f} to {found.iloc[-1]:.3f}",
        (up, down),
        f"A(k) in nats from {found.index[0]} to {found.index[-1]} dummies, larger in {up} of {up + down} steps",
    )


@claim("RP-17")
def best_number_gains(case: Case) -> Verdict:
    """Judge the reduction of the squared error by the run's best number of dummies."""
    if case.accounting == "simplified":
        found = pd.Series(
            {
                k: report_variance(budget) * error_factor(FIG3, int(k))
                for k, budget in budgets_by_dummies(case).items()
                if isinstance(k, (int, np.integer))
            }
        )
    else:
        found = case.closed_forms("dummies", "non_adaptive")
    if 0 not in found.index:
        raise Untestable("the run has no error without dummies")
    gain = 1 - float(found.min()) / float(found[0])
    return Verdict(
        percent(gain),
        "fails" if gain <= 0 else about(gain, 0.2),
        f"squared error with the best of {len(found)} numbers of dummies, {found.idxmin()}, against none",
    )


@claim("RP-18")
def steps_suffice(case: Case) -> Verdict:
    """Compare the least error over steps of sqrt(n') with the least error over all numbers of dummies."""
    steps = [int(k) for k in dummy_grid(FIG3)]
    every = range(0, max(steps) + 1, case.at_most(1, 10))
    coarse, fine = (
        optimal_dummies(FIG3, FIG3_EPS, DELTA, accounting="printed", grid=list(grid))
        for grid in (steps, every)
    )
    lost = coarse.objective / fine.objective - 1
    return Verdict(
        f"{lost:.1e} of the squared error lost",
        lost <= 0.001,
        f"{coarse.dummies} dummies by steps of {steps[1]}, {fine.dummies} by {len(every)} numbers",
    )


@claim("RP-19")
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


def gains(case: Case, experiment: str, of: str, over: str = "amplified") -> ByPoint:
    """Return 1 - TVE(of) / TVE(over) by panel and eps, at the participation rates in the text."""
    return (1 - errors(case, experiment, of) / errors(case, experiment, over)).dropna()


@claim("RP-28")
def gain_at(case: Case) -> Verdict:
    """Judge the gain of dummies at one point."""
    experiment, panel, eps = "adult", 0.05, 0.001
    found = gains(case, experiment, "non_adaptive")
    if (panel, eps) not in found.index:
        raise Untestable(
            f"needs the papers' grid: {experiment} lacks {WORDS[experiment]} {panel:g}, eps {eps:g}"
        )
    gain = float(found[panel, eps])
    return Verdict(
        percent(gain),
        about(gain, 0.1) if gain > NO_GAIN else "fails",
        f"expected errors at {WORDS[experiment]} {panel:g}, eps_c {eps:g}, against AMPLIFIED",
    )


@claim("RP-29")
def gain_shrinks(case: Case) -> Verdict:
    """Check that the gain of dummies decreases from panel to panel and from one budget to the next."""
    found = all_gains(case, "adult", "non_adaptive")
    if found.max() <= NO_GAIN:
        return Verdict(
            f"at most {percent(found.max())}",
            "fails",
            "no point has a gain, so none can shrink",
        )
    falls = rises = 0
    for level in ("panel", "eps"):
        for _, one in found.groupby(level="eps" if level == "panel" else "panel"):
            steps = np.diff(one.sort_index(level=level).to_numpy())
            falls, rises = falls + int((steps < -POINT).sum()), rises + int((steps > POINT).sum())
    first = found.index.get_level_values("eps").min()
    return Verdict(
        f"at eps_c {first:g} {percents(found.xs(first, level='eps'))}",
        (falls, rises),
        f"by panel; from one panel or budget to the next it falls in {falls} steps and rises in {rises}, by more than "
        f"{percent(POINT)}",
    )


def all_gains(case: Case, experiment: str, of: str) -> ByPoint:
    """Return the gains of `gains` at all participation rates."""
    return (1 - all_errors(case, experiment, of) / all_errors(case, experiment, "amplified")).dropna()


@claim("RP-30")
def gain_of_panel(case: Case) -> Verdict:
    """Judge the mean gain of dummies in one panel."""
    experiment, panel = "poisson_even", 1000
    found = gains(case, experiment, "non_adaptive")
    if panel not in found.index.get_level_values("panel"):
        raise Untestable(f"needs the papers' grid: {experiment} lacks {WORDS[experiment]} {panel:g}")
    curve = found.xs(panel, level="panel")
    mean = float(curve.mean())
    return Verdict(
        percent(mean),
        about(mean, 0.1) if mean > NO_GAIN else "fails",
        f"mean over the grid of eps at {WORDS[experiment]} {panel:g}; {percent(curve.iloc[0])} at the smallest budget, "
        f"{percent(curve.min())} at the least",
    )


@claim("RP-31")
@claim("O-03")
def dominated(case: Case) -> Verdict:
    """Check that one way of adding dummies is never better than another."""
    better = "non_adaptive"
    pairs = paired(case, all_errors, COUNTED, better, ["adaptive"])
    below, above, ties = compared(pairs["lower"], pairs["upper"])
    ratios = pairs["upper"] / pairs["lower"]
    return Verdict(
        f"{span(ratios)} times the error",
        never_above(above, len(pairs)),
        f"of {better}: above it at {below}, below it at {above} and tied (within {100 * TIE:g} %) at {ties} of "
        f"{len(pairs)} points",
    )


@claim("RP-32")
def almost_equal(case: Case) -> Verdict:
    """Check that the error is close to AMPLIFIED's at most points, and smaller at more points than larger."""
    within = 0.02
    found = gains(case, "adult", "adaptive")
    near, worse, better = (int(at.sum()) for at in (found.abs() < within, found < -TIE, found > TIE))
    outcome: Outcome = "fails" if 2 * near <= len(found) else "holds" if better > worse else "in part"
    return Verdict(
        f"within {percent(within)} at {near} of {len(found)} points",
        outcome,
        f"gain over AMPLIFIED {percent(found.min())} to {percent(found.max())}; below its error by more than "
        f"{percent(TIE)} at {better} points, above it at {worse}",
    )


@claim("RP-33")
def helps_small(case: Case) -> Verdict:
    """Judge the largest mean population for which the best number of dummies clearly reduces the error."""
    eps, least, plotted = 0.05, 0.01, 1000
    found = {}
    for mean in SMALL_MEANS:
        law = Poisson(float(mean))
        grid = sorted({*range(0, 2 * mean + 1, max(1, mean // 20))})
        plans = [
            optimal_dummies(law, eps, DELTA, adaptive=adaptive, accounting=case.accounting, grid=grid)
            for adaptive in (False, True)
        ]
        alone = optimal_dummies(law, eps, DELTA, accounting=case.accounting, grid=[0])
        found[mean] = 1 - min(plan.objective for plan in plans) / alone.objective
    helped = [mean for mean, gain in found.items() if gain > least]
    outcome: Outcome = "fails" if not helped else "holds" if max(helped) >= plotted else "in part"
    return Verdict(
        f"up to a mean of {max(helped)} others" if helped else "nowhere",
        outcome,
        f"gain in squared error above {percent(least)} at eps_c {eps:g}: "
        f"{', '.join(f'{percent(gain)} at {mean}' for mean, gain in found.items())}; the figures begin at {plotted:g}",
    )
