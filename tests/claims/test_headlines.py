"""The headline claims: verdicts on made-up results, on both sides of every threshold, and the table."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import made_up_results
import pytest

from shuffledp.claims.headlines import COLUMNS, HEADLINES, job, percent, table
from shuffledp.experiments.config.files import read_yaml
from shuffledp.figures.drawings import drawings_of
from shuffledp.figures.selection import load_settings
from shuffledp.storage import verified

ROOT = Path(__file__).resolve().parents[2]
EPS = [0.1, 0.5]
CLAIMS = {claim.paper: claim for claim in HEADLINES}
READ = {claim.paper: dict(claim.reads) for claim in HEADLINES}


def verdict(folder: Path, paper: str, methods: Any = None) -> dict[str, str]:
    rows = table(job(str(folder), {paper: methods or READ[paper]}, {"nothing"})).to_dict("records")
    assert len(rows) == 1
    return rows[0]


# -- the claims against the configuration -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def papers():
    return load_settings(read_yaml(ROOT / "config/config.yaml"), ROOT).papers


@pytest.mark.parametrize("claim", HEADLINES, ids=lambda claim: claim.id)
def test_a_claim_reads_methods_and_names_a_drawing_that_there_are(papers, claim):
    paper = papers[claim.paper]
    for experiment, methods in claim.reads.items():
        assert set(methods) <= set(paper.experiments[experiment].methods)
    assert claim.figure in {drawing.name for drawing in drawings_of(paper)}


def test_every_paper_has_one_headline(papers):
    assert sorted(CLAIMS) == sorted(key for key, paper in papers.items() if paper.kind == "paper")
    assert len(HEADLINES) == len(CLAIMS)


# -- random population ------------------------------------------------------------------------------------------------


def test_a_percentage_that_rounds_to_zero_has_no_sign():
    assert [percent(v) for v in (-1e-5, 1e-5, -0.012, 0.4874)] == ["0.0 %", "0.0 %", "-1.2 %", "48.7 %"]


def reductions(folder: Path, kept: Any) -> dict[str, str]:
    """LOCAL has error 1; AMPLIFIED has ``kept(accounting, panel, eps)``."""
    for experiment, panel in (("adult", "rate"), ("poisson_even", "others"), ("poisson_skewed", "others")):
        grid = {panel: [1, 2], "eps": EPS}
        made_up_results.write(folder, f"random_population.{experiment}.local", grid, lambda a, p: 1.0)
        made_up_results.write(
            folder,
            f"random_population.{experiment}.amplified",
            grid,
            lambda a, p, panel=panel: kept(a, p[panel], p["eps"]),
        )
    return verdict(folder, "random_population")


def test_a_reduction_counts_as_the_mean_of_each_panel(tmp_path):
    found = reductions(tmp_path, lambda a, panel, eps: 0.55 if eps == 0.1 else 0.15)
    assert found["verdict"] == "holds"
    assert found["printed"] == found["exact"] == "65.0 % to 65.0 %"


def test_a_panel_below_the_threshold_makes_it_hold_in_part_and_most_of_them_fail(tmp_path):
    one = reductions(tmp_path / "one", lambda a, panel, eps: 0.41 if panel == 1 else 0.2)
    assert (one["verdict"], one["printed"]) == ("in part", "59.0 % to 80.0 %")
    assert "in 3 of 6 panels" in one["why"]
    assert reductions(tmp_path / "all", lambda a, panel, eps: 0.5)["verdict"] == "fails"


def test_the_rate_that_the_text_does_not_list_decides_nothing(tmp_path):
    for method, value in (("local", 1.0), ("amplified", 0.2)):
        for experiment, panel, values in (
            ("adult", "rate", [0.01, 0.05]),
            ("poisson_even", "others", [1, 2]),
        ):
            made_up_results.write(
                tmp_path,
                f"random_population.{experiment}.{method}",
                {panel: values, "eps": EPS},
                lambda a, p, value=value: 1.0 if p.get("rate") == 0.01 else value,
            )
        made_up_results.write(
            tmp_path,
            f"random_population.poisson_skewed.{method}",
            {"others": [1], "eps": EPS},
            lambda a, p, v=value: v,
        )
    found = verdict(tmp_path, "random_population")
    assert (found["verdict"], found["printed"]) == ("holds", "80.0 % to 80.0 %")
    assert "in 4 of 4 panels" in found["why"]


def test_an_accounting_that_disagrees_makes_a_claim_hold_in_part(tmp_path):
    found = reductions(tmp_path, lambda a, panel, eps: 0.2 if a == "printed" else 0.9)
    assert found["verdict"] == "in part"
    assert found["why"].startswith("Holds with printed accounting: ")
    assert "Fails with exact accounting: " in found["why"]


# -- DUMP ------------------------------------------------------------------------------------------------------------


def errors(folder: Path, ours: Any, rival: Any) -> dict[str, str]:
    for experiment, methods in READ["dump"].items():
        for method in methods:
            which = ours if method == "pure_dump" else rival if method == "solh" else lambda a, p: 5.0
            made_up_results.write(folder, f"dump.{experiment}.{method}", {"eps": EPS}, which)
    return verdict(folder, "dump")


@pytest.mark.parametrize(
    ("rival", "outcome", "measured"),
    [
        (1.2, "holds", "lowest at 6 of 6 points"),
        (1.004, "in part", "lowest at 0 of 6 points, tied at 6"),
        (0.9, "fails", "lowest at 0 of 6 points, not lowest at 6"),
    ],
)
def test_the_lowest_error_is_below_the_best_rival_at_every_point(tmp_path, rival, outcome, measured):
    found = errors(tmp_path, lambda a, p: 1.0, lambda a, p: rival)
    assert (found["verdict"], found["printed"], found["exact"]) == (outcome, measured, measured)


def test_infeasible_rivals_are_no_rivals(tmp_path):
    found = errors(tmp_path, lambda a, p: 1.0, lambda a, p: None if p["eps"] == 0.1 else 0.5)
    assert found["printed"] == "lowest at 3 of 6 points, not lowest at 3"
    assert "0.5 to 5 times" in found["why"]


# -- summation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "outcome"),
    [
        (lambda n: 1 + 5e5 / n, "holds"),
        (lambda n: 1 + 5e6 / n, "in part"),
        (lambda n: 4.0, "fails"),
    ],
)
def test_a_single_message_is_fewer_than_one_extra_among_a_million_users(tmp_path, messages, outcome):
    grid = {"n": [10_000_000, 10_000, 1_000_000]}
    made_up_results.write(
        tmp_path,
        "summation.users.correlated_sum",
        grid,
        lambda a, p: 1.0,
        messages=lambda a, p: messages(p["n"]),
    )
    found = verdict(tmp_path, "summation")
    assert found["verdict"] == outcome
    assert found["printed"] == f"{messages(1e6):.3g} messages per user"


def test_without_a_million_users_it_is_untestable(tmp_path):
    made_up_results.write(
        tmp_path, "summation.users.correlated_sum", {"n": [10]}, lambda a, p: 1.0, messages=lambda a, p: 2.0
    )
    found = verdict(tmp_path, "summation")
    assert (found["verdict"], found["printed"]) == ("untestable", "-")
    assert "lacks n = 1,000,000" in found["why"]


# -- shuffle Gaussian --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clones", "outcome", "measured"),
    [
        (lambda rounds: 0.5 * rounds, "holds", "1.01 to 3.54 times tighter"),
        (lambda rounds: 0.0, "fails", "0 to 0 times tighter"),
    ],
)
def test_composition_is_judged_from_two_rounds_on(tmp_path, clones, outcome, measured):
    for experiment, (ours, theirs) in READ["shuffle_gaussian"].items():
        grid = {"rounds": [1, 2, 3, 7, 100]}
        made_up_results.write(
            tmp_path,
            f"shuffle_gaussian.{experiment}.{ours}",
            grid,
            lambda a, p: 0.99,
            accountings=["printed"],
        )
        made_up_results.write(
            tmp_path,
            f"shuffle_gaussian.{experiment}.{theirs}",
            grid,
            lambda a, p: clones(p["rounds"]),
            accountings=["printed"],
        )
    found = verdict(tmp_path, "shuffle_gaussian")
    assert found["verdict"] == outcome
    assert "of 3 numbers of rounds" in found["why"]
    assert found["printed"] == found["exact"] == measured


# -- segmented -------------------------------------------------------------------------------------------------------


def gains(folder: Path, ours: Any, *, shuffled: tuple[str, ...] = ("printed",)) -> dict[str, str]:
    for experiment, methods in READ["segmented"].items():
        grid: dict[str, Any] = {"n": [5, 50], "split": ["25-50-25", "50-25-25"]}
        for method in methods:
            which = made_up_results.ACCOUNTINGS if method != "subset_shuffled" else shuffled
            own = {**grid, "m": [0.1, 2.0, 10.0]} if method == "segmented" else grid
            value = ours if method == "segmented" else lambda a, p: 1.0
            made_up_results.write(folder, f"segmented.{experiment}.{method}", own, value, accountings=which)
    return verdict(folder, "segmented")


def test_a_gain_is_that_of_the_best_number_of_messages_at_the_first_split(tmp_path):
    found = gains(tmp_path, lambda a, p: 9.0 if p["split"] != "25-50-25" else 0.5 + abs(p["m"] - 2.0))
    assert (found["verdict"], found["printed"], found["exact"]) == ("holds", "50.0 %", "50.0 %")
    assert "in 4 panels" in found["why"]
    assert "shuffled subset mechanism: no result with exact accounting" in found["why"]


@pytest.mark.parametrize(
    ("left", "outcome"),
    [((0.4, 0.66), "holds"), ((0.2, 0.75), "in part"), ((0.9, 0.9), "in part"), ((1.1, 1.1), "fails")],
)
def test_a_gain_must_be_about_half_and_in_no_panel_small(tmp_path, left, outcome):
    found = gains(tmp_path, lambda a, p: left[p["n"] == 50])
    assert found["verdict"] == outcome


# -- the table -------------------------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_configured_paper_and_says_the_scale(tmp_path):
    methods = {paper: READ[paper] for paper in ("summation", "dump")} | {"another": {}}
    found = table(job(str(tmp_path), {p: {} for p in methods}, {"dump"}))
    assert list(found.columns) == list(COLUMNS)
    assert found["paper"].to_list() == ["dump", "summation"]
    assert found["scale"].to_list() == ["shortened", "paper"]
    assert set(found["verdict"]) == {"untestable"}
    assert "the configuration has no method" in found["why"][0]


def test_the_job_names_the_configured_methods_that_are_read_and_no_others():
    made = job("results", {"summation": {"users": ["correlated_sum", "mine"], "other": ["x"]}}, ())
    assert made["papers"] == {"summation": {"scale": "paper", "methods": {"users": ["correlated_sum"]}}}


def test_the_script_writes_the_table_with_its_checksum(tmp_path):
    spec = importlib.util.spec_from_file_location("headlines_script", ROOT / "workflow/scripts/headlines.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    output, checksum = tmp_path / "headlines.csv", tmp_path / "headlines.sha256"
    script.main(job(str(tmp_path), {}, ()), output, checksum)
    assert verified(output, checksum).read_text() == ",".join(COLUMNS) + "\n"
