"""Claims on random populations, on both sides of every threshold."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import made_up_results
import numpy as np
import pytest
from judged_claims import Verdicts, judged, outcomes

from shuffledp.accounting import local_budget
from shuffledp.claims.rules.random_population_errors import law_of, with_normal
from shuffledp.utility.reports import report_variance

EPS = [0.1, 0.5]
RATES, MEANS = [0.05, 0.5], [1000, 5000]
PANELS = {"adult": ("rate", RATES), "poisson_even": ("others", MEANS), "poisson_skewed": ("others", MEANS)}


def plant(folder: Path, **errors: Any) -> Path:
    """Errors of methods as functions of accounting, panel and eps, in all three experiments."""
    for experiment, (panel, values) in PANELS.items():
        for method, error in errors.items():
            made_up_results.write(
                folder,
                f"random_population.{experiment}.{method}",
                {panel: values, "eps": EPS},
                lambda a, p, error=error, panel=panel: error(a, p[panel], p["eps"]),
            )
    return folder


def local(*ignored: Any) -> float:
    return 1.0


# -- reductions --------------------------------------------------------------------------------------------------------


def reduced(folder: Path, kept: Any) -> Verdicts:
    return judged(plant(folder, local=local, amplified=kept), "RP-01")


def test_a_reduction_counts_as_the_mean_of_each_panel(tmp_path):
    found = reduced(tmp_path, lambda a, panel, eps: 0.55 if eps == 0.1 else 0.15)["printed", "-"]
    assert (found["verdict"], found["measured"]) == ("holds", "65.0 % to 65.0 %")


def test_a_panel_below_the_threshold_makes_it_hold_in_part_and_most_of_them_fail(tmp_path):
    one = reduced(tmp_path / "one", lambda a, panel, eps: 0.41 if panel in (0.05, 1000) else 0.2)
    assert (one["printed", "-"]["verdict"], one["printed", "-"]["measured"]) == (
        "in part",
        "59.0 % to 80.0 %",
    )
    assert "in 3 of 6 panels" in one["printed", "-"]["why"]
    every = reduced(tmp_path / "all", lambda a, panel, eps: 0.5)
    assert every["exact", "-"]["verdict"] == "fails"


def test_the_rate_that_the_text_does_not_list_decides_nothing_and_needs_the_others(tmp_path):
    for rates, said in (([0.01, 0.5], "in 1 of 1 panels"), ([0.01], "needs the papers' grid")):
        folder = tmp_path / str(len(rates))
        for method, value in (("local", 1.0), ("amplified", 0.2)):
            made_up_results.write(
                folder,
                f"random_population.adult.{method}",
                {"rate": rates, "eps": EPS},
                lambda a, p, value=value: 1.0 if p["rate"] == 0.01 else value,
            )
        found = judged(folder, "RP-20")["printed", "-"]
        assert said.replace("in 1 of 1 panels", "80.0 %") in found["why"]


def test_accountings_that_disagree_make_a_claim_hold_in_part(tmp_path):
    found = reduced(tmp_path, lambda a, panel, eps: 0.2 if a == "printed" else 0.9)
    assert [row["verdict"] for row in found.values()][:2] == ["holds", "fails"]
    assert {row["overall"] for row in found.values()} == {"in part"}


@pytest.mark.parametrize(("kept", "outcome"), [(0.3, "holds"), (0.1, "in part"), (1.1, "fails")])
def test_a_mean_reduction_is_about_the_stated_one(tmp_path, kept, outcome):
    plant(tmp_path, local=local, amplified=lambda a, panel, eps: kept)
    found = outcomes(tmp_path, "RP-20")
    assert (found["printed"], found["exact"]) == (outcome, outcome)


def test_a_reduction_that_shrinks_with_the_panel_does_not_grow(tmp_path):
    for name, sign in (("up", 1), ("down", -1)):
        plant(
            tmp_path / name,
            local=local,
            amplified=lambda a, panel, eps, s=sign: 0.5 - 0.1 * s * (panel in (0.5, 5000)),
        )
    assert outcomes(tmp_path / "up", "RP-21")["printed"] == "holds"
    assert outcomes(tmp_path / "down", "RP-21")["printed"] == "fails"


def test_amplified_above_local_anywhere_breaks_the_ordering(tmp_path):
    plant(tmp_path, local=local, amplified=lambda a, panel, eps: 1.1 if (a, eps) == ("exact", 0.1) else 0.5)
    found = outcomes(tmp_path, "O-01")
    assert (found["printed"], found["exact"]) == ("holds", "in part")


# -- targets -----------------------------------------------------------------------------------------------------------


def test_a_normal_error_beside_laplace_noise_has_the_mean_absolute_value_of_their_sum():
    rng = np.random.default_rng(5)
    scale, deviation, count = 0.3, 0.2, 200_000
    both = np.abs(rng.laplace(0, scale, count) + rng.normal(0, deviation, count))
    error = 5 * float(both.std()) / math.sqrt(count)
    assert with_normal(2 * scale, deviation, laplace=True) / 2 == pytest.approx(float(both.mean()), abs=error)
    assert with_normal(2 * scale, 0.0, laplace=True) == pytest.approx(2 * scale)
    normal = 2 * math.sqrt(2 / math.pi)
    assert with_normal(3 * normal, 4.0, laplace=False) == pytest.approx(5 * normal)


def test_against_the_population_a_noiseless_method_errs_by_who_takes_part(tmp_path):
    plant(
        tmp_path,
        **dict.fromkeys(("amplified", "non_adaptive", "adaptive"), lambda a, panel, eps: 0.1),
        multi_union=lambda a, panel, eps: 1e-9,
        multi_expected=lambda a, panel, eps: 1e-9,
        random_checkin=lambda a, panel, eps: 1.0,
    )
    found = judged(tmp_path, "RP-02")
    assert "MULTI-UNION 100.0 %" in found["printed", "participants"]["measured"]
    against = found["printed", "population"]["measured"]
    # 2 sqrt(2 / pi) sqrt(p (1 - p) / n) is 0.0148 at rate 0.05 and 0.0034 at 0.5, drawn without replacement
    assert "MULTI-UNION 99.1 %" in against
    assert {row["verdict"] for (a, _), row in found.items() if a == "simplified"} == {"untestable"}


# -- simplified accounting ---------------------------------------------------------------------------------------------


def test_the_simplified_error_is_the_printed_one_times_the_ratio_of_noise(tmp_path):
    law = law_of("adult", 0.05)
    printed, simplified = (local_budget(law, 0.1, 1e-5, accounting=a) for a in ("printed", "simplified"))
    made_up_results.write(
        tmp_path, "random_population.adult.local", {"rate": [0.05], "eps": [0.1]}, local_error
    )
    made_up_results.write(
        tmp_path,
        "random_population.adult.amplified",
        {"rate": [0.05], "eps": [0.1]},
        lambda a, p: 0.25,
        budget=lambda a, p: printed,
    )
    found = judged(tmp_path, "RP-20")["simplified", "-"]
    kept = 0.25 * math.sqrt(report_variance(simplified) / report_variance(printed))
    assert found["measured"] == f"{100 * (1 - kept):.1f} %"


def local_error(*ignored: Any) -> float:
    return 1.0


# -- by the accounting alone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "outcome", "measured"),
    [
        ("RP-03", "holds", "at most 1 (printed)"),
        ("RP-04", "holds", "8.2e-05 at variance 8700"),
        ("RP-05", "holds", "from a mean of 300 others on"),
        ("RP-08", "holds", "times the promised one"),
        ("RP-09", "in part", "follows from 13.9 log(4/delta)"),
        ("RP-10", "fails", "0.001595, where it says 0.0004988"),
        ("RP-14", "fails", "no amplification at any variance"),
    ],
)
def test_claims_on_bounds_have_the_known_outcomes(tmp_path, key, outcome, measured):
    row = next(iter(judged(tmp_path, key).values()))
    assert row["verdict"] == outcome
    assert measured in row["measured"]
