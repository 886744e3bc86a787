"""Claims on random populations, on both sides of every threshold."""

import math

import numpy as np
import pytest
from judged_claims import judged, outcomes

from shuffledp.accounting import local_budget
from shuffledp.accounting.random_population.report_errors import report_variance
from shuffledp.pipeline.formatters import percent
from shuffledp.pipeline.papers.random_population.error_claims import PANEL, law_of, with_normal

EPS = [0.1, 0.5]
VALUES = {"rate": [0.05, 0.5], "others": [1000, 5000]}
ALL = {
    "local": 8.0,
    "amplified": 4.0,
    "non_adaptive": 3.9,
    "adaptive": 3.95,
    "random_checkin": 8.0,
    "multi_union": 1.0,
    "multi_expected": 2.0,
}


def planted(**changes):
    """Set the errors of all methods, constants or functions of accounting, panel and eps."""
    found = {}
    for experiment, panel in PANEL.items():
        cells = {
            method: (lambda a, p, e=error, panel=panel: e(a, p[panel], p["eps"]))
            if callable(error)
            else error
            for method, error in {**ALL, **changes}.items()
        }
        found[experiment] = ({panel: VALUES[panel], "eps": EPS}, cells)
    return found


# -- reductions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kept, verdict, measured, said",
    [
        (lambda panel, eps: 0.55 if eps == 0.1 else 0.15, "holds", "65 % to 65 %", "in all 6 panels"),
        (lambda panel, eps: 0.41 if panel in (0.05, 1000) else 0.2, "in part", "59 % to 80 %", "in 3 of 6 panels"),
        (lambda panel, eps: 0.5, "fails", "50 % to 50 %", "in none of 6 panels"),
    ],
)  # fmt: skip
def test_panels_below_threshold_change_the_verdict(kept, verdict, measured, said):
    """The reduction is the mean of each panel; most of the panels make the claim fail."""
    found = judged(planted(local=1.0, amplified=lambda a, panel, eps: kept(panel, eps)), "RP-01")
    row = found["printed", "-"]
    assert (row["verdict"], row["measured"]) == (verdict, measured)
    assert f"{said} that the text lists" in row["why"]


def test_unlisted_rate_is_named_only():
    def only(rates, kept):
        cells = {"local": 1.0, "amplified": lambda a, p: kept if p["rate"] == 0.01 else 0.2}
        return {"adult": ({"rate": rates, "eps": EPS}, cells)}

    every = planted(local=1.0, amplified=0.2) | only([0.01, 0.5], 0.45)
    left_out = (
        "the panel of participation rate 0.01 of adult, which the text does not list, is left out: 55 %"
    )
    assert left_out in judged(every, "RP-01")["printed", "-"]["why"]
    for rates, said in (([0.01, 0.5], "80 %"), ([0.01], "needs the papers' grid")):
        assert said in judged(only(rates, 1.0), "RP-20")["printed", "-"]["why"]


def test_amplified_above_local_breaks_ordering():
    kept = planted(local=1.0, amplified=lambda a, panel, eps: 1.1 if (a, eps) == ("exact", 0.1) else 0.5)
    found = outcomes(kept, "O-01")
    assert (found["printed"], found["exact"]) == ("holds", "in part")


# -- targets -----------------------------------------------------------------------------------------------------------


def test_normal_and_laplace_errors_add_up():
    """The error is the mean absolute value of the sum of both noises."""
    rng = np.random.default_rng(5)
    scale, deviation, count = 0.3, 0.2, 200_000
    both = np.abs(rng.laplace(0, scale, count) + rng.normal(0, deviation, count))
    error = 5 * float(both.std()) / math.sqrt(count)
    assert with_normal(2 * scale, deviation, laplace=True) / 2 == pytest.approx(float(both.mean()), abs=error)
    assert with_normal(2 * scale, 0.0, laplace=True) == pytest.approx(2 * scale)
    normal = 2 * math.sqrt(2 / math.pi)
    assert with_normal(3 * normal, 4.0, laplace=False) == pytest.approx(5 * normal)


def test_noiseless_population_error_is_sampling():
    single = dict.fromkeys(("amplified", "non_adaptive", "adaptive"), 0.1)
    found = judged(
        planted(**single, multi_union=1e-9, multi_expected=1e-9, random_checkin=1.0),
        "RP-02",
    )
    assert "MULTI-UNION 100 %" in found["printed", "participants"]["measured"]
    # 2 sqrt(2 / pi) sqrt(p (1 - p) / n) is 0.0148 at rate 0.05 and 0.0034 at 0.5, drawn without replacement
    assert "MULTI-UNION 99.1 %" in found["printed", "population"]["measured"]
    assert {row["verdict"] for (a, _), row in found.items() if a == "simplified"} == {"untestable"}


# -- simplified accounting ---------------------------------------------------------------------------------------------


def test_simplified_error_scales_with_noise():
    law = law_of("adult", 0.05)
    printed, simplified = (local_budget(law, 0.1, 1e-5, accounting=a) for a in ("printed", "simplified"))
    cells = {"local": 1.0, "amplified": {"expected": 0.25, "eps_local": printed}}
    found = judged({"adult": ({"rate": [0.05], "eps": [0.1]}, cells)}, "RP-20")["simplified", "-"]
    kept = 0.25 * math.sqrt(report_variance(simplified) / report_variance(printed))
    assert found["measured"] == percent(1 - kept)


# -- curves ------------------------------------------------------------------------------------------------------------


def falling(step):
    """Return errors that decrease with eps, and with the panel unless the step is negative."""
    return lambda a, panel, eps: 4.0 - eps - step * (panel in (0.5, 5000))


def early(at_first, later):
    """Return one error at the first eps and another at the second."""
    return lambda a, panel, eps: at_first if eps == 0.1 else later


def budgets(of, checkin):
    """Return local budgets of all methods over eps as a function of the panel; RandomCheckin has more."""
    own = dict.fromkeys(ALL, 0) | {"random_checkin": checkin}
    return {
        method: lambda a, panel, eps, more=more: {"expected": 1.0, "eps_local": eps * (of(panel) + more)}
        for method, more in own.items()
    }


def shares(most):
    """Return the shares of the protocols with several messages; MULTI-UNION has 30."""
    return {
        f"multi_{name}": {"expected": 1.0, "parameters": f'{{"shares": {number}}}'}
        for name, number in (("union", 30), ("expected", most))
    }


MORE = budgets(lambda panel: 2 + panel, 1)
LESS = budgets(lambda panel: 2 - 0.5 * (panel in (0.5, 5000)), -1)
FALL = dict.fromkeys(ALL, falling(1.0))
INVERSE = dict.fromkeys(ALL, lambda a, panel, eps: 1 / panel)


@pytest.mark.parametrize(
    "key, right, wrong, instead",
    [
        ("RP-11", MORE, LESS, "fails"),
        ("RP-12", MORE, LESS, "fails"),
        ("RP-21", {"amplified": falling(1.0)}, {"amplified": falling(-1.0)}, "fails"),
        ("RP-22", MORE, LESS, "fails"),
        ("RP-23", {}, {"random_checkin": 4.5}, "in part"),
        ("RP-23", {"random_checkin": 6.0}, {"random_checkin": 3.0}, "fails"),
        ("RP-25", INVERSE, {**INVERSE, "local": lambda a, panel, eps: panel**-0.5}, "in part"),
        ("RP-26", {"amplified": 3.2}, {"amplified": 1.0}, "in part"),
        ("RP-31", {}, {"adaptive": 3.0}, "fails"),
        ("RP-32", {}, {"adaptive": 3.0}, "fails"),
        ("RP-34", {"multi_union": 0.4, "multi_expected": 2.8}, {"multi_expected": 4.0}, "in part"),
        ("RP-35", {"multi_union": 1.0, "multi_expected": 0.6}, {"multi_expected": 3.0}, "fails"),
        ("RP-36", {"multi_expected": early(2.0, 1.5)}, {"multi_expected": early(2.0, 3.0)}, "fails"),
        ("RP-45", {}, {"multi_expected": early(5.0, 1.0)}, "in part"),
        ("RP-46", shares(50), shares(110), "in part"),
        ("RP-48", {}, {"amplified": early(4.0, 2.0)}, "holds"),
        ("O-02", {}, {"non_adaptive": 4.1}, "fails"),
        ("O-03", {}, {"adaptive": 3.0}, "fails"),
        ("O-04", {}, {"random_checkin": early(3.9, 8.0)}, "in part"),
        ("O-08", FALL, {**FALL, "adaptive": falling(-1.0)}, "in part"),
    ],
)
def test_curve_claims_follow_the_table(key, right, wrong, instead):
    assert outcomes(planted(**right), key)["printed"] == "holds"
    assert outcomes(planted(**wrong), key)["printed"] == instead


def test_rising_error_is_named():
    found = judged(planted(**{**FALL, "adaptive": falling(-1.0)}), "O-08")["printed", "-"]
    assert "not adaptive by panel in adult" in found["why"]


def test_gain_of_dummies_is_at_point():
    at = {"amplified": 1.0, "non_adaptive": lambda a, p: 0.88 if p["eps"] == 0.001 else 1.0}

    def of(non_adaptive=at["non_adaptive"], rates=(0.05, 0.5), eps=(0.001, 0.5)):
        return {"adult": ({"rate": rates, "eps": eps}, {**at, "non_adaptive": non_adaptive})}

    assert judged(of(), "RP-28")["printed", "-"]["measured"] == "12 %"
    found = judged(of(rates=(0.5,), eps=(0.001,)), "RP-28")["printed", "-"]
    assert (found["verdict"], "needs the papers' grid" in found["why"]) == ("untestable", True)
    assert outcomes(of(), "RP-29")["printed"] == "holds"
    for growing in (lambda a, p: 1 - 0.3 * p["rate"] * p["eps"], 1.0):
        assert outcomes(of(growing), "RP-29")["exact"] == "fails"
    means = {"others": [1000, 5000], "eps": [0.001, 0.5]}
    panel = judged({"poisson_even": (means, at)}, "RP-30")["printed", "-"]
    assert (panel["verdict"], panel["measured"]) == ("holds", "6 %")


# -- figures 2 and 3 ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("late, outcome", [(0.3, "holds"), (0.01, "fails")])
def test_central_budget_grows_with_variance(late, outcome):
    values = {0: 0.05, 2000: late, 9000: 0.5}
    grid = {"delta": [1e-3], "variance": list(values)}
    planted = {"variance": (grid, {"amplified": lambda a, p: values[p["variance"]]})}
    assert outcomes(planted, "RP-13")["printed"] == outcome


@pytest.mark.parametrize("least, outcome", [(0.8, "holds"), (0.9, "in part"), (1.0, "fails")])
def test_best_dummies_are_in_the_table(least, outcome):
    def cell(accounting, point):
        return {
            "expected": {0: 1.0, 500: least, 1000: 1.2}[point["k"]],
            "eps_local": 0.2 + point["k"] / 1e4,
        }

    planted = {"dummies": ({"k": [0, 500, 1000]}, {"non_adaptive": cell})}
    found = outcomes(planted, "RP-17")
    assert (found["exact"], found["simplified"]) == (outcome, "fails")
    assert outcomes(planted, "RP-16") == dict.fromkeys(("printed", "exact", "simplified"), "holds")
