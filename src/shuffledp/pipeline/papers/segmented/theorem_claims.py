"""Claims of Wang et al. 2024 on privacy and parameters, computed by the accounting."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.labeled_counts import pair_delta
from shuffledp.accounting.segmented.item_calibration import reporting_rate
from shuffledp.accounting.segmented.items import (
    all_counts_delta,
    item_blanket,
    item_delta,
    report_labels,
    segmented_delta,
)
from shuffledp.accounting.segmented.plans import blanket_law_of, full_reporting, level_rate
from shuffledp.accounting.segmented.users import user_level_delta
from shuffledp.numerics.relative_sizes import negligible
from shuffledp.numerics.windows import Window, binomial_window, convolve
from shuffledp.pipeline.claims.case import Case, Verdict
from shuffledp.pipeline.datasets.registry import spec, summaries_folder
from shuffledp.pipeline.formatters import finite, number, span, times
from shuffledp.pipeline.papers.segmented.panel_errors import SPLITS, panels
from shuffledp.pipeline.query import MissingResultsError, grade, lines, share, slope

#: Budgets of the levels, nats.
BUDGETS = (0.5, 1.0, 2.0)
#: Number of items, and of items per user.
DATA = {"msnbc": (17, 4), "uniform, 4 items": (128, 4), "uniform, 8 items": (128, 8)}
USERS = (5000, 50_000)
#: Relative difference within which two divergences are equal; the bound on the divergence of all items has error 1e-4.
EXACT = 1e-3
ROUNDING = 1e-6
#: Divergence below which digits are lost.
LEAST = 1e-200
#: Halvings of [0, 1] until the reporting probability is known to 1e-10.
HALVINGS = 34
#: Number of terms that one core sums in seconds.
CHEAP = 1e9


def _delta(n: int) -> float:
    return 0.01 / n


def tight(case: Case) -> Verdict:
    """Compare the divergences of all counts and of the pair, for one item per user, reported at a rate."""
    domain_size, n = 128, 5000
    blankets = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    eps, delta = BUDGETS[0], _delta(n)
    law = blanket_law_of(case.accounting)
    ratios = {}
    for m in blankets[: case.at_most(len(blankets), 2)]:
        rate = reporting_rate(n, m, domain_size, eps, item_delta(eps, delta, 1), blanket_law=law)
        pair = segmented_delta(eps, rate, n, m, domain_size, blanket_law=law)
        if law == "binomial":
            ratios[m] = all_counts_delta(eps, rate, n, m, domain_size) / pair
        else:
            ratios[m] = user_level_delta(eps, rate, n, m, domain_size, 1) / pair
    same = all(abs(ratio - 1) <= EXACT for ratio in ratios.values())
    return Verdict(
        times(ratios.values()),
        same,
        f"{domain_size} items, one per user, {n:,} users, {eps:g} nats, {law} number of blanket messages: "
        + ", ".join(f"m = {m:g}: {ratio:.4g}" for m, ratio in ratios.items()),
    )


def blurred_delta(eps: float, rate: float, n: int, blankets: int, domain_size: int, reports: Window) -> float:
    """Return delta of the pair and the number of messages, for a fixed number of blanket messages.

    Given u received reports, the probability of the victim's report follows from Bayes' theorem (derived for this
    project).
    """
    spoke, silent = np.append(0.0, reports.pmf) * rate, np.append(reports.pmf, 0.0) * (1 - rate)
    total = spoke + silent
    likely = total > 0
    blanket = item_blanket(n, float(blankets), domain_size, "binomial", negligible(1e-12))
    posterior: NDArray[np.float64] = spoke[likely] / total[likely]
    values = [pair_delta(blanket, report_labels(float(p)), eps) if p > 0 else 0.0 for p in posterior]
    return float(total[likely] @ np.array(values))


def _claimed(n: int, d: int, s: int, m: int) -> Iterator[tuple[float, float, float]]:
    """Yield divergences over delta', and a repair's change of the rate, for each level with a rate below 1.

    The first divergence is for the paper's levels, the second for other users who all report everything.
    """
    shares = [float(x) / 100 for x in next(iter(SPLITS)).split("-")]
    rates = [level_rate(n, m, d, s, e, _delta(n), accounting="printed") for e in BUDGETS]
    for eps, rate in zip(BUDGETS, rates, strict=True):
        if rate == 1:
            continue
        target = item_delta(eps, _delta(n), s)
        others = Window(0, np.ones(1))
        for part, sent, budget in zip(shares, rates, BUDGETS, strict=True):
            reports = round(part * n) * s - (budget == eps)
            others = convolve(others, binomial_window(reports, sent, 1e-20))
        usual = blurred_delta(eps / s, rate, n, m, d, others) / target
        alone = all_counts_delta(eps / s, rate, n, m, d) / target
        poisson = reporting_rate(n, m, d, eps / s, target, blanket_law="poisson")
        yield usual, alone, abs(poisson / rate - 1)


def guarantee(case: Case) -> Verdict:
    """Compare the protocol's divergence with Lemma 3, for the paper's levels or full reports of other users."""
    blankets = (1, 2, 4)
    n, numbers = USERS[0], blankets[: case.at_most(len(blankets), 1)]
    sizes = list(DATA.values())[: case.at_most(len(DATA), 1)]
    where = f"{n:,} users, {' and '.join(f'{s} of {d}' for d, s in sizes)} items, m = {', '.join(map(str, numbers))}"
    if case.accounting != "printed":
        deltas = [
            user_level_delta(e, level_rate(n, m, d, s, e, _delta(n)), n, m, d, s) / _delta(n)
            for (d, s), m, e in itertools.product(sizes, numbers, BUDGETS)
        ]
        return Verdict(
            f"{span(deltas)} of delta",
            max(deltas) <= 1 + ROUNDING,
            f"all items of a user among Poisson blanket messages; {where}",
        )
    divergences = [one for (d, s), m in itertools.product(sizes, numbers) for one in _claimed(n, d, s, m)]
    if not divergences:
        raise MissingResultsError("all users may report everything at these numbers of messages")
    usual, alone, change = zip(*divergences, strict=True)
    return Verdict(
        f"{times(usual)} delta' with the levels of the paper, {times(alone)} if all others report",
        grade(strict=max(*usual, *alone) <= 1 + ROUNDING, weak=max(change) < EXACT),
        f"{where}; a Poisson number of blanket messages repairs the bound, with a relative change of the "
        f"rates of at most {max(change):.1g}",
    )


def grows_with_rate(case: Case) -> Verdict:
    """Judge how the pair's divergence, and its ratio to the rate, grow with the rate."""
    points = 40
    rates = np.geomspace(1e-2, 1, case.at_most(points, points // 4))
    rising = convex = settings = 0
    for (d, s), n, eps, m in itertools.product(
        DATA.values(), USERS[: case.at_most(2, 1)], BUDGETS, (0.5, 2.0)
    ):
        divergences = np.array([segmented_delta(eps / s, float(rate), n, m, d) for rate in rates])
        precise = divergences > LEAST
        slopes = divergences[precise] / rates[precise]
        settings += 1
        rising += bool(np.all(np.diff(divergences[precise]) > 0))
        convex += bool(np.all(np.diff(slopes) >= -ROUNDING * slopes[1:]))
    return Verdict(
        f"rises in {rising} of {settings} settings",
        rising == settings,
        f"the divergence over the rate does not fall in {convex} of them; rates from {rates[0]:g} to 1, where the "
        f"divergence is above {LEAST:g}",
        f"{len(rates)} rates of each",
    )


def order_of_magnitude(case: Case) -> Verdict:
    """Compare m_k with d s^2 log(1/delta) / (n eps^2)."""
    within = 2.0

    def enough(d: int, s: int, n: int, eps: float) -> float:
        return full_reporting(n, d, s, eps, _delta(n), accounting=case.accounting)

    ratios = [
        enough(d, s, n, eps) * n * eps**2 / (d * s**2 * -math.log(_delta(n)))
        for (d, s), n, eps in itertools.product(DATA.values(), USERS, BUDGETS)
    ]
    slopes = {
        "d": slope((17, 128), [enough(d, 4, USERS[0], 0.5) for d in (17, 128)]),
        "s": slope((4, 8), [enough(128, s, USERS[0], 0.5) for s in (4, 8)]),
        "eps": slope(BUDGETS, [enough(17, 4, USERS[0], eps) for eps in BUDGETS]),
        "n": slope(USERS, [enough(17, 4, n, 0.5) for n in USERS]),
    }
    spread = max(ratios) / min(ratios)
    return Verdict(
        times(ratios),
        spread <= within,
        f"a factor of {spread:.3g} over {len(ratios)} settings, up to {within:g} is accepted; exponents "
        + ", ".join(f"{name} {slope:.3f}" for name, slope in slopes.items()),
    )


def cheap_search(case: Case) -> Verdict:
    """Count the terms that the server sums in its bisection for the rates, over all points of the figures."""
    sizes = panels(case, "domain_size", "segmented")
    grid = (finite(sizes), finite(sizes * 0 + sizes["n"]), finite(sizes * 0 + sizes["m"]))
    settings = {(int(d), int(n), float(m)) for d, n, m in zip(*grid, strict=True)}
    longest = terms = 0
    for d, n, m in settings:
        window = item_blanket(n, m, d, "binomial", negligible(_delta(n))).window
        longest = max(longest, window.pmf.size)
        terms += window.pmf.size * HALVINGS * len(BUDGETS)
    return Verdict(
        f"{terms / 1e6:.3g} million terms",
        terms <= CHEAP,
        f"{len(settings)} numbers of messages and users, {len(BUDGETS)} levels, {HALVINGS} halvings, at most "
        f"{longest:,} terms per divergence; up to {CHEAP:g} are added up in seconds",
    )


def ends_in_order(case: Case) -> Verdict:
    """Check that m_k decreases with the level, and that rates increase with the level and the messages."""
    ends = [
        [full_reporting(n, d, s, eps, _delta(n), accounting=case.accounting) for eps in BUDGETS]
        for (d, s), n in itertools.product(DATA.values(), USERS)
    ]
    falling = share(levels == sorted(levels, reverse=True) for levels in ends)
    rates = [panels(case, f"parameters.rate_{level}", "segmented") for level in (1, 2, 3)]
    falls = sum(int((low > high).sum()) for low, high in itertools.pairwise(rates))
    steps = [step for rate in rates for _, line in lines(rate, "m") for step in np.diff(line)]
    back = sum(step < -ROUNDING for step in steps)
    return Verdict(
        f"m_1 >= m_2 >= m_3 in {falling.of('settings')}",
        grade(strict=falling.every and not falls and not back, weak=falling.pro >= falling.con),
        f"of {int(rates[0].notnull().sum())} points rates fall with the level at {falls}, and with m at {back} of "
        f"{len(steps)} steps",
    )


def visited_categories(case: Case) -> Verdict:
    """Judge the number of distinct categories per user of MSNBC, from the published counts."""
    folder = summaries_folder()
    sets, categories = (spec("msnbc").summary(f"msnbc_{name}.csv", folder) for name in ("sets", "categories"))
    users = sets["users"].sum()
    mean = float((sets["set_size"] * sets["users"]).sum() / users)
    largest = int(sets.loc[sets["users"] > 0, "set_size"].max())
    right = share((largest == 17, round(mean) == 2))
    return Verdict(
        f"at most {largest}, {number(mean)} on average",
        right,
        f"distinct categories of {users:,} users; visits are {categories['visits'].sum() / users:.3g} on average",
    )
