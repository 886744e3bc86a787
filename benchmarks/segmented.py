"""Times for sets: one divergence, all rates in all figures, and the searches."""

from functools import partial

import numpy as np
from random_population import Row, best_of
from scipy.special import betainc
from scipy.stats import binom

from shuffledp.accounting.general.labeled_counts import Labels, binomial_blanket, pair_delta
from shuffledp.accounting.segmented.item_calibration import reporting_rate
from shuffledp.accounting.segmented.items import item_delta
from shuffledp.accounting.segmented.plan_search import segmented_plan
from shuffledp.accounting.segmented.users import user_level_delta, user_level_reporting_rate
from shuffledp.protocols.sets.subset_shuffled import shuffled_subset_exponential

EPS = (0.5, 1.0, 2.0)
SETTINGS = [
    (17, 4, 5000),
    (17, 4, 50_000),
    (128, 4, 5000),
    (128, 4, 50_000),
    (128, 8, 5000),
    (128, 8, 50_000),
]
BLANKETS = [*np.geomspace(0.1, 10, 30).tolist(), 0.3, 1.0, 2.0, 4.0]


def plain_delta(candidates: int, rate: float, share: float, eps: float) -> float:
    """Return delta with three incomplete beta functions per term of the sum over c."""
    mean = 2 * share * candidates
    c = np.arange(max(0, int(mean - 9.3 * mean**0.5)), int(mean + 9.3 * mean**0.5 + 43))
    odds = share / (1 - 2 * share)
    e = np.exp(eps)

    def threshold(t: np.ndarray) -> np.ndarray:
        return (e * t + (e - 1) * (1 - rate) / rate * odds * (candidates - t + 1)) / (1 + e)

    def tail(x: np.ndarray) -> np.ndarray:
        k = np.floor(x)
        inside = betainc(np.clip(k, 0, c - 1) + 1, c - np.clip(k, 0, c - 1), 0.5)
        return np.where(k < 0, 1.0, np.where(k >= c, 0.0, inside))

    reports = rate * (tail(threshold(c + 1.0) - 1) - e * tail(threshold(c + 1.0)))
    return float(
        binom.pmf(c, candidates, 2 * share) @ (reports - (e - 1) * (1 - rate) * tail(threshold(c + 0.0)))
    )


def one_delta(candidates: int, rate: float, share: float, eps: float) -> float:
    blanket = binomial_blanket(candidates, share, 1e-25)
    return pair_delta(blanket, Labels(rate, 0.0, 1 - rate), eps)


def all_rates(whole_users: bool) -> float:
    """Compute the rates of every level for all numbers of blanket messages in Figures 2 to 6, for all splits."""
    total = 0.0
    for d, s, n in SETTINGS:
        for m in BLANKETS:
            for eps in EPS:
                delta = 0.01 / n
                if whole_users:
                    total += user_level_reporting_rate(n, m, d, s, eps, delta)
                else:
                    total += reporting_rate(n, m, d, eps / s, item_delta(eps, delta, s))
    return total


def search(accounting: str) -> float:
    """Compute S1's best plans in all settings."""
    return sum(
        segmented_plan(
            (n // 4, n // 2, n // 4), EPS, 0.01 / n, d, s, spread=s * (1 - s / d), accounting=accounting
        ).blankets
        for d, s, n in SETTINGS
    )


def shuffled() -> float:
    return sum(
        shuffled_subset_exponential(n, d, s, 0.5, 0.01 / n, sound=False).eps_local for d, s, n in SETTINGS
    )


def rows() -> list[Row]:
    """Return all rows of the table, in about half a minute."""
    found = []
    for items, rate, eps in ((17, 0.5, 0.02), (128, 1.0, 0.0625)):
        setting = (500_000, rate, 1 / items, eps)
        # Inversions evaluate the same law of C again and again, so that it is kept.
        blanket, labels = binomial_blanket(500_000, 1 / items, 1e-25), Labels(rate, 0.0, 1 - rate)
        seconds, value = best_of(partial(pair_delta, blanket, labels, eps), 20)
        reference, plain = best_of(partial(plain_delta, *setting), 5)
        found.append(
            Row(f"delta of one item, N = 500,000, d = {items}", seconds, reference, abs(value / plain - 1))
        )
        seconds, _ = best_of(partial(one_delta, *setting), 20)
        found.append(Row(f"the same with the law of C, d = {items}", seconds))
    seconds, _ = best_of(partial(user_level_delta, 0.5, 0.5, 5000, 1.0, 17, 4), 10)
    found.append(Row("delta of a user, n = 5000, d = 17, s = 4", seconds))
    found.append(Row("all rates of Figures 2 to 6", best_of(partial(all_rates, False), 3)[0]))
    found.append(Row("all rates of Figures 2 to 6, exact", best_of(partial(all_rates, True), 1)[0]))
    for accounting in ("printed", "corrected", "exact"):
        found.append(
            Row(f"best plans of six settings, {accounting}", best_of(partial(search, accounting), 1)[0])
        )
    found.append(Row("shuffled subset exponential, six settings", best_of(shuffled, 1)[0]))
    return found
