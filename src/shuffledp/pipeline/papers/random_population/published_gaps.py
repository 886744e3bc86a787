"""Contributions of protocols and of constants to the gaps that Wang et al. 2023 publish.

Errors are expectations of the total variation error due to randomization alone, so that ratios of protocols with the
same participants do not depend on the data. Delta is the paper's 1e-5 throughout.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

import numpy as np
import pandas as pd

from shuffledp.accounting.random_population.amplification import amplified_epsilon, clone_delta, local_budget
from shuffledp.accounting.random_population.best_dummies import dummy_grid, optimal_dummies
from shuffledp.accounting.random_population.checkin import checkin_local_budget
from shuffledp.accounting.random_population.report_errors import report_variance
from shuffledp.populations.base import Law
from shuffledp.populations.bounds import MomentBounded
from shuffledp.populations.laws import Binomial, Poisson

#: Delta of the paper's experiments.
DELTA = 1e-5
#: Values of eps_central (nats); the paper gives only the ends 0.001 and 0.5.
EPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
#: Share of females among the users of Adult (Section VII-A).
ADULT_FEMALE = 16_192 / 48_842
#: Participation rates of Figures 4 and 9.
RATES = (0.01, 0.05, 0.1, 0.2, 0.5)
#: Values of eps_central (nats) at which the printed bounds show a gain by dummies.
EPS_SMALL = (0.001, 0.01, 0.05)
#: Populations of Figure 4, then of Figures 5 and 6.
POPULATIONS: dict[str, Law] = {
    **{f"Adult, rate {rate}": Binomial(48841, rate) for rate in RATES},
    **{f"Poisson, mean {mean}": Poisson(float(mean)) for mean in (1000, 5000, 25000, 125000)},
}


def _error_ratio(eps_local: float, reference: float) -> float:
    return math.sqrt(report_variance(eps_local) / report_variance(reference))


def budget_gaps() -> pd.DataFrame:
    """Return the mean reduction of the error by amplification against LOCAL, over :data:`EPS`."""
    rows = []
    for name, law in POPULATIONS.items():
        ratios = {
            accounting: np.array(
                [_error_ratio(local_budget(law, e, DELTA, accounting=accounting), e) for e in EPS]
            )
            for accounting in ("simplified", "printed", "corrected", "exact")
        }
        rows.append(
            {
                "population": name,
                **{accounting: 1 - float(np.mean(r)) for accounting, r in ratios.items()},
                "printed over exact": float(np.mean(ratios["printed"] / ratios["exact"])),
            }
        )
    return pd.DataFrame(rows)


def _dummies_gain(law: Law, eps: float, accounting: str, adaptive: bool) -> float:
    """Return the relative reduction of the error by the number of dummies that minimizes (6) or (7).

    Both equations concern the squared error, so that a gain near 0 may be a small loss in this error.
    """
    return 1 - dummies_error(law, eps, accounting, adaptive=adaptive)


def dummies_error(law: Law, eps: float, accounting: str, *, adaptive: bool) -> float:
    """Return the error with the number of dummies that minimizes (6) or (7), relative to no dummies."""
    plan = optimal_dummies(law, eps, DELTA, adaptive=adaptive, accounting=accounting, grid=_grid(law))
    window = law.window()
    n = window.support + 1.0
    added = np.maximum(plan.dummies - (n - 1), 0) if adaptive else plan.dummies
    with_dummies = float(window.pmf @ (np.sqrt(n + added) / n))
    without = float(window.pmf @ (1 / np.sqrt(n)))
    alone = local_budget(law, eps, DELTA, accounting=accounting)
    return _error_ratio(plan.eps_local, alone) * with_dummies / without


def _grid(law: Law) -> list[int]:
    """Return the paper's grid of numbers of dummies, finer for small populations, where few dummies are optimal."""
    if law.mean > 200:
        return [int(k) for k in dummy_grid(law)]
    return list(range(0, math.floor(2 * law.mean) + 1, max(1, int(law.mean) // 20)))


@cache
def dummy_gaps() -> pd.DataFrame:
    """Return the reduction of the error by optimal dummies against AMPLIFIED with the same accounting."""
    cases: list[tuple[str, Law, float]] = [
        (name, POPULATIONS[name], eps)
        for name, points in (("Adult, rate 0.05", EPS_SMALL), ("Poisson, mean 1000", (*EPS_SMALL, 0.1)))
        for eps in points
    ]
    cases.append(("Figure 3", Binomial(5000, 0.2), 0.05))
    cases += [(f"Poisson, mean {mean}", Poisson(float(mean)), 0.05) for mean in (100, 30, 12)]
    rows = []
    for name, law, eps in cases:
        row: dict[str, object] = {"population": name, "eps": eps}
        for kind, accounting in (
            ("non-adaptive", "printed"),
            ("non-adaptive", "corrected"),
            ("non-adaptive", "exact"),
            ("adaptive", "printed"),
            ("adaptive", "exact"),
        ):
            row[f"{kind} {accounting}"] = _dummies_gain(law, eps, accounting, kind == "adaptive")
        rows.append(row)
    return pd.DataFrame(rows)


def filled_slots(users: int, rate: float) -> tuple[Law, int, float]:
    """Return the law of the other participants' number, RandomCheckin's slots, and the mean number of filled slots."""
    law, slots = Binomial(users, rate), math.floor(users * rate)
    return law, slots, -slots * math.expm1((law.mean + 1) * math.log1p(-1 / slots))


def ends(name: str, values: Iterable[float], *parts: str) -> dict[str, float]:
    """Return the least, mean or greatest of some values, by the names of their columns."""
    found = np.array(list(values))
    known = {"least": found.min(), "mean": found.mean(), "most": found.max()}
    return {f"{name} {part}": float(known[part]) for part in parts}


@cache
def checkin_gaps() -> pd.DataFrame:
    """Return the error of RandomCheckin relative to AMPLIFIED on Adult, over :data:`EPS`.

    There are ``m = floor(48841 rate)`` slots. The number of filled slots is replaced by its mean at the mean number of
    participants, which changes the ratio by less than 0.1 %. The kept users are a random subset of the participants,
    with about the same fraction of women as in all of Adult.
    """
    rows = []
    for rate in RATES:
        law, slots, filled = filled_slots(48841, rate)
        n = law.mean + 1
        size = math.sqrt(slots * n) / filled  # sqrt(m) / K against 1 / sqrt(n)
        # Variance of the frequency among the kept users, drawn without replacement, around that of all participants.
        sampling = ADULT_FEMALE * (1 - ADULT_FEMALE) / filled * (n - filled) / (n - 1)
        ratios: dict[str, list[float]] = {"printed": [], "exact": []}
        measured = []
        larger = 0.0
        for eps in EPS:
            for accounting, found in ratios.items():
                checkin = checkin_local_budget(slots, eps, DELTA, accounting=accounting)
                amplified = local_budget(law, eps, DELTA, accounting=accounting)
                found.append(_error_ratio(checkin, amplified) * size)
                if accounting == "exact":
                    measured.append(
                        math.hypot(found[-1], math.sqrt(sampling * n / report_variance(amplified)))
                    )
                if accounting == "printed" and checkin > amplified:
                    larger = max(larger, eps)
        rows.append(
            {
                "rate": rate,
                **ends("printed", ratios["printed"], "least", "mean", "most"),
                **ends("exact", ratios["exact"], "least", "most"),
                **ends("all users", measured, "least", "most"),
                "larger budget up to": larger,
            }
        )
    return pd.DataFrame(rows)


@cache
def gradient_gaps() -> pd.DataFrame:
    """Return the relative reduction by AMPLIFIED of RandomCheckin's error for gradients, over :data:`EPS`.

    In Figure 9, N - 1 is Bin(59999, rate), and the noise is Laplace. Only the noise is compared, proportional to
    ``sqrt(reports) / (eps_local * kept users)``; clipped gradients are so short that the loss of users matters little
    in comparison. The mean number of filled slots is as in :func:`checkin_gaps`.
    """
    rows = []
    for rate in RATES:
        law, slots, filled = filled_slots(59999, rate)
        savings = {
            accounting: [
                1
                - checkin_local_budget(slots, eps, DELTA, accounting=accounting)
                / local_budget(law, eps, DELTA, accounting=accounting)
                * (filled / math.sqrt(slots * (law.mean + 1)))
                for eps in EPS
            ]
            for accounting in ("printed", "exact")
        }
        printed = ends("printed", savings["printed"], "least", "mean", "most")
        rows.append({"rate": rate, **printed, **ends("exact", savings["exact"], "least", "most")})
    return pd.DataFrame(rows)


@cache
def variance_gaps() -> pd.DataFrame:
    """Return eps_central (nats) by variance for mean 5000 and eps_local 0.5, as in Figure 2."""
    rows = []
    for variance in (0, 8700, 20_000):
        row: dict[str, float] = {"variance": variance}
        for accounting in ("printed", "corrected", "exact"):
            for label, delta in (("1e-4", 1e-4), ("1e-3", 1e-3)):
                row[f"{accounting}, delta {label}"] = amplified_epsilon(
                    MomentBounded(5000.0, float(variance)), 0.5, delta, accounting=accounting
                )
        rows.append(row)
    return pd.DataFrame(rows)


def safety_margins() -> pd.DataFrame:
    """Return the largest ratios of exact delta to the delta that the printed Theorems 1 and 2 promise."""
    laws: list[Law] = []
    for mean in (100, 1000, 10_000, 100_000):
        laws += [Binomial(round(mean / rate), rate) for rate in (0.05, 0.9)] + [Poisson(float(mean))]
    rows = []
    for delta in (1e-1, 1e-3, 1e-5, 1e-8):
        ratios = []
        for law in laws:
            for eps_local in (0.05, 0.2, 1.0, 3.0, 6.0):
                eps = amplified_epsilon(law, eps_local, delta, accounting="printed")
                if eps < eps_local:
                    ratios.append(clone_delta(law, eps_local, eps) / delta)
        rows.append({"delta": delta, "settings": len(ratios), "largest": max(ratios)})
    return pd.DataFrame(rows)
