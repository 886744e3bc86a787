"""Claims of Ghazi et al. 2021 on result tables: Figure 1, and the experiments on real and sparse sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.pipeline.claims.case import SLOPE, Case, Verdict, combined
from shuffledp.pipeline.claims.general_rules import without
from shuffledp.pipeline.formatters import SAME, finite, number, percent, series, span, times
from shuffledp.pipeline.papers.summation.computed_tables import EPS_STAR, GAMMA, readings
from shuffledp.pipeline.papers.summation.theorem_claims import READING
from shuffledp.pipeline.query import (
    Array,
    MissingResultsError,
    Names,
    Points,
    at_any,
    compare,
    grade,
    mapped,
    near,
    select,
    share,
    slope,
    total,
)

#: Standard errors within which a simulated value agrees with a closed form.
AGREES = 4
#: Methods with a single accounting, under which all claims are judged.
SINGLE = {"central_laplace": "exact", "split_and_mix": "printed", "split_and_mix_figure": "printed"}
#: Large D of Figure 1c.
LARGE = (5, 10, 15)
#: Relative difference up to which two errors are equal.
EQUAL = 0.01


def numbers(case: Case, quantity: str, method: str, experiment: str, *, several: bool = False) -> Array:
    """Return a quantity, or the ``error``, by grid point; ``error`` is the root mean squared error.

    Raises MissingResultsError for a single point, if ``several`` are needed.
    """
    query, power = case.under(SINGLE.get(method, case.accounting)), 1.0
    if quantity == "error":
        quantity, power = "expected", 0.5
    values = query(quantity, method, experiment=experiment)
    if several and values.size < 2:
        raise MissingResultsError(f"needs the papers' grid: several {values.dims[0]}")
    return values**power


def simulated_error(case: Case) -> Verdict:
    """Compare simulated errors with the variance of discrete Laplace noise at (1 - gamma) eps."""
    mean, deviation, count = (
        numbers(case, name, "correlated_sum", "sizes") for name in ("mean", "standard_error", "count")
    )
    if count.min() < 2:
        raise MissingResultsError("there are no repeats to compare with")
    stated = mapped(lambda size: discrete_laplace_variance(EPS_STAR / size), mean["max_value"])
    worst = finite(abs(mean - stated) / deviation).max()
    return Verdict(
        f"{times(mean / stated)} the stated error",
        bool(worst <= AGREES),
        f"{mean.size} D; agreement within {AGREES} standard errors is accepted",
        f"at most {number(worst, 2)} standard errors of the mean",
    )


def error_ratios(case: Case) -> Verdict:
    """Compare errors of the method and of IKOS with the central mechanism's error."""
    ours, ikos, central = (
        numbers(case, "error", method, "sizes")
        for method in ("correlated_sum", "split_and_mix", "central_laplace")
    )
    ratios = [finite(ours / central), finite(ikos / central)]
    equal = [(abs(ratio - 1) <= EQUAL).all() for ratio in (ratios[0] * EPS_STAR, ratios[1])]
    return Verdict(
        f"{times(ratios[0])}, IKOS {times(ratios[1])}",
        share(equal),
        f"1 / {EPS_STAR:g} and 1 are stated; within {percent(EQUAL)} is accepted",
    )


def exponents(case: Case, quantity: str, methods: Names, experiment: str, stated: float, why: str) -> Verdict:
    """Judge the exponents of errors or messages along the variable of an experiment."""
    by_method = {method: numbers(case, quantity, method, experiment, several=True) for method in methods}
    slopes = {method: slope(values[values.dims[0]], values) for method, values in by_method.items()}
    return Verdict(
        f"exponents {', '.join(f'{exponent:.3f} ({method})' for method, exponent in slopes.items())}",
        combined(near(exponent, stated, SLOPE) for exponent in slopes.values()),
        why,
    )


def rappor_slope(case: Case) -> Verdict:
    """Judge the local exponent of RAPPOR's error in D."""
    method, last = "rappor_plain", (10, 15)
    error = numbers(case, "error", method, "sizes")
    exponent = slope(last, [float(select(error, max_value=size)) for size in last])
    return Verdict(
        f"exponent {exponent:.3f} from D = {last[0]} to {last[-1]}",
        near(exponent, 1.5, SLOPE),
        f"{method}; within {SLOPE} of 1.5 is accepted",
    )


def constant_error(case: Case, method: str, within: float) -> Verdict:
    """Check that the error is constant in the number of users."""
    error = numbers(case, "error", method, "users", several=True)
    spread = float(error.max() / error.min() - 1)
    return Verdict(
        f"relative spread {spread:.2g}",
        spread < within,
        f"{method}, n = {_users(error)}; below {within:g} is accepted",
    )


def _users(values: Array) -> str:
    return f"{int(values['n'].min()):,} to {int(values['n'].max()):,}"


def readings_of_users(case: Case) -> Verdict:
    """Compare the bits of the method with the points of Figure 1b."""
    figure = readings(panel="b", curve="correlated noise").set_index("n")
    bits = numbers(case, "bits_per_user", "correlated_sum", "users")
    if not set(figure.index) <= set(bits["n"].to_numpy()):
        raise MissingResultsError("needs the papers' grid: not all n of the figure")
    bits = bits.sel(n=figure.index.to_numpy())
    agree = share(abs(bits.to_numpy() - figure["reading"]) <= figure["reading_error"])
    per_message = 4  # bits, D = 5
    first = figure.index.min()
    noise = (float(figure["reading"].loc[first]) / per_message - 1) * first
    fitted = per_message * (1 + noise / figure.index.to_numpy(float))
    fits = share(abs(fitted - figure["reading"]) <= figure["reading_error"])
    return Verdict(
        f"{series(bits, 4)} bits",
        grade(strict=agree.every, weak=agree.pro > 0 or fits.every),
        f"{agree} agree; one number of noise messages, {number(noise)}, fits {fits}",
        READING,
    )


def fewer_bits(case: Case) -> Verdict:
    """Check that the method has fewer bits than IKOS at every n of Figure 1b."""
    ours, ikos = (
        numbers(case, "bits_per_user", method, "users")
        for method in ("correlated_sum", "split_and_mix_figure")
    )
    points = compare(ours, ikos)
    return Verdict(
        f"IKOS needs {times(ikos / ours)} the bits",
        points,
        f"fewer at {points.pro} and more at {points.con} of {points.total} n; IKOS has the shares of the figure",
    )


def shares_fall(case: Case) -> Verdict:
    """Check that IKOS needs at least three messages, and fewer for more users."""
    sent = numbers(case, "messages_per_user", "split_and_mix_figure", "users", several=True)
    counts = sent.to_numpy()
    falls = bool((np.diff(counts) <= 0).all() and counts[-1] < counts[0])
    return Verdict(f"{series(counts)} shares", share([falls, counts.min() >= 3]), f"n = {_users(sent)}")


def artefact(case: Case) -> Verdict:
    """Judge how bits grow with D, in the figure and for better designs."""
    drawn = readings(panel="c", curve="correlated noise").set_index("max_value")["reading"]
    bits = at_any(numbers(case, "bits_per_user", "correlated_sum", "sizes"), "max_value", LARGE)
    large = bits["max_value"].to_numpy()
    ours, figure = finite(bits), drawn[large].to_numpy()
    exponents = [slope(large, sent) for sent in (ours, figure)]
    return Verdict(
        f"exponent {exponents[0]:.2f} instead of {exponents[1]:.2f}",
        exponents[1] > 1 >= exponents[0],
        f"bits from D = {large[0]} to {large[-1]}: {series(ours)}; the figure has {series(figure)}"
        f"{without(bits, 'max_value', LARGE)}",
        READING,
    )


def two_copies(case: Case) -> Verdict:
    """Judge a coordinate's budget for 1-sparse vectors, from the calibrated protocol."""
    each = numbers(case, "parameters.eps_star", "sparse_sum", "pages")
    shares = finite(each / (1 - GAMMA) / each["eps"])
    return Verdict(
        f"{span(shares)} of eps",
        bool(np.allclose(shares, 0.5, rtol=SAME, atol=0)),
        "budget of the noise of each coordinate over 1 - gamma: replacing a user touches two of them",
    )


def chain(case: Case, quantity: str, experiments: Names, pairs: Sequence[Names], same: Names = ()) -> Verdict:
    """Check that the first of each pair never exceeds the second in errors or bits; ``same`` are two equal methods."""
    points = {
        f"{low} above {high} at {{}} of {experiment}": compare(
            *(numbers(case, quantity, method, experiment) for method in (low, high))
        ).with_ties
        for experiment in experiments
        for low, high in pairs
    }
    outcomes = [part.outcome for part in points.values()]
    reasons = [text.format(Points(part.con, part.pro)) for text, part in points.items() if part.con]
    if same:
        first, second = (numbers(case, quantity, method, experiments[0]) for method in same)
        ratios = finite(first / second)
        outcomes.append(grade(strict=bool((abs(ratios - 1) <= EQUAL).all())))
        reasons.append(f"{same[0]} over {same[1]} is {span(ratios)}")
    points_of_all = total(points.values())
    return Verdict(
        f"the wrong way at {points_of_all.con} of {points_of_all.total} points",
        combined(outcomes),
        "; ".join(reasons) or f"in order at all points of {', '.join(experiments)}",
    )


def single_message(case: Case) -> Verdict:
    """Check that extra messages per user are below one; "in part" if they at least decrease with n."""
    users = 1_000_000
    extra = case("extra_messages", "correlated_sum", experiment="users")
    names = ("messages_per_user", "domain_size", "eps", "delta")
    messages, size, eps, delta = (
        float(case(name, "correlated_sum", experiment="users", n=users)) for name in names
    )
    falls = bool((np.diff(extra) < 0).all())
    trend = "fall" if falls else "do not always fall"
    return Verdict(
        f"{number(messages)} messages per user (n = {users:,}, D = {size - 1:g}, eps = {eps:g}, delta = {delta:g})",
        grade(strict=float(select(extra, n=users)) < 1, weak=falls),
        f"extra messages {trend} from {number(extra[0])} to {number(extra[-1], 2)} over {_users(extra)} users",
    )
