"""Claims of Wang et al. 2023 on the errors of single-message protocols, which result tables decide.

Errors are expected total variation errors. No table has ``simplified`` accounting. Under this accounting the error of
AMPLIFIED is the error of the table times the ratio of the noise at the two local budgets, exactly, as only the noise
differs.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.accounting.random_population.report_errors import inverse_moments, report_variance
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.general_rules import monotone, never_above_best
from shuffledp.pipeline.claims.outcomes import (
    TIE,
    ByPoint,
    Names,
    Outcome,
    Untestable,
    Verdict,
    about,
    compared,
    exponent,
    percent,
    percents,
    scaling,
    span,
    tally,
)
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.papers.random_population.settings import ADULT_FEMALE, DELTA, dummies_error
from shuffledp.populations.base import Law
from shuffledp.populations.laws import Binomial, Poisson

claim = catalogue("random_population")

PANEL = {"adult": "rate", "gradient": "rate", "poisson_even": "others", "poisson_skewed": "others"}
"""Grid variable that distinguishes the panels of an experiment."""
WORDS = {
    **dict.fromkeys(("adult", "gradient"), "participation rate"),
    **dict.fromkeys(("poisson_even", "poisson_skewed"), "mean number of others"),
}
COUNTED = ("adult", "poisson_even", "poisson_skewed")
"""Experiments on the binary task."""
RATE_APART = 0.01
"""Rate in the captions and figures, but not in the list of the text, to which the claims belong."""
ADULT_USERS, IMAGES = 48_842, 60_000
VARIANCE = {
    "adult": ADULT_FEMALE * (1 - ADULT_FEMALE),
    "poisson_even": 0.55 * 0.45,
    "poisson_skewed": 0.1 * 0.9,
}
"""Variance of one user's bit, by experiment."""
SINGLE = ("local", "amplified", "non_adaptive", "adaptive")
RATES = (0.05, 0.1, 0.2, 0.5)
"""Participation rates that the text lists."""
FALLING = {
    "adult": (*SINGLE, "random_checkin", "multi_union", "multi_expected"),
    "poisson_even": (*SINGLE, "multi_union", "multi_expected"),
    "poisson_skewed": SINGLE,
}
"""Methods by experiment."""
LAPLACE_NOISE = ("multi_union",)
"""Methods whose noise is two-sided geometric rather than close to normal."""


def law_of(experiment: str, panel: float) -> Law:
    """Return the law of the number of other users in a panel."""
    if experiment == "adult":
        return Binomial(ADULT_USERS - 1, panel)
    if experiment == "gradient":
        return Binomial(IMAGES - 1, panel)
    return Poisson(float(panel))


def by_panel(values: ByPoint, experiment: str) -> ByPoint:
    """Return the values indexed by ``panel`` and ``eps``."""
    level = PANEL[experiment]
    index = pd.MultiIndex.from_arrays(
        [values.index.get_level_values(name) for name in (level, "eps")], names=["panel", "eps"]
    )
    return pd.Series(values.to_numpy(), index).sort_index()


def all_errors(case: Case, experiment: str, method: str) -> ByPoint:
    """Return a method's expected errors by eps in all panels, for the target of the case."""
    values = _noise(case, experiment, method)
    return values if case.target != "population" else _with_sampling(values, experiment, method)


def errors(case: Case, experiment: str, method: str) -> ByPoint:
    """Return a method's expected errors by panel and eps, at the participation rates in the text."""
    values = all_errors(case, experiment, method)
    if PANEL[experiment] == "rate":
        values = values.drop(RATE_APART, level="panel", errors="ignore")
    if values.empty:
        raise Untestable(
            f"needs the papers' grid: the run has no participation rate of the text in {experiment}"
        )
    return values


def _noise(case: Case, experiment: str, method: str) -> ByPoint:
    if case.accounting != "simplified":
        return by_panel(case.closed_forms(experiment, method), experiment)
    table = case.under("printed")
    if method == "local":
        return by_panel(table.closed_forms(experiment, method), experiment)
    if method not in ("amplified", "non_adaptive", "adaptive") or experiment == "gradient":
        raise Untestable(f"there is no simplified form of {method} in {experiment}")
    values = by_panel(table.closed_forms(experiment, "amplified"), experiment)
    both = zip(budgets(case, experiment), budgets(table, experiment), strict=True)
    factors = [math.sqrt(report_variance(ours) / report_variance(printed)) for ours, printed in both]
    if method != "amplified":
        adaptive = method == "adaptive"
        factors = [
            factor * dummies_error(law_of(experiment, panel), eps, "simplified", adaptive=adaptive)
            for factor, (panel, eps) in zip(factors, values.index, strict=True)
        ]
    return pd.Series(values.to_numpy() * np.array(factors), values.index)


def budgets(case: Case, experiment: str, method: str = "amplified") -> ByPoint:
    """Return a method's local budgets A (nats) by eps in all panels."""
    simplified = case.accounting == "simplified"
    found = (case.under("printed") if simplified else case).cells(experiment, method)["eps_local"]
    if found.isna().any():
        raise Untestable(f"the table of {experiment} has no local budgets")
    known = by_panel(found, experiment)
    if not simplified:
        return known
    if method != "amplified":
        raise Untestable(f"there is no simplified form of {method} in {experiment}")
    ours = [
        local_budget(law_of(experiment, panel), eps, DELTA, accounting="simplified")
        for panel, eps in known.index
    ]
    return pd.Series(ours, known.index)


def _with_sampling(values: ByPoint, experiment: str, method: str) -> ByPoint:
    """Return errors against the population's frequencies, from which the participants' frequencies deviate.

    Both parts are taken as normal, or the noise as Laplace if it is two-sided geometric. The result is within 1 % of
    the expectation, as the number of participants hardly varies.
    """
    found = []
    panels = values.index.get_level_values("panel")
    for panel, error in zip(panels, values, strict=True):
        law = law_of(experiment, panel)
        spread = VARIANCE[experiment] * inverse_moments(law)[0]
        if experiment == "adult":  # drawn without replacement
            spread *= (ADULT_USERS - law.mean - 1) / (ADULT_USERS - 1)
        found.append(with_normal(error, math.sqrt(spread), laplace=method in LAPLACE_NOISE))
    return pd.Series(found, index=values.index)


def with_normal(error: float, deviation: float, *, laplace: bool) -> float:
    """Return the expected l1 distance for two values if an independent normal error is added to one frequency."""
    from scipy.special import erfcx

    normal = 2 * math.sqrt(2 / math.pi) * deviation
    if not laplace:
        return math.hypot(error, normal)
    return normal + error * float(erfcx(deviation / (error / 2 * math.sqrt(2))))


# -- reductions ----------------------------------------------------------------------------------------------------


def reductions(case: Case, experiments: Names, of: str, against: str) -> ByPoint:
    """Return the mean of 1 - X/Y over the eps grid, by experiment and panel."""
    found = {}
    for experiment in experiments:
        ratio = (errors(case, experiment, of) / errors(case, experiment, against)).dropna()
        found[experiment] = (1 - ratio).groupby(level="panel").mean()
    return pd.concat(found)


@claim("RP-01")
def more_than(case: Case) -> Verdict:
    """Check in every panel that the mean reduction exceeds the stated fraction."""
    stated = 0.6
    means = reductions(case, COUNTED, "amplified", "local")
    above = tally(means > stated)
    apart = [
        f"; the panel of {WORDS[experiment]} {panel:g} of {experiment}, which the text does not list, is left out: "
        f"{percent(mean)}"
        for (experiment, panel), mean in _apart(case).items()
    ]
    return Verdict(
        f"{percent(means.min())} to {percent(means.max())}",
        above,
        f"the mean over the grid of eps is above {100 * stated:.0f} % in {above.for_it} of the {len(means)} panels "
        f"that the text lists{''.join(apart)}",
    )


def _apart(case: Case) -> dict[tuple[str, float], float]:
    """Return the mean reductions in panels that figures show but the text does not list."""
    found: dict[tuple[str, float], float] = {}
    for experiment in COUNTED:
        if PANEL[experiment] == "rate":
            ratio = all_errors(case, experiment, "amplified") / all_errors(case, experiment, "local")
            kept = ratio[ratio.index.get_level_values("panel") == RATE_APART].dropna()
            found |= {(experiment, RATE_APART): float(1 - kept.mean())} if len(kept) else {}
    return found


@claim("RP-20", experiments=["adult"], against="local", stated=0.7)
@claim("RP-26", experiments=["poisson_even", "poisson_skewed"], against="local", stated=0.6)
@claim("RP-47", experiments=["gradient"], against="random_checkin", stated=0.4)
def mean_reduction(case: Case, experiments: Names, against: str, stated: float) -> Verdict:
    """Check that the mean reduction over all panels is about the stated fraction."""
    means = reductions(case, experiments, "amplified", against)
    mean = float(means.mean())
    return Verdict(
        percent(mean), about(mean, stated), f"by panel {percents(means)}, each a mean over the grid of eps"
    )


@claim("RP-21", experiments=["adult"])
@claim("RP-27", experiments=["poisson_even", "poisson_skewed"])
def growing_reduction(case: Case, experiments: Names) -> Verdict:
    """Check that each panel's mean reduction is larger than in the panel with fewer participants."""
    steps, listed = [], []
    for experiment in experiments:
        means = reductions(case, [experiment], "amplified", "local")
        steps += list(np.diff(means.to_numpy()))
        listed.append(percents(means))
    if not steps:
        raise Untestable("needs the papers' grid: one panel shows no growth")
    up = tally(step > 0 for step in steps)
    return Verdict("; ".join(listed), up, f"the reduction grows in {up} steps from one panel to the next")


@claim("RP-02")
def against_naive(case: Case) -> Verdict:
    """Compare the best single-message proposal and both multi-message proposals with RandomCheckin on Adult."""
    stated = 0.6
    checkin = errors(case, "adult", "random_checkin")
    single = pd.concat(
        [errors(case, "adult", m) for m in ("amplified", "non_adaptive", "adaptive")], axis=1
    ).min(axis=1)
    multi = {
        name: errors(case, "adult", m)
        for name, m in (("MULTI-UNION", "multi_union"), ("MULTI-EXPECTED", "multi_expected"))
    }
    means = {
        name: float((1 - values / checkin).mean())
        for name, values in {"single message": single, **multi}.items()
    }
    above = tally(mean > stated for mean in means.values())
    return Verdict(
        ", ".join(f"{name} {percent(mean)}" for name, mean in means.items()),
        above,
        f"{above} reductions are above {100 * stated:.0f} %, as means over the grid of eps and the "
        "panels of Adult",
    )


# -- RandomCheckin and the shape of curves -------------------------------------------------------------------------


@claim("RP-22")
def checkin_amplifies(case: Case) -> Verdict:
    """Count the points on Adult where RandomCheckin has a larger local budget than AMPLIFIED."""
    ours, theirs = budgets(case, "adult"), budgets(case, "adult", "random_checkin")
    both = pd.DataFrame({"ours": ours, "theirs": theirs}).dropna()
    less, more, ties = compared(both["ours"], both["theirs"])
    by_rate = (both["theirs"] > both["ours"] * (1 + TIE)).groupby(level="panel").sum()
    return Verdict(
        f"larger at {less} of {len(both)} points, {span(both['theirs'] / both['ours'])} times",
        (less, more),
        f"A(RandomCheckin) over A(AMPLIFIED): larger at {', '.join(str(int(n)) for n in by_rate)} of the budgets, by "
        f"participation rate; tied at {ties}",
    )


@claim("RP-23")
def away_from_checkin(case: Case) -> Verdict:
    """Judge the difference of the errors of RandomCheckin and AMPLIFIED on Adult, relative to either error."""
    low, high = 0.4, 0.6
    ours, theirs = (errors(case, "adult", m) for m in ("amplified", "random_checkin"))
    below = (1 - ours / theirs).groupby(level="panel").mean()
    saved, more = float(below.mean()), float((theirs / ours - 1).groupby(level="panel").mean().mean())
    inside = any(low <= value <= high for value in (saved, more))
    return Verdict(
        f"AMPLIFIED {percent(saved)} below, RandomCheckin {percent(more)} above",
        "holds" if inside else "in part" if saved > 0 else "fails",
        f"means over the grid of eps and the panels; by panel {percents(below)} below; either may lie in "
        f"{100 * low:.0f} to {100 * high:.0f} %",
    )


@claim("RP-24")
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


@claim("RP-25")
def in_proportion(case: Case) -> Verdict:
    """Judge the slope of log error against log mean population, for several methods and budgets."""
    stated = -1
    at = (0.001, 0.1, 0.5)
    slopes: dict[str, list[float]] = {}
    for method in ("local", "amplified", "multi_union", "multi_expected"):
        values = errors(case, "poisson_even", method)
        for eps in at:
            if eps in values.index.get_level_values("eps"):
                curve = values.xs(eps, level="eps")
                if len(curve) < 2:
                    raise Untestable("needs the papers' grid: two means at least")
                slopes.setdefault(method, []).append(scaling(curve.index, curve))
    if not slopes:
        raise Untestable("needs the papers' grid: none of the budgets is in the run")
    found = [exponent(slope, stated) for of in slopes.values() for slope in of]
    right = found.count("holds")
    outcome: Outcome = (
        "holds" if right == len(found) else "in part" if right or "in part" in found else "fails"
    )
    return Verdict(
        ", ".join(f"{method} {span(of)}" for method, of in slopes.items()),
        outcome,
        f"slopes at eps_c {', '.join(f'{eps:g}' for eps in at)}; {right} of {len(found)} agree with {stated:g}",
    )


@claim("RP-48")
def similar_gaps(case: Case) -> Verdict:
    """Compare the mean gap to RandomCheckin for gradients with the mean gap for the binary task."""
    gradients = float(reductions(case, ["gradient"], "amplified", "random_checkin").mean())
    bits = float(reductions(case, ["adult"], "amplified", "random_checkin").mean())
    return Verdict(
        f"{percent(gradients)} against {percent(bits)}",
        abs(gradients - bits) <= 0.05,
        f"mean reduction against RandomCheckin, gradients and binary task; {percent(abs(gradients - bits))} apart",
    )


@claim("O-08")
def errors_fall(case: Case) -> Verdict:
    """Check that every method's error decreases with the budget and from panel to panel."""
    right = wrong = 0
    which = []
    for experiment in COUNTED:
        for method in FALLING[experiment]:
            values = all_errors(case, experiment, method)
            for level in ("panel", "eps"):
                fell, rose = monotone(values, level, rising=False)
                right, wrong = right + fell, wrong + rose
                which += [f"{method} by {level} in {experiment}"] if rose else []
    return Verdict(
        f"falls in {right} of {right + wrong} steps",
        (right, wrong),
        f"from one budget, rate or mean to the next{'; not ' + ', '.join(which) if which else ''}",
    )


@claim("O-01", experiments=COUNTED, lower="amplified", upper=["local"])
@claim("O-02", experiments=COUNTED, lower="non_adaptive", upper=["amplified"])
@claim("O-05", experiments=["adult", "poisson_even"], lower="multi_union", upper=["amplified"])
@claim("O-06", experiments=["adult", "poisson_even"], lower="multi_expected", upper=["amplified"])
@claim("O-07", experiments=["adult", "poisson_even"], lower="multi_expected", upper=["multi_union"])
def ordered(case: Case, experiments: Names, lower: str, upper: Names) -> Verdict:
    """Check that ``lower`` never exceeds the best of ``upper``, also at participation rates not in the text."""
    return never_above_best(case, all_errors, experiments, lower, upper)


@claim("O-04")
def ordered_in_text(case: Case) -> Verdict:
    """Check that ``lower`` never exceeds the best of ``upper`` at the points that the paper lists."""
    return never_above_best(case, errors, ("adult",), "amplified", ("random_checkin",))
