"""Computed numbers for sentences of the documentation, by page and descriptive name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np

from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta, rappor_flip_probability
from shuffledp.accounting.baselines.gaussian_clones import gaussian_clones_epsilons
from shuffledp.accounting.baselines.split_and_mix import ikos_shares
from shuffledp.accounting.expected_errors.sums import central_laplace_mse, rappor_mse, real_summation_levels
from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.accounting.random_population.best_dummies import optimal_dummies
from shuffledp.accounting.random_population.report_errors import report_variance
from shuffledp.accounting.shuffle_gaussian.all_users import shuffle_gaussian_epsilons
from shuffledp.accounting.summation.closed_designs import analytic_design, best_modular_design
from shuffledp.accounting.summation.design_files import MOST_QUICK, quick_design
from shuffledp.accounting.summation.jump_noise import NEGATIVE_BINOMIAL_EXCESS
from shuffledp.accounting.summation.wide_designs import wide_design
from shuffledp.accounting.training.central_gaussian import central_replacement_epsilon
from shuffledp.pipeline.papers.dump import computed_tables as dump
from shuffledp.pipeline.papers.random_population import multi_message_gaps, published_gaps
from shuffledp.pipeline.papers.shuffle_gaussian import computed_tables as shuffle_gaussian
from shuffledp.pipeline.papers.summation import computed_tables as summation
from shuffledp.populations.base import Law
from shuffledp.populations.laws import Binomial, Poisson

#: Users of Adult (Theorem 1 of the summation paper on hours worked), and of the other settings of its Figure 1.
_ADULT, _MILLION = 48_842, 1_000_000
#: Number of levels for which a design that a call computes is compared with the shipped design.
_MANY = 100


def _span(values: Iterable[float], digits: int = 2) -> str:
    numbers = list(values)
    low, high = (_number(pick(numbers), digits) for pick in (min, max))
    return low if low == high else f"{low} to {high}"


def _whole(values: Iterable[float]) -> str:
    numbers = list(values)
    return f"{min(numbers):,.0f} to {max(numbers):,.0f}"


def _number(value: float, digits: int = 2) -> str:
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    places = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(places, 0)}f}"


def _percent(value: float, digits: int = 2) -> str:
    return f"{_number(100 * value, digits)} %"


def summation_values() -> Mapping[str, str]:
    """Return the numbers of docs/summation.md, by name."""
    eps, delta, star, gamma = summation.EPS, summation.DELTA, summation.EPS_STAR, summation.GAMMA
    sizes = sorted(set(summation.readings()["max_value"].tolist()))
    flips = {c: rappor_flip_probability(_MILLION, eps, delta, calibration=c) for c in ("optimistic", "sound")}
    errors = {
        calibration: [
            math.sqrt(rappor_mse(_MILLION, size, p, estimator=e) / central_laplace_mse(size, eps))
            for size in sizes
            for e in ("centred", "plain")
        ]
        for calibration, p in flips.items()
    }
    flips_at = {
        e: [rappor_flip_probability(_MILLION, e, delta, calibration=c) for c in ("sound", "optimistic")]
        for e in (0.2, 2.0)
    }
    more = {e: sound / optimistic for e, (sound, optimistic) in flips_at.items()}
    few = rappor_flip_probability(10_000, eps, delta, calibration="optimistic")
    most = sizes[-1]
    designs = {
        "best": summation.best_design(most).design,
        "modular": best_modular_design(most, eps, delta, star)[0],
        "closed": analytic_design(most, eps, delta, gamma),
    }
    bits = {name: summation.noise_bits(design, _MILLION) for name, design in designs.items()}
    drawn = summation.readings().query(
        f"panel == 'c' and curve == 'correlated noise' and max_value == {most}"
    )["reading"]
    levels = real_summation_levels(_ADULT, eps, 2 * gamma)
    quick = {
        atoms: max(
            quick_design(size, eps, delta, star, atoms=atoms).messages
            / summation.best_design(size, atoms=atoms).design.messages
            for size in (*sizes, MOST_QUICK)
        )
        - 1
        for atoms in ("best", "halving")
    }
    shares = {
        form: [
            ikos_shares(n, 5, eps, delta, form=form) * math.ceil(math.log2(5 * n))
            for n in (10**4, 10**5, 10**6, 10**7)
        ]
        for form in ("figure", "worst_case")
    }
    return {
        "rappor published": _span(errors["optimistic"]),
        "rappor proven": _span(errors["sound"]),
        "flips small": _number(more[0.2]),
        "flips large": _number(more[2.0], 3),
        "rappor third value": _third_value(),
        "rappor other data": _number(rappor_delta(10_000, few, eps, calibration="worst_case") / delta),
        "bits best": _number(bits["best"], 3),
        "bits modular": _number(bits["modular"]),
        "bits closed": _number(bits["closed"]),
        "bits of the figure": _number(float(drawn.to_numpy()[0]), 3),
        "messages of theorem 1": _number(1 + analytic_design(levels, eps, delta, gamma).messages / _ADULT, 4),
        "messages of twenty levels": _number(1 + summation.best_design(20).design.messages / _ADULT, 3),
        "split and mix proven": _whole(shares["worst_case"]),
        "split and mix figure": _whole(shares["figure"]),
        "quick best": _percent(quick["best"]),
        "quick halving": _percent(quick["halving"]),
        "quick many": _number(
            wide_design(_MANY, eps, delta, star).messages / summation.best_design(_MANY).design.messages, 3
        ),
        **_cheaper_values(),
    }


def _third_value() -> str:
    """Return the ratio of delta with a third value for all other users to the delta of the worst-case calibration."""
    n, eps, delta = 3000, 8.0, 0.3
    p = rappor_flip_probability(n, eps, delta, calibration="worst_case")
    return _number(rappor_delta(n, p, eps, calibration="optimistic") / delta, 3)


def _cheaper_values() -> Mapping[str, str]:
    """Return numbers about this project's noise in docs/summation.md, by name."""
    table = summation.cheaper()
    single, several = table.iloc[0], table.iloc[1:]
    return {
        "jumps at most": _number(NEGATIVE_BINOMIAL_EXCESS, 3),
        "jumps one": _number(single["negative binomial"] / single["coarse"], 3),
        "fewer messages": _span(several["times fewer"].tolist()),
        "floor for bits": _number(summation.messages_floor(), 3),
        "messages for bits": _number(single["coarse"], 3),
        "largest coarse": f"{int(table['Delta'].max())}",
    }


def shuffle_gaussian_values() -> Mapping[str, str]:
    """Return the numbers of docs/shuffle_gaussian.md, by name."""
    users, sigma, delta = shuffle_gaussian.USERS, shuffle_gaussian.SIGMA, shuffle_gaussian.DELTA
    cost = shuffle_gaussian.shuffling_cost()
    ratio = {(row.shuffled, row.central): str(row.ratio) for row in cost.itertuples()}
    central = {
        rounds: central_replacement_epsilon(
            n=users,
            m=shuffle_gaussian.BATCH,
            noise_multiplier=shuffle_gaussian.SUM_NOISE,
            rounds=rounds,
            delta=shuffle_gaussian.FIGURE_DELTA,
        )
        for rounds in (shuffle_gaussian.FIGURE_ROUNDS, 10 * shuffle_gaussian.FIGURE_ROUNDS)
    }
    budgets = dict(shuffle_gaussian.checkin_budgets().to_numpy().tolist())
    halved = dict(shuffle_gaussian.checkin_budgets(shuffle_gaussian.CHECKIN_SIGMA / 2).to_numpy().tolist())
    printed = "Gauss: equation (11) with Theorem 2, as printed"
    verdicts = shuffle_gaussian.table_one()["verdict"]
    values = {
        "entries": f"{int((verdicts == 'agrees').sum())} of {len(verdicts)}",
        "like terms": ratio["Theorem 2, 2C", "replacement, 2C"],
        "the same pair": ratio["pair, 2C", "the same pair, 2C"],
        "unlike terms": ratio["Theorem 2, 2C", "add/remove, C, RDP"],
        "central short": _number(central[shuffle_gaussian.FIGURE_ROUNDS], 3),
        "central long": _number(central[10 * shuffle_gaussian.FIGURE_ROUNDS], 3),
        "gauss with half the noise": f"{halved[printed]:.2f}",
        "gauss over shuffling": _number(budgets[printed] / budgets["shuffling alone, no subsampling"]),
    }
    for distance in (1, 2):
        ours = shuffle_gaussian_epsilons(users, sigma / distance, (1,), delta)[0]
        clones = gaussian_clones_epsilons(users, sigma, (1,), delta, sensitivity=float(distance))[0]
        values |= {f"ours at {distance}": f"{ours:.5f}", f"clones at {distance}": f"{clones:.5f}"}
    return values


def dump_values() -> Mapping[str, str]:
    """Return the numbers of docs/dump.md, by name."""
    verdicts = [v for table in (dump.table_three(), dump.table_four()) for v in table["verdict"]]
    gaps = dump.gaps()
    error = {
        (protocol, accounting): rows[f"error, {accounting}"]
        for protocol, rows in gaps.groupby("protocol")
        for accounting in ("printed", "exact")
    }
    grr, coin = "privacy-amplification", "private-coin"
    return {
        "entries": f"{verdicts.count('agrees')} of the {len(verdicts)}",
        "grr printed": _span(error[grr, "printed"]),
        "grr exact": _span(error[grr, "exact"], 3),
        "private coin exact": _span(error[coin, "exact"], 3),
        "mix exact": _span(error["mixDUMP", "exact"], 3),
    }


def _figure_3_gain(law: Law) -> tuple[float, float]:
    """Return the reduction of Figure 3's squared error by the printed best number of dummies, and this number."""
    plan = optimal_dummies(
        law, 0.05, published_gaps.DELTA, adaptive=False, accounting="printed", grid=range(0, 5001, 10)
    )
    alone = local_budget(law, 0.05, published_gaps.DELTA, accounting="printed")
    window = law.window()
    n = window.support + 1.0
    with_dummies = report_variance(plan.eps_local) * float(window.pmf @ ((n + plan.dummies) / n**2))
    return 1 - with_dummies / (report_variance(alone) * float(window.pmf @ (1 / n))), float(plan.dummies)


def random_population_values() -> Mapping[str, str]:
    """Return the numbers of docs/random_population.md, by name."""
    dummies, checkin = published_gaps.dummy_gaps(), published_gaps.checkin_gaps()
    multi, variance = multi_message_gaps.multi_gaps(), published_gaps.variance_gaps()
    own = dummies[~dummies["population"].isin([f"Poisson, mean {mean}" for mean in (100, 30, 12)])]
    first = dummies[(dummies["population"] == "Adult, rate 0.05") & (dummies["eps"] == 0.001)].iloc[0]
    figure_3 = Binomial(5000, 0.2)
    window = figure_3.window()
    n = window.support + 1.0
    small = Poisson(1000.0)
    kinds = [
        published_gaps.dummies_error(small, eps, "printed", adaptive=True)
        / published_gaps.dummies_error(small, eps, "printed", adaptive=False)
        for eps in published_gaps.EPS
    ]
    last = checkin.iloc[-1]
    budgets = {
        (reduction, accounting): local_budget(
            figure_3, 0.05, published_gaps.DELTA, accounting=accounting, reduction=reduction
        )
        for reduction, accounting in (
            ("clones", "printed"),
            ("clones", "exact"),
            ("randomized_response", "exact"),
        )
    }
    stated = variance.loc[variance["variance"] == 8700, "exact, delta 1e-4"].to_numpy(float)[0]
    squared, best = _figure_3_gain(figure_3)
    return {
        "adaptive exact": _percent(max(float(own["adaptive exact"].max()), 0.0), 1),
        "figure 3 gain": f"{100 * float(own['non-adaptive printed'].iloc[-1]):.1f} %",
        "figure 3 squared gain": f"{100 * squared:.1f} %",
        "figure 3 best": _number(best, 3),
        "figure 3 budget printed": f"{budgets['clones', 'printed']:.4f}",
        "figure 3 budget exact": f"{budgets['clones', 'exact']:.4f}",
        "figure 3 budget response": f"{budgets['randomized_response', 'exact']:.4f}",
        "mean of 1 over n": f"{float(window.pmf @ (1 / n)):.6e}",
        "mean of 1 over n squared": f"{float(window.pmf @ (1 / n**2)):.6e}",
        "adaptive smaller": _percent(1 - min(kinds)),
        "adaptive larger": _percent(max(kinds) - 1),
        "checkin noise": f"{1 / (1 - math.exp(-1)):.2f}",
        "checkin noise percent": f"{100 * (1 / (1 - math.exp(-1)) - 1):.0f} %",
        "checkin left out": _percent(math.exp(-1)),
        "checkin all users first": f"{float(checkin['all users most'].iloc[0]):.2f}",
        "checkin all users last": f"{float(last['all users most']):.2f}",
        "checkin all users last percent": f"{100 * (float(last['all users most']) - 1):.0f} %",
        "checkin printed first percent": f"{100 * (float(checkin['printed mean'].iloc[0]) - 1):.0f} %",
        "checkin printed last percent": f"{100 * (float(last['printed mean']) - 1):.0f} %",
        "multi printed": _span([multi["printed least"].min(), multi["printed most"].max()]),
        "multi exact": _span([multi["exact least"].min(), multi["exact most"].max()]),
        "gain at the smallest printed": f"{100 * float(first['non-adaptive printed']):.1f} %",
        "gain at the smallest exact": f"{100 * float(first['non-adaptive exact']) + 0.0:.1f} %",
        "gradients exact": _percent(float(np.mean(published_gaps.gradient_gaps()["exact least"]))),
        "variance": f"{0.5 / stated:.0f}",
    }


#: Numbers of a page, by the page's name.
VALUES = {
    "summation": cache(summation_values),
    "shuffle gaussian": cache(shuffle_gaussian_values),
    "dump": cache(dump_values),
    "random population": cache(random_population_values),
}
