"""Claims of Wang et al. 2023 on the errors of single-message protocols, which result tables decide.

Errors are expected total variation errors. No table has ``simplified`` accounting. Under this accounting the error of
AMPLIFIED is the error of the table times the ratio of the noise at the two local budgets, exactly, as only the noise
differs.
"""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
from scipy.special import erfcx

from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.accounting.random_population.report_errors import inverse_moments, report_variance
from shuffledp.pipeline.claims.case import POINTS, SLOPE, Case, Verdict
from shuffledp.pipeline.claims.general_rules import never_above, without
from shuffledp.pipeline.formatters import finite, percent, percents, span, times
from shuffledp.pipeline.papers.random_population.settings import ADULT_FEMALE, DELTA, dummies_error
from shuffledp.pipeline.query import (
    TIE,
    Array,
    MissingResultsError,
    Names,
    Points,
    at_any,
    compare,
    grade,
    least,
    mapped,
    monotone,
    near,
    share,
    slopes,
)
from shuffledp.populations.base import Law
from shuffledp.populations.laws import Binomial, Poisson

#: Grid variable that distinguishes the panels of an experiment.
PANEL = {"adult": "rate", "gradient": "rate", "poisson_even": "others", "poisson_skewed": "others"}
WORDS = {
    **dict.fromkeys(("adult", "gradient"), "participation rate"),
    **dict.fromkeys(("poisson_even", "poisson_skewed"), "mean number of others"),
}
#: Experiments on the binary task.
COUNTED = ("adult", "poisson_even", "poisson_skewed")
#: Rate in the captions and figures, but not in the list of the text, to which the claims belong.
RATE_APART = 0.01
ADULT_USERS, IMAGES = 48_842, 60_000
#: Variance of one user's bit, by experiment.
VARIANCE = {
    "adult": ADULT_FEMALE * (1 - ADULT_FEMALE),
    "poisson_even": 0.55 * 0.45,
    "poisson_skewed": 0.1 * 0.9,
}
SINGLE = ("local", "amplified", "non_adaptive", "adaptive")
#: Participation rates that the text lists.
RATES = (0.05, 0.1, 0.2, 0.5)
#: Methods by experiment.
FALLING = {
    "adult": (*SINGLE, "random_checkin", "multi_union", "multi_expected"),
    "poisson_even": (*SINGLE, "multi_union", "multi_expected"),
    "poisson_skewed": SINGLE,
}
#: Methods whose noise is two-sided geometric rather than close to normal.
LAPLACE_NOISE = ("multi_union",)


def law_of(experiment: str, panel: float) -> Law:
    """Return the law of the number of other users in a panel."""
    if PANEL[experiment] == "others":
        return Poisson(float(panel))
    return Binomial({"adult": ADULT_USERS, "gradient": IMAGES}[experiment] - 1, panel)


def by_panel(case: Case, quantity: str, experiment: str, method: str) -> Array:
    """Return a quantity by ``panel`` and ``eps``."""
    values = case(quantity, method, experiment=experiment)
    return values.rename({PANEL[experiment]: "panel"}).transpose("panel", "eps")


def all_errors(case: Case, experiment: str, method: str) -> Array:
    """Return a method's expected errors by eps in all panels, for the target of the case."""
    values = _noise(case, experiment, method)
    return values if case.target != "population" else _with_sampling(values, experiment, method)


def errors(case: Case, experiment: str, method: str) -> Array:
    """Return a method's expected errors by panel and eps, at the participation rates in the text."""
    values = all_errors(case, experiment, method)
    if PANEL[experiment] == "rate":
        values = values.drop_sel(panel=RATE_APART, errors="ignore")
    if not values.size:
        raise MissingResultsError(
            f"needs the papers' grid: the run has no participation rate of the text in {experiment}"
        )
    return values


def _noise(case: Case, experiment: str, method: str) -> Array:
    if case.accounting != "simplified":
        return by_panel(case, "expected", experiment, method)
    table = case.under("printed")
    if method == "local":
        return by_panel(table, "expected", experiment, method)
    if method not in ("amplified", "non_adaptive", "adaptive") or experiment == "gradient":
        raise MissingResultsError(f"there is no simplified form of {method} in {experiment}")
    variances = (mapped(report_variance, budgets(one, experiment)) for one in (case, table))
    simplified, printed = variances
    values = by_panel(table, "expected", experiment, "amplified") * (simplified / printed) ** 0.5
    if method == "amplified":
        return values

    def with_dummies(error: float, panel: float, eps: float) -> float:
        adaptive = method == "adaptive"
        return error * dummies_error(law_of(experiment, panel), eps, "simplified", adaptive=adaptive)

    return mapped(with_dummies, values, values["panel"], values["eps"])


def budgets(case: Case, experiment: str, method: str = "amplified") -> Array:
    """Return a method's local budgets A (nats) by eps in all panels."""
    simplified = case.accounting == "simplified"
    local = by_panel(case.under("printed") if simplified else case, "eps_local", experiment, method)
    if not simplified:
        return local
    if method != "amplified":
        raise MissingResultsError(f"there is no simplified form of {method} in {experiment}")
    return mapped(
        lambda _, panel, eps: local_budget(law_of(experiment, panel), eps, DELTA, accounting="simplified"),
        local,
        local["panel"],
        local["eps"],
    )


def _with_sampling(values: Array, experiment: str, method: str) -> Array:
    """Return errors against the population's frequencies, from which the participants' frequencies deviate.

    Both parts are taken as normal, or the noise as Laplace if it is two-sided geometric. The result is within 1 % of
    the expectation, as the number of participants hardly varies.
    """

    def deviation(panel: float) -> float:
        law = law_of(experiment, panel)
        spread = VARIANCE[experiment] * inverse_moments(law)[0]
        if experiment == "adult":  # drawn without replacement
            spread *= (ADULT_USERS - law.mean - 1) / (ADULT_USERS - 1)
        return math.sqrt(spread)

    laplace = method in LAPLACE_NOISE
    return mapped(
        lambda error, spread: with_normal(error, spread, laplace=laplace),
        values,
        mapped(deviation, values["panel"]),
    )


def with_normal(error: float, deviation: float, *, laplace: bool) -> float:
    """Return the expected l1 distance for two values if an independent normal error is added to one frequency."""
    normal = 2 * math.sqrt(2 / math.pi) * deviation
    if not laplace:
        return math.hypot(error, normal)
    return normal + error * float(erfcx(deviation / (error / 2 * math.sqrt(2))))


# -- reductions ----------------------------------------------------------------------------------------------------


def ratio(case: Case, experiment: str, of: str, to: str) -> Array:
    """Return the ratio of two methods' errors by panel and eps, at the participation rates in the text."""
    return errors(case, experiment, of) / errors(case, experiment, to)


def reductions(case: Case, experiments: Names, of: str, against: str) -> dict[str, Array]:
    """Return the mean of 1 - X/Y over the eps grid by panel, for each experiment."""
    return {experiment: (1 - ratio(case, experiment, of, against)).mean("eps") for experiment in experiments}


def more_than(case: Case) -> Verdict:
    """Check in every panel that the mean reduction exceeds the stated fraction."""
    stated = 0.6
    means = finite(reductions(case, COUNTED, "amplified", "local").values())
    above = share(means > stated)
    ours, local = (all_errors(case, "adult", method) for method in ("amplified", "local"))
    apart = ""
    if RATE_APART in ours["panel"]:
        left_out = percent(1 - (ours / local).sel(panel=RATE_APART).mean())
        apart = (
            f"; the panel of participation rate {RATE_APART:g} of adult, which the text does not list, is left out: "
            f"{left_out}"
        )
    return Verdict(
        f"{percent(means.min())} to {percent(means.max())}",
        above,
        f"the mean over the grid of eps is above {percent(stated)} in {above.of('panels')} that the text lists{apart}",
    )


def mean_reduction(case: Case, experiments: Names, against: str, stated: float) -> Verdict:
    """Check that the mean reduction over all panels is about the stated fraction."""
    means = finite(reductions(case, experiments, "amplified", against).values())
    return Verdict(
        percent(means.mean()),
        near(means.mean(), stated, POINTS),
        f"by panel {percents(means)}, each a mean over the grid of eps",
    )


def growing_reduction(case: Case, experiments: Names) -> Verdict:
    """Check that each panel's mean reduction is larger than in the panel with fewer participants."""
    means = [finite(values) for values in reductions(case, experiments, "amplified", "local").values()]
    growth = [step for values in means for step in np.diff(values)]
    if not growth:
        raise MissingResultsError("needs the papers' grid: one panel shows no growth")
    up = share(step > 0 for step in growth)
    return Verdict(
        "; ".join(map(percents, means)),
        up,
        f"the reduction grows in {up.of('steps')} from one panel to the next",
    )


def against_naive(case: Case) -> Verdict:
    """Compare the best single-message proposal and both multi-message proposals with RandomCheckin on Adult."""
    stated = 0.6
    proposals = {
        "single message": ("amplified", "non_adaptive", "adaptive"),
        "MULTI-UNION": ("multi_union",),
        "MULTI-EXPECTED": ("multi_expected",),
    }
    means = {
        name: float((1 - least(ratio(case, "adult", method, "random_checkin") for method in methods)).mean())
        for name, methods in proposals.items()
    }
    above = share(mean > stated for mean in means.values())
    return Verdict(
        ", ".join(f"{name} {percent(mean)}" for name, mean in means.items()),
        above,
        f"{above.of('reductions')} are above {percent(stated)}, as means over the grid of eps and the panels of Adult",
    )


# -- RandomCheckin and the shape of curves -------------------------------------------------------------------------


def checkin_amplifies(case: Case) -> Verdict:
    """Count the points on Adult where RandomCheckin has a larger local budget than AMPLIFIED."""
    ours, theirs = budgets(case, "adult"), budgets(case, "adult", "random_checkin")
    points = compare(ours, theirs)
    by_rate = (compare(ours.sel(panel=rate), theirs.sel(panel=rate)).pro for rate in ours["panel"].to_numpy())
    return Verdict(
        f"larger at {points.pro} of {points.total} points, {times(theirs / ours)}",
        points,
        f"A(RandomCheckin) over A(AMPLIFIED): larger at {', '.join(map(str, by_rate))} of the budgets, by "
        f"participation rate; tied at {points.tied}",
    )


def away_from_checkin(case: Case) -> Verdict:
    """Judge the difference of the errors of RandomCheckin and AMPLIFIED on Adult, relative to either error."""
    low, high = 0.4, 0.6
    shares = ratio(case, "adult", "amplified", "random_checkin")
    below, above = (1 - shares).mean("eps"), (1 / shares - 1).mean("eps")
    saved, more = float(below.mean()), float(above.mean())
    return Verdict(
        f"AMPLIFIED {percent(saved)} below, RandomCheckin {percent(more)} above",
        grade(strict=any(low <= value <= high for value in (saved, more)), weak=saved > 0),
        f"means over the grid of eps and the panels; by panel {percents(below)} below; either may lie in "
        f"{percent((low, high))}",
    )


def slots_filled(case: Case) -> Verdict:
    """Judge the share of RandomCheckin's slots that hold a user's report."""
    filled = []
    for rate in RATES:
        slots = math.floor((ADULT_USERS - 1) * rate)
        filled.append(-math.expm1((law_of("adult", rate).mean + 1) * math.log1p(-1 / slots)))
    return Verdict(
        f"{percent(min(filled))} to {percent(max(filled))} of the slots filled",
        max(filled) < 1 - TIE,
        "for the mean number of participants, at the participation rates of the text; all other slots hold dummies, "
        "and AMPLIFIED has none",
    )


def in_proportion(case: Case) -> Verdict:
    """Judge the slope of log error against log mean population, for several methods and budgets."""
    stated, at = -1, (0.001, 0.1, 0.5)
    curves = {
        method: at_any(errors(case, "poisson_even", method), "eps", at)
        for method in ("local", "amplified", "multi_union", "multi_expected")
    }
    exponents = {method: slopes(values, "panel") for method, values in curves.items()}
    outcomes = [near(exponent, stated, SLOPE) for exponent in chain(*exponents.values())]
    right = share(outcome == "holds" for outcome in outcomes)
    return Verdict(
        ", ".join(f"{method} {span(some)}" for method, some in exponents.items()),
        grade(strict=right.every, weak=right.pro > 0 or "in part" in outcomes),
        f"slopes at eps_c {', '.join(f'{eps:g}' for eps in at)}; {right.of('slopes')} agree with {stated:g}"
        f"{without(curves['local'], 'eps', at)}",
    )


def similar_gaps(case: Case) -> Verdict:
    """Compare the mean gap to RandomCheckin for gradients with the mean gap for the binary task."""
    means = reductions(case, ("gradient", "adult"), "amplified", "random_checkin").values()
    gradients, bits = (float(values.mean()) for values in means)
    return Verdict(
        f"{percent(gradients)} against {percent(bits)}",
        abs(gradients - bits) <= POINTS,
        f"mean reduction against RandomCheckin, gradients and binary task; {percent(abs(gradients - bits))} apart",
    )


def errors_fall(case: Case) -> Verdict:
    """Check that every method's error decreases with the budget and from panel to panel."""
    points, rising = Points(0, 0), []
    for experiment in COUNTED:
        for method in FALLING[experiment]:
            values = all_errors(case, experiment, method)
            for variable in ("panel", "eps"):
                steps = monotone(values, variable, rising=False)
                points += steps
                rising += [f"{method} by {variable} in {experiment}"] if steps.con else []
    return Verdict(
        f"falls in {points.pro} of {points.decided} steps",
        points,
        f"from one budget, rate or mean to the next{'; not ' + ', '.join(rising) if rising else ''}",
    )


def ordered(
    case: Case, lower: str, upper: str, experiments: Names = COUNTED, in_text: bool = False
) -> Verdict:
    """Check that ``lower`` never exceeds ``upper``, without ``in_text`` also at rates that the text does not list."""
    read = errors if in_text else all_errors
    return never_above(
        *([read(case, experiment, method) for experiment in experiments] for method in (lower, upper))
    )
