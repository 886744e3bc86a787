"""The ranking of protocols, and the pictures over all papers."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

from scripts_by_file import ROOT
from shuffledp.pipeline.figures import (
    best_protocols,
    captions,
    overall,
    overall_jobs,
    privacy_profiles,
    ranking,
)
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.pipeline.manifest import read
from shuffledp.pipeline.site.caption_html import DETAILS
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.storage import publish
from shuffledp.tasks import Budget, Frequency

from demo_paper import CONFIG, compute  # isort: skip

PAPER = """\
study: {title: "Ranked", citation: "our own"}
experiments:
  counts:
    source: "our own"
    ranked: {task: "histogram", where: {share: 0.1}}
    task: {kind: frequency, domain_size: $values, truth: participants, metrics: [mse]}
    data: {name: heavy, share: $share, records: 10000}
    population: {users: 10000}
    budget: {eps: $eps, delta: 1.0e-6}
    grid: {values: [10, 20], eps: [0.5, 1.0], share: [0.1, 0.2]}
    simulated_at: {values: [10], eps: [1.0]}
    spent_at: {values: [10], eps: [1.0], share: [0.1]}
    profile_at: {values: [10], eps: [1.0], share: [0.1]}
    accounting: [printed, exact]
    repeats: 2
    methods:
      pure_dump: {}
      grr_blanket: {}
      central_laplace: {accounting: [exact]}
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return the settings, the job and its files."""
    root = tmp_path_factory.mktemp("ranked")
    (root / "config/experiments").mkdir(parents=True)
    (root / "config/experiments/demo.yaml").write_text(PAPER)
    settings = load_settings(CONFIG | {"results": str(root / "results"), "formats": ["png"]}, root)
    experiment = settings.papers["demo"].experiments["counts"]
    for method in experiment.methods:
        compute(root, experiment, method)
    claims = root / "results/claims/claims.csv"
    judged = (
        "A-1,claim,demo,holds",
        "A-1,claim,demo,holds",
        "A-2,claim,demo,fails",
        "O-1,ordering,demo,holds",
    )
    rows = "\n".join(["id,kind,paper,overall", *judged, ""])
    publish(claims.with_suffix(".sha256"), {claims: rows.encode()})
    job = overall_jobs.overall_job(settings, ROOT)
    overall.publish_overall(job)
    return settings, job, root / "results/figures/overall"


def table_of(drawn, name):
    return pd.read_csv(drawn[2] / f"{name}.csv")


def test_protocols_are_ranked_by_exact_error(drawn):
    table = table_of(drawn, "ranking")
    assert len(table) == 2 * 2 * 3 and set(table["task"]) == {"histogram"}
    assert (table.loc[:2, "eps"] == 1.0).all()  # with equally many protocols the usual setting is the first
    first = table.iloc[:3]
    assert list(first["trust"]) == ["shuffler permutes", "shuffler permutes", "curator"] and list(
        first["rank"]
    ) == [1, 2, 1]
    assert first["error"].iloc[0] < first["error"].iloc[1]
    assert first["over_curator"].to_list() == pytest.approx(
        (first["error"] / first["error"].iloc[2]).to_list()
    )
    assert (
        set(first["accounting"]) == {"exact"} and (first["printed"].iloc[:2] > first["error"].iloc[:2]).all()
    )
    assert set(json.loads(first["parameters"].iloc[0]))
    assert ranking.select_setting(table, ranking.first_setting(table)).equals(first)
    assert best_protocols.best_protocols(table).empty  # a map needs several numbers of users


def test_infeasible_or_doubtful_has_no_rank():
    rows = pd.DataFrame(
        {
            "label": ["a", "b", "c", "d"],
            "protocol": ["jump_counts", "correlated_noise", "pure_dump", "mix_dump"],
            "trust": "shuffler",
            "error": [4.0, 1.0, float("nan"), 2.0],
            "printed": float("nan"),
            "bits": [1.0, 1.0, float("nan"), 3.0],
            "guarantee": ["upper", "unproven", "", "exact"],
        }
    )
    tied = rows.assign(error=[1.0, 1.0 + 1e-13, 3.0, 2.0], guarantee="exact")
    assert list(ranking._ranked(tied)["label"]) == ["b", "a", "d", "c"]  # the older protocol first
    found = ranking._ranked(rows)
    assert list(found["label"]) == ["d", "a", "b", "c"]
    assert found["rank"].fillna(0).to_list() == [1, 2, 0, 0]
    assert found["front"].to_list() == ["yes", "yes", "", ""]


def test_files_are_those_of_the_workflow(drawn):
    settings, job, folder = drawn
    expected = overall_jobs.output_files(folder.parents[1], settings.formats)
    assert {path.name for path in folder.iterdir()} == {path.name for path in expected}
    assert overall_jobs.protocols(settings) == ["central_laplace", "grr_blanket", "pure_dump"]
    assert len(overall_jobs.bundles(job)) == 3
    verdicts = table_of(drawn, "verdicts")
    assert dict(zip(verdicts["verdict"], verdicts["claims"], strict=True)) == {
        "holds": 1, "in part": 0, "fails": 1, "untestable": 0,
    }  # fmt: skip
    bells = table_of(drawn, "dumbbells")
    assert len(bells) == 2
    assert (bells["printed_over_curator"] > bells["over_curator"]).all()
    assert (
        (folder / "verdicts.rst")
        .read_text()
        .startswith("1 of 2 claims of the papers hold, 0 hold in part, 1 fail")
    )
    captions = [path.read_text() for path in folder.glob("*.rst")]
    assert max(len(caption.partition(f"\n{DETAILS}\n")[0].split()) for caption in captions) <= 60
    assert overall.printed_over_exact(job).empty  # it has replicated papers alone


def test_profiles_are_of_ranked_protocols(drawn):
    table = table_of(drawn, "profiles")
    assert set(table["label"]) == {"pureDUMP", "randomized response (blanket)", "curator (Laplace noise)"}
    assert (table["values"] == 10).all() and (table["eps"] == 1.0).all()
    assert table["at_eps"].max() == pytest.approx(1.5) and table["at_eps"].min() == 0
    for _, own in table.groupby("label"):
        assert (own["found_delta"].diff().dropna() <= 0).all()
        assert own.loc[own["at_eps"] == 1.0, "found_delta"].item() <= 1.001e-6
    grr = table[table["label"] == "randomized response (blanket)"].set_index("at_eps")["found_delta"]
    protocol = get("frequency", "grr_blanket").calibrate(Budget(1.0, 1e-6), Fixed(9_999), Frequency(10))
    assert grr[0.5] == pytest.approx(float(protocol.privacy_profile().delta(0.5)))
    assert table.groupby("label")["curve"].nunique().max() == 1
    assert (drawn[2] / "profiles.rst").read_text().startswith("At half of the budget's eps, delta is")


def test_close_curves_are_one():
    near, far = [0.1, 1e-6], [0.1, 1e-4]
    assert privacy_profiles._shared(np.array([near, [0.11, 1.1e-6], far, [0.1, 1e-30], [0.1, 0.0]])) == [
        1, 1, 2, 3, 3,
    ]  # fmt: skip


def test_map_covers_every_setting():
    rows = pd.DataFrame(
        [
            {
                "task": "t", "users": n, "values": k, "eps": eps, "delta": 1e-6, "trust": trust,
                "rank": 1.0, "label": label, "error": error, "messages": messages,
            }
            for n in (100, 1000) for k in (2, 4) for eps in (0.5, 1.0)
            for label, error, messages, trust in (
                ("near", 2.0, 5.0, "shuffler permutes"),
                ("second", 2.1 if k == 2 else 4.0, 1.5, "shuffler permutes"),
                ("better", 1.0, 1.0, "curator"),
            )
        ]
    )  # fmt: skip
    hole = rows.iloc[:3].assign(values=8)  # of one setting only: no column of the map
    table = best_protocols.best_protocols(pd.concat([rows, hole], ignore_index=True))
    assert len(table) == 2 * 8 and set(table["values"]) == {2, 4}
    several = table[table["most_messages"] == float("inf")]
    assert set(several["best"]) == {"near"} and sorted(several["margin"].unique()) == [1.05, 2.0]
    few = table[table["most_messages"] == 2]
    assert set(few["best"]) == {"second"} and few["margin"].isna().all()
    facts = best_protocols.facts_of_best(table)
    assert [row["margins"] for row in facts["rows"]] == [(1.05, 2.0), None] and facts["close_cells"] == 4
    assert "8 of 8 settings; the second" in captions.render(
        overall_jobs.CAPTIONS / "best_protocols.rst", facts
    )
    drawn = best_protocols.draw_best(table)
    hatched = [mesh.get_array().count() for ax in drawn.axes for mesh in ax.collections if mesh.get_hatch()]
    assert len(drawn.axes) == 4 and sum(hatched) == 4


def test_running_best_falls_with_years(drawn):
    table = table_of(drawn, "by_year")
    assert table[["label", "year"]].to_numpy().tolist() == [
        ["curator (Laplace noise)", 2012],
        ["randomized response (blanket)", 2019],
        ["pureDUMP", 2020],
    ]
    best = table[table["running_best"] == "yes"]
    assert best["label"].tolist() == ["randomized response (blanket)", "pureDUMP"]
    assert best["error"].is_monotonic_decreasing
    assert (
        (drawn[2] / "by_year.rst")
        .read_text()
        .startswith("From 2019 (randomized response (blanket)) to 2020 (pureDUMP), the lowest")
    )


@pytest.mark.parametrize(
    "scale, ranked, kept",
    [
        ("paper", False, {*overall_jobs.SAMPLED, "gaps"}),
        ("paper", True, {"best_protocols", "gaps"}),
    ],
)
def test_missing_results_show_kept_ones(drawn, tmp_path, monkeypatch, scale, ranked, kept):
    _, job, folder = drawn
    monkeypatch.setattr(overall, "rendered", lambda figure, file_format: b"picture")
    for part in ("claims", "runs"):
        shutil.copytree(folder.parents[1] / part, tmp_path / part)
    jobs = [{**one, "results": str(tmp_path)} for one in job["ranked"]] if ranked else []
    overall.publish_overall(
        job | {"results": str(tmp_path), "ranked": jobs, "run": job["run"] | {"scale": scale}}
    )
    own = tmp_path / "figures/overall"
    assert {path.name for path in own.iterdir()} == {path.name for path in folder.iterdir()}
    entries = {entry.id: entry for entry in read(own).entries}
    assert {name for name, entry in entries.items() if overall.MARK in entry.title} == kept
    for name, entry in entries.items():
        caption = (own / f"{name}.rst").read_text()
        assert ("kept results" in caption) == (name in kept)
        assert not re.match(r"No |This run ", entry.finding)
        table = pd.read_csv(own / f"{name}.csv")
        assert len(table) or name == overall_jobs.RANKING
        if name in kept:
            assert table.equals(pd.read_csv(ROOT / overall_jobs.KEPT / f"{name}.csv"))


def test_shared_setting_is_in_title_line():
    rows = pd.DataFrame(
        {"task": "sums", "users": [100_000, 100_000], "values": [2, 50], "eps": 1.0, "delta": 1e-8}
    )
    assert ranking.common_setting(rows) == "sums, n = 100,000, eps = 1 nats, delta = 10⁻⁸"
    assert ranking.common_setting(pd.DataFrame({"ratio": [1.0]})) == ""


def test_colluding_users_break_dummy_protocols(drawn):
    """Colluding users cost the protocols that rely on dummies of named users their guarantee."""
    table = table_of(drawn, "robustness").set_index("label")
    assert (table["eps_dropped"] > table["eps"]).all()
    pure, grr = table.iloc[0], table.iloc[1]  # best first
    assert pure["eps_colluding"] == float("inf") and grr["eps_colluding"] == grr["eps_dropped"]
    protocol = get("frequency", "grr_blanket").calibrate(Budget(1.0, 1e-6), Fixed(9_999), Frequency(10))
    assert grr["poisoning_gain"] == pytest.approx(protocol.poisoning_gain(10))
    assert grr["eps_dropped"] == pytest.approx(
        protocol.remaining_epsilon(0.1, Budget(1.0, 1e-6), colluding=False)
    )
    assert "1 of 2 protocols lose their guarantee" in (drawn[2] / "robustness.rst").read_text()


def test_gaps_are_printed_over_exact_ratios(drawn):
    _, job, _folder = drawn
    gaps = {"paper": "demo", "experiment": "counts", "methods": {"pure_dump": "mse"}, "labels": {}}
    (row,) = overall.printed_over_exact(job | {"gaps": [gaps]}).to_dict("records")
    assert row["method"] == "pureDUMP"
    named = overall.printed_over_exact(job | {"gaps": [gaps | {"labels": {"pure_dump": "own name"}}]})
    assert named["method"].tolist() == ["own name"]
    table = table_of(drawn, "ranking").query("protocol == 'pure_dump'")
    ratios = table["printed"] / table["error"]
    assert row["points"] == 8 and row["quantity"] == "squared error"
    assert 1 < row["least"] <= ratios.min() * (1 + 1e-9) and row["greatest"] >= ratios.max() * (1 - 1e-9)
