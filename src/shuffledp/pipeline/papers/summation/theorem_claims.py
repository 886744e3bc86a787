"""Claims of Ghazi et al. 2021 on noise, atoms and guarantees, which the accounting decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.accounting.baselines.split_and_mix import ikos_shares
from shuffledp.accounting.expected_errors.sums import (
    rappor_count_variance,
    rappor_mse,
    real_summation_levels,
    rounded_sum_mse,
)
from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.accounting.summation.closed_designs import analytic_design
from shuffledp.accounting.summation.design_files import quick_design, shipped_designs
from shuffledp.accounting.summation.joint_noise import correlated_noise_delta
from shuffledp.accounting.summation.noise_atoms import (
    atom_indices,
    atom_inverse,
    atom_messages,
    dominating_vector,
)
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.accounting.summation.shift_noise import negative_binomial_shift_delta, smallest_noise
from shuffledp.pipeline.claims.case import CLOSED_FORM, SLOPE, Case, Verdict
from shuffledp.pipeline.formatters import number, percent, series, span, times
from shuffledp.pipeline.papers.summation.computed_tables import (
    DELTA,
    EPS,
    EPS_STAR,
    GAMMA,
    accountings,
    best_design,
    readings,
)
from shuffledp.pipeline.query import grade, share, slope

USERS = 10**6
DELTAS = (1e-3, 1e-6, 1e-9, 1e-12)
READING = "reading error of the figure"
#: Delta from which the allowance for rounding of the joint law does not matter.
SMALLEST = 1e-7
#: Relative difference within which designs of the quick search are equally good.
SEARCHED = 0.25


def _design(case: Case, size: int, delta: float) -> NoiseDesign:
    """Return the noise under an accounting: the closed form, or a certified design from a quick search."""
    if case.accounting == "printed":
        return analytic_design(size, EPS, delta, GAMMA)
    return quick_design(size, EPS, delta, EPS_STAR)


def _deltas(case: Case) -> tuple[float, ...]:
    return DELTAS if case.accounting == "printed" else DELTAS[:3]


def linear_in_log(case: Case, size: int) -> Verdict:
    """Judge how noise messages grow with log(1/delta): equal increments between consecutive deltas."""
    deltas = _deltas(case)
    messages = [_design(case, size, delta).messages for delta in deltas]
    steps = np.diff(messages)
    uneven = float(steps.max() / steps.min() - 1)
    allowed = 0.01 if case.accounting == "printed" else SEARCHED
    squares = np.diff(np.log(deltas) ** 2)
    return Verdict(
        f"steps differ by {percent(uneven)}",
        uneven <= allowed,
        f"N = {', '.join(f'{m:.4g}' for m in messages)} at delta = {', '.join(f'{d:g}' for d in deltas)}, D = {size}; "
        f"up to {percent(allowed)} counts as linear, a square would have "
        f"{percent(float(squares.max() / squares.min()) - 1)}",
        CLOSED_FORM if case.accounting == "printed" else "a quick search, at most a quarter above the least",
    )


def _messages_by_size(case: Case) -> dict[int, float]:
    if case.accounting == "printed":
        sizes = {5, 10, 15, 20, 32, 64, 100, 128, 256}
        return {size: analytic_design(size, EPS, DELTA, GAMMA).messages for size in sorted(sizes)}
    designs = (shipped.design for shipped in shipped_designs())
    sizes = {
        design.max_value
        for design in designs
        if (design.eps, design.delta, design.eps_star) == (EPS, DELTA, EPS_STAR)
    }
    return {size: best_design(size).design.messages for size in sorted(sizes) if size >= 3}


def bounded_overhead(case: Case) -> Verdict:
    """Check that N over D log^2 D log(D / delta) never exceeds its value at the least D."""
    messages = _messages_by_size(case)
    ratios = [m / (d * math.log2(d) ** 2 * math.log(d / DELTA)) for d, m in messages.items()]
    return Verdict(
        f"{ratios[0]:.3g} at D = {min(messages)} to {ratios[-1]:.3g} at D = {max(messages)}",
        max(ratios) <= ratios[0],
        f"largest of {len(ratios)}: {max(ratios):.3g}; N over D is {span(m / d for d, m in messages.items())}",
    )


def nearly_linear(case: Case) -> Verdict:
    """Judge how N over D grows, compared with the proven rate."""
    messages = _messages_by_size(case)
    sizes = list(messages)
    grows = slope(sizes, [m / d for d, m in messages.items()])
    proven = slope(sizes, [math.log2(d) ** 2 * math.log(d / DELTA) for d in sizes])
    return Verdict(
        f"N / D proportional to D^{grows:.2f}",
        grows < proven - SLOPE,
        f"from D = {sizes[0]} to {sizes[-1]}; the proven rate is D^{proven:.2f} there, and linear growth of N "
        "would be D^0",
        "shipped designs, the best known",
    )


def one_more_bit(case: Case) -> Verdict:
    """Compare the bits of a message with the bits of an input."""
    extra = {math.ceil(math.log2(d)) + 1 - math.ceil(math.log2(d + 1)) for d in range(1, 1025)}
    return Verdict(
        f"{min(extra)} to {max(extra)} bit more",
        max(extra) <= 1,
        "for D = 1 to 1024: 2D symbols instead of D + 1 values",
    )


def real_sums(case: Case) -> Verdict:
    """Check Theorem 1: the error is at most the error of Laplace noise with a slightly smaller budget."""
    ratios, words = [], []
    for n, zeta in ((10**6, 0.1), (10**6, 0.2), (10**4, 0.2)):
        size = real_summation_levels(n, EPS, zeta)
        ratios.append(rounded_sum_mse(n, size, (1 - zeta / 2) * EPS) * ((1 - zeta) * EPS) ** 2 / 2)
        words.append(f"D = {size} (n = {n}, zeta = {zeta:g})")
    return Verdict(f"{times(ratios)} the stated error", max(ratios) <= 1, f"with {', '.join(words)}")


def real_messages(case: Case) -> Verdict:
    """Judge the number of extra messages of a real sum among a million users; a number below 1 is negligible."""
    extra = {}
    for zeta in (0.1, 0.2):
        size = real_summation_levels(USERS, EPS, zeta)
        if case.accounting == "printed":
            extra[zeta] = analytic_design(size, EPS, DELTA, zeta / 2).messages / USERS
        else:
            largest = max(_messages_by_size(case).items())
            extra[zeta] = largest[1] / largest[0] * size / USERS
    return Verdict(
        ", ".join(f"{number(value, 4)} (zeta = {zeta:g})" for zeta, value in extra.items()),
        grade(strict=max(extra.values()) < 1, weak=True),
        "extra messages per user at n = 1e6; they fall as D log^2 D / n with D of order sqrt(n), so for enough users",
        CLOSED_FORM if case.accounting == "printed" else "extrapolated in D from the largest shipped design",
    )


def real_bits(case: Case) -> Verdict:
    """Judge the bits of a message for real sums."""
    bits = math.ceil(math.log2(real_summation_levels(USERS, EPS, 0.1))) + 1
    half = math.log2(USERS) / 2
    return Verdict(
        f"{bits} bits, half the logarithm of n is {half:.4g}",
        bits - half <= 2,
        f"n = {USERS}, zeta = 0.1; a difference of 2 bits at most counts as a constant",
    )


def crucial(case: Case) -> Verdict:
    """Compare noise that hides a shift of 1 with noise that hides a shift of log(1/delta) / eps*."""
    most = 5
    factors = {}
    for delta in DELTAS[:3]:
        means = [
            math.prod(smallest_noise(k, EPS, delta)) for k in (1, math.ceil(math.log(1 / delta) / EPS_STAR))
        ]
        factors[delta] = means[1] / means[0]
    factor = factors[DELTA]
    return Verdict(
        f"{times(factor)} less noise",
        grade(strict=factor > most, weak=factor > 1),
        f"delta = {', '.join(f'{d:g}: {f:.3g}' for d, f in factors.items())}; above {most:g} times counts as crucial",
    )


def zero_sum(case: Case) -> Verdict:
    """Compare the closed-form errors of designs that differ only in the zero-sum noise."""
    pairs = [(analytic_design(d, EPS, DELTA, GAMMA), best_design(d).design) for d in (2, 5, 15)]
    spread = max(abs(one.mse / other.mse - 1) for one, other in pairs)
    return Verdict(
        f"relative difference {spread:.1g}",
        spread < 1e-12,
        "error of two designs for D = 2, 5, 15, one with "
        f"{times(one.messages / other.messages for one, other in pairs)} as many noise messages as the other",
    )


def lemma_9(case: Case) -> Verdict:
    """Compare the joint delta of the sum and the noise counts with the delta of the counts only."""
    rng = np.random.default_rng(9)
    wanted = case.at_most(40, 4)
    ratios: list[float] = []
    while len(ratios) < wanted:
        shape, eps_star, eps = rng.uniform(3, 30), rng.uniform(0.3, 1.5), rng.uniform(0.1, 0.5)
        ratio = math.exp(-rng.uniform(0.15, 0.5) * eps)
        claimed = negative_binomial_shift_delta(shape, ratio, 1, eps)
        if claimed < SMALLEST:
            continue
        design = NoiseDesign(1, eps_star, "halving", (), (1,), (shape,), (ratio,), eps_star + eps, 0.5)
        ratios.append(correlated_noise_delta(design, eps_star + eps) / claimed)
    above = sum(r > 1 for r in ratios)
    return Verdict(
        f"{times(ratios)} the bound",
        not above,
        f"above it in {above}; D = 1 and deltas of at least {SMALLEST:g}, by the certified upper bound of the joint "
        "law",
        f"{len(ratios)} random settings",
    )


def modular(case: Case) -> Verdict:
    """Judge the exact delta of the parameters in closed form."""
    sizes = (2, 3, 5)[: case.at_most(3, 1)]
    deltas = [correlated_noise_delta(analytic_design(d, EPS, DELTA, GAMMA), EPS) for d in sizes]
    return Verdict(
        f"delta at most {max(deltas):.2g}",
        max(deltas) <= DELTA,
        f"D = {', '.join(map(str, sizes))} at eps {EPS:g}, where {DELTA:g} is promised; the allowance for rounding is "
        "most of it",
        "certified from above",
    )


def closed_noise(case: Case) -> Verdict:
    """Check Theorem 10: compare the exact delta of its negative binomial noise with the claim."""
    ratios = []
    for eps in (0.05, 0.2, 1.0):
        for delta in (1e-3, 5e-7):
            for size in (1, 5, 15):
                ratio = math.exp(-0.2 * eps / size)
                shape = 3 * (1 + math.log(1 / delta))
                ratios.append(negative_binomial_shift_delta(shape, ratio, size, eps) / delta)
    above = sum(r > 1 for r in ratios)
    return Verdict(
        f"{times(ratios)} the stated delta",
        not above,
        f"above it in {above} of {len(ratios)} settings: eps 0.05 to 1, delta 1e-3 and 5e-7, D = 1 to 15",
    )


def _is_inverse(size: int) -> bool:
    """Return whether the integer matrix combines the atoms into one message of every kind except +1."""
    indices = atom_indices(size)
    rows = [*range(-size, 0), *range(2, size + 1)]
    atoms = np.zeros((len(rows), len(indices)), np.int64)
    for column, index in enumerate(indices):
        for message, count in atom_messages(index, size).items():
            if message != 1:
                atoms[rows.index(message), column] += count
    return bool(np.array_equal(atoms @ atom_inverse(size), np.eye(len(rows), dtype=np.int64)))


def right_inverse(case: Case) -> Verdict:
    """Check Theorem 12: an integer right inverse with few small atoms, and a vector that dominates its columns."""
    sizes = [*range(1, case.at_most(64, 16) + 1), *((100, 128, 200, 256) if case.effort == "full" else ())]
    wrong = [d for d in sizes if not _is_inverse(d)]
    loads = {
        d: max(
            sum(
                (Fraction(int(abs(c)), int(t)) for c, t in zip(column, dominating_vector(d), strict=True)),
                Fraction(),
            )
            for column in atom_inverse(d).T
        )
        for d in sizes
        if d <= 64
    }
    most = max(sum(atom_messages(i, d).values()) for d in (3, sizes[-1]) for i in atom_indices(d))
    count = all(len(atom_indices(d)) == 2 * d - 1 for d in sizes)
    holds = not wrong and max(loads.values()) <= 1 and most <= 3 and count
    return Verdict(
        f"2D - 1 atoms of at most {most} messages",
        holds,
        f"no inverse at {len(wrong)} of {len(sizes)} D up to {sizes[-1]}; largest load of a column "
        f"{float(max(loads.values())):.4f} of 1",
        "integer arithmetic",
    )


def much_better(case: Case) -> Verdict:
    """Compare the closed form with the search behind the figure."""
    table = accountings()
    table = table[table["paper"] > table["reading error"]]
    factors = table["analytic"] / table["paper"]
    much = bool((factors > 2).any())
    return Verdict(
        times(factors),
        grade(strict=factors.min() > 1 and much, weak=much),
        "N of the closed form over N of the figure, "
        + ", ".join(f"D = {d}: {f:.2g}" for d, f in zip(table["Delta"], factors, strict=True)),
        READING,
    )


def counts_in_order(case: Case) -> Verdict:
    """Check O-22: N increases from exact accounting to Theorem 8, the figure and the closed form."""
    table = accountings()
    steps = (("exact, paper's atoms", "modular"), ("modular", "paper"), ("paper", "analytic"))
    room = table["reading error"]
    above = [
        f"{low} above {high} at D = {', '.join(map(str, table['Delta'][wrong]))}"
        for low, high in steps
        if (wrong := table[low] > table[high] + room * ((low == "paper") | (high == "paper"))).any()
    ]
    return Verdict(
        f"{len(steps) - len(above)} of {len(steps)} steps in order",
        grade(strict=not above, weak=len(above) < len(steps)),
        "; ".join(above) or f"at D = {', '.join(map(str, table['Delta']))}",
        READING,
    )


def rappor_points(case: Case) -> Verdict:
    """Compare RAPPOR's five points with both estimators."""
    figure = readings(panel="a", curve="RAPPOR")
    p = rappor_flip_probability(USERS, EPS, DELTA, calibration="optimistic")
    fits = {}
    for name, factor in (("plain", 1.0), ("centred", 1.0), ("centred", math.sqrt(2))):
        errors = [factor * math.sqrt(rappor_mse(USERS, d, p, estimator=name)) for d in figure["max_value"]]
        near = (
            np.abs(np.array(errors) - figure["reading"])
            <= figure["reading_error"] + 0.006 * figure["reading"]
        )
        fits[name if factor == 1 else f"sqrt 2 times {name}"] = int(near.sum())
    best = max(fits["plain"], fits["centred"])
    return Verdict(
        ", ".join(f"{name}: {count} of {len(figure)}" for name, count in fits.items()),
        grade(strict=best == len(figure), weak=max(fits.values()) == len(figure)),
        "points within the reading error of the estimator's closed form at the published calibration",
        READING,
    )


def _count_variance(n: int, delta: float) -> float:
    return rappor_count_variance(n, rappor_flip_probability(n, EPS, delta, calibration="optimistic"))


def rappor_grows(case: Case) -> Verdict:
    """Judge the variance of RAPPOR's counts, which must grow with 1/delta and not depend on n."""
    by_delta = [_count_variance(USERS, delta) for delta in DELTAS[:3]]
    change = abs(_count_variance(10**7, DELTA) / _count_variance(USERS, DELTA) - 1)
    grows = by_delta == sorted(by_delta)
    return Verdict(
        f"variance of a count {series(by_delta, 4)}",
        grade(strict=grows and change < 1e-3, weak=grows),
        f"delta = {', '.join(f'{d:g}' for d in DELTAS[:3])}; from n = 1e6 to 1e7 it changes by {percent(change)}",
    )


def _randomized_response_rmse(counts: Sequence[float]) -> float:
    """Return the error of the sum for a histogram of inputs, by k-ary randomized response under the exact blanket."""
    values, n = np.arange(len(counts)), sum(counts)
    local = blanket_local_budget(int(n), len(counts), EPS, DELTA)
    q = 1 / (math.exp(local) + len(counts) - 1)
    keep = math.exp(local) * q - q  # the probability of the own value beyond that of any other
    variance = 0.0
    for value, count in enumerate(counts):
        law = np.full(len(counts), q)
        law[value] += keep
        variance += count * float(law @ values**2 - (law @ values) ** 2)
    return math.sqrt(variance) / keep


def against_randomized_response(case: Case) -> Verdict:
    """Compare randomized response over all values with RAPPOR at equal exact budgets, for several histograms."""
    size = 5
    shapes = {
        "uniform": [1.0] * (size + 1),
        "all at one end": [1.0] + [0.0] * size,
        "half at each end": [1.0, *[0.0] * (size - 1), 1.0],
    }
    errors = {
        name: _randomized_response_rmse([USERS * c / sum(weights) for c in weights])
        for name, weights in shapes.items()
    }
    p = rappor_flip_probability(USERS, EPS, DELTA, calibration="sound")
    rivals = {e: math.sqrt(rappor_mse(USERS, size, p, estimator=e)) for e in ("plain", "centred")}
    less = {name: share(error < rival for error in errors.values()) for name, rival in rivals.items()}
    return Verdict(
        f"{span(errors.values())}, RAPPOR {', '.join(f'{number(v)} ({k})' for k, v in rivals.items())}",
        grade(
            strict=all(points.none for points in less.values()),
            weak=not all(points.every for points in less.values()),
        ),
        f"root mean squared errors at D = {size}; randomized response has less for "
        + ", ".join(f"{points.of('histograms')} than {name} RAPPOR" for name, points in less.items()),
    )


def data_free(case: Case) -> Verdict:
    """Compare RAPPOR, for several histograms, with correlated noise, whose error and messages do not depend on data."""
    size = 5
    p = rappor_flip_probability(USERS, EPS, DELTA, calibration="optimistic")
    weights = np.arange(1, size + 1)
    errors, messages = [], []
    for histogram in (
        np.full(size + 1, USERS / (size + 1)),
        USERS * np.eye(size + 1)[1],
        USERS * np.eye(size + 1)[-1],
    ):
        ones = histogram[1:]
        errors.append(
            float(weights**2 @ (ones * p * (1 - p) + (USERS - ones) * p * (1 - p))) / (1 - 2 * p) ** 2
        )
        sent = (ones * (1 - p) + (USERS - ones) * p).sum() / USERS
        messages.append(float(sent + histogram[0] / USERS * (1 - 2 * p)))
    # Rounding differs between processors: a spread below 1e-12 is none.
    spread = [0.0 if (ratio := max(v) / min(v) - 1) < 1e-12 else ratio for v in (errors, messages)]
    return Verdict(
        f"relative spread {spread[0]:.1g} of the error, {spread[1]:.1g} of the messages",
        max(spread) < 1e-9,
        "three histograms; every input is counted as sent, also the input without a message",
    )


def ikos_monotone(case: Case) -> Verdict:
    """Judge IKOS's bits against n, for each formula of the number of shares."""
    size = 5
    users = (10**4, 10**5, 10**6, 10**7)
    bits = {
        form: [ikos_shares(n, size, EPS, DELTA, form=form) * math.ceil(math.log2(n * size)) for n in users]
        for form in ("figure", "average", "worst_case")
    }
    rising = [form for form, values in bits.items() if values == sorted(values)]
    return Verdict(
        ", ".join(f"{form}: {', '.join(map(str, values))}" for form, values in bits.items()),
        grade(strict=not rising, weak=len(rising) < len(bits)),
        f"bits per user at n = 1e4 to 1e7, D = {size}; monotone with {', '.join(rising) or 'none'}, and only these "
        "formulas are proven",
    )


def ikos_points(case: Case) -> Verdict:
    """Compare all points of IKOS with the figure's formula and with the proven formula."""
    figure = readings(curve="IKOS")
    fits = {}
    for form in ("figure", "worst_case"):
        bits = [
            ikos_shares(int(n), int(d), EPS, DELTA, form=form) * math.ceil(math.log2(n * d))
            for n, d in zip(figure["n"], figure["max_value"], strict=True)
        ]
        fits[form] = int((np.abs(np.array(bits) - figure["reading"]) <= figure["reading_error"]).sum())
    return Verdict(
        f"{fits['figure']} of {len(figure)} by the lowest constant, {fits['worst_case']} by the proven formula",
        grade(strict=fits["worst_case"] == len(figure), weak=fits["figure"] == len(figure)),
        "no theorem is known for the lowest constant",
        READING,
    )


def unary_shares(case: Case) -> Verdict:
    """Judge one user's unary noise: ``Pr[share > 1]``, the mean of a nonzero share, and its part of all noise."""
    sizes = (5, 15)
    rare, long, part = [], [], []
    for size in sizes:
        design = best_design(size).design
        a, r = design.central_ratio, 1 / USERS
        mean = 2 * a / (1 - a) + 2 * sum(
            shape * scale
            for index, shape, scale in zip(design.indices, design.shapes, design.scales, strict=True)
            if index == 1
        )
        none, one = (1 - a) ** r, r * (1 - a) ** r * a
        rare.append(1 - none - one)
        long.append(r * a / (1 - a) / -math.expm1(r * math.log1p(-a)))
        part.append(mean / design.messages)
    little = max(long) < 2 and max(part) < 0.1
    return Verdict(
        f"more than one message with probability {span(rare)}, mean length {span(long)}",
        grade(strict=little, weak=max(rare) < 1e-3),
        f"n = 1e6, D = {' and '.join(map(str, sizes))}; all noise on +1 and -1 is "
        f"{' and '.join(percent(v) for v in part)} of the noise messages of the best shipped designs",
    )
