"""The complete workflow in a separate folder on the shipped summaries, without network and mirror."""

import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml
from planned_jobs import Workflow, by_rule, replaced, scheduled

from pipeline_project import ROOT, Project
from shuffledp.pipeline.config.config_files import merged, read_yaml

pytestmark = [pytest.mark.pipeline, pytest.mark.whole_run]

TINY = ("--configfile", "config/tiny.yaml")


def jobs_listed(output: str) -> dict[str, int]:
    """Return the number of jobs per rule in Snakemake's output."""
    listed = dict(re.findall(r"^([a-z_]+) +(\d+)$", output, flags=re.M))
    return {rule: int(count) for rule, count in listed.items() if rule not in ("all", "total")}


def site(project: Project) -> dict[str, bytes]:
    """Return every page, and the numbers of every chart."""
    results = project.folder / "results/quick"
    paths = [results / "index.html", *results.glob("pages/*.html"), *results.glob("site/charts/*.js")]
    return {path.relative_to(results).as_posix(): path.read_bytes() for path in paths}


def test_what_a_picture_or_page_shows_is_a_reason_to_draw_and_to_compute_nothing(tiny_run: Project) -> None:
    """All changes are made together; `test_a_dry_run_schedules_what_the_plan_says` makes them one by one."""
    paper = tiny_run.folder / "config/experiments/tiny.yaml"
    text = paper.read_text()
    before = site(tiny_run)
    for old, new in (
        ("local: {}", "local: {label: Nothing shuffled}"),
        ("A tiny paper", "A small paper"),
        ("nobody", "somebody"),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    paper.write_text(text)
    done = tiny_run.succeeds(*TINY)
    assert tiny_run.jobs_of(done) == set()
    assert jobs_listed(done) == {"draw_tiny": 1, "overall": 1, "pages": 1}
    assert "tiny.fig1_exact" in done
    after = site(tiny_run)
    page = after["pages/tiny.html"].decode()
    assert "A small paper" in page and "somebody" in page and "A tiny paper" not in page
    changed = {name for name in before if before[name] != after[name]}
    assert any(name.startswith("site/charts/") for name in changed), "the label is in the charts"
    assert "Nothing to be done" in tiny_run.succeeds(*TINY)


@pytest.fixture
def workflow(tiny_run: Project, monkeypatch: pytest.MonkeyPatch) -> Workflow:
    return Workflow(monkeypatch, tiny_run.folder)


def test_a_dry_run_schedules_what_the_plan_says(tiny_run: Project, workflow: Workflow) -> None:
    """For leaves of each kind, Snakemake lists the same jobs as `planned_jobs`.

    Texts that are only shown are changed together, as test_reruns.py changes each of them.
    """
    config = merged(workflow.config, read_yaml(tiny_run.folder / "config/tiny.yaml"))
    paper = workflow.papers["tiny"]
    before = workflow.jobs(config)
    adult = ("experiments", "adult")
    only_shown = {
        (*adult, "methods", "local", "label"): "other",
        ("tables", "budgets", "format"): ".3f",
        ("paper", "title"): "A small paper",
        ("paper", "citation"): "somebody",
    }
    for changes, methods in (
        ({(*adult, "grid", "eps", 1): 0.4}, 2),
        ({(*adult, "methods", "local", "accounting"): ["exact"]}, 1),
        (only_shown, 0),
    ):
        changed = paper
        for place, new in changes.items():
            changed = replaced(changed, place, new)
        (tiny_run.folder / "config/experiments/tiny.yaml").write_text(
            yaml.safe_dump(changed, sort_keys=False)
        )
        planned = by_rule(scheduled(before, workflow.jobs(config, {**workflow.papers, "tiny": changed})))
        assert planned.get("method", 0) == methods
        output = tiny_run.succeeds(*TINY, "--dry-run")
        assert jobs_listed(output) == planned, f"{changes}: {output[-2000:]}"


def test_damaged_result_is_named_and_repaired(tiny_run: Project) -> None:
    before = tiny_run.tables()
    damaged = next((tiny_run.folder / "results/quick/runs").rglob("amplified.values.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-7] + b"garbage")
    done = tiny_run.run(*TINY, "--forcerun", "draw_tiny")
    assert done.returncode != 0
    assert "amplified.values.parquet" in done.stdout
    assert "make repair" in done.stdout
    command = Path(tiny_run.command()[0]).with_name("shuffledp")
    repaired = subprocess.run(
        [command, "repair"], cwd=tiny_run.folder, capture_output=True, text=True, check=True
    )
    assert "amplified.values.parquet" in repaired.stdout
    tiny_run.succeeds(*TINY)
    assert tiny_run.tables() == before


@pytest.mark.parametrize("target", ["tiny", "all"])
def test_what_repair_removed_is_rebuilt_by_every_target(tiny_run: Project, target: str) -> None:
    """If figures still exist, their missing inputs must nevertheless be rebuilt."""
    arguments = (target, *TINY, "--dry-run")
    assert "Nothing to be done" in tiny_run.succeeds(*arguments)
    results = tiny_run.folder / "results/quick"
    rebuilt = {
        results / "runs/tiny/adult/amplified.json": "method",
        tiny_run.folder / "data/prepared/adult.sha256": "dataset_adult",
    }
    if target == "all":  # a figure needs no audit
        rebuilt[next((results / "claims/audit").glob("*.csv"))] = "audit_share"
    for removed, job in rebuilt.items():
        content = removed.read_bytes()
        removed.unlink()
        assert job in jobs_listed(tiny_run.succeeds(*arguments))
        removed.write_bytes(content)


def test_adding_the_baseline_of_the_readme_runs_its_job_only_and_draws_it(tiny_run: Project) -> None:
    """The README has these steps; an edit of a plug-in reruns only its job."""
    before = tiny_run.tables()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme[readme.index("## Add your own baseline") :]
    code = section.split("```python\n")[1].split("```")[0]
    (tiny_run.folder / "mine").mkdir()
    (tiny_run.folder / "mine/half_budget.py").write_text(code)
    (tiny_run.folder / "config/baselines").mkdir(exist_ok=True)
    (tiny_run.folder / "config/baselines/mine.yaml").write_text(section.split("```yaml\n")[1].split("```")[0])
    output = tiny_run.succeeds(*TINY)
    assert tiny_run.jobs_of(output) == {"half_budget"}, output[-3000:]
    assert {"tiny.fig1_printed", "tiny.fig1_exact", "tiny.budgets"} <= set(output.splitlines())
    after = tiny_run.tables()
    assert {k: v for k, v in after.items() if k in before} == before
    drawn = pd.read_csv(tiny_run.folder / "results/quick/figures/tiny/fig1_exact.csv")
    assert set(drawn.loc[drawn["method"] == "half_budget", "kind"]) == {"simulated"}
    means = drawn[drawn["kind"] == "simulated"].pivot_table(index="eps", columns="method", values="tve")
    assert (means["half_budget"] > means["local"]).all()

    assert "largest_eps / 2" in code
    (tiny_run.folder / "mine/half_budget.py").write_text(code.replace("largest_eps / 2", "largest_eps / 3"))
    assert tiny_run.jobs_of(tiny_run.succeeds("runs", *TINY)) == {"half_budget"}
    assert {k for k, v in tiny_run.tables().items() if after[k] != v} == {
        k for k in after if "/half_budget." in k
    }


def test_a_single_figure_on_one_core_is_drawn_alone_from_the_same_results(
    finished_tiny_run: Project, project: Project
) -> None:
    project.succeeds("tiny_fig1", *TINY, "--cores", "1")
    drawn = {p.name for p in (project.folder / "results/quick/figures/tiny").iterdir()}
    assert {"fig1_printed.pdf", "fig1_exact.png"} <= drawn
    assert not any(name.startswith("budgets") for name in drawn)
    assert project.tables() == finished_tiny_run.tables()
    assert project.tables()


def test_official_data_only_fails_with_advice_when_there_is_no_network(project: Project) -> None:
    done = project.run("tiny_fig1", "--config", "data={source: official}", *TINY)  # without the audit
    assert done.returncode != 0
    assert "data.source: auto" in done.stdout
    assert "SHUFFLEDP_MIRROR" in done.stdout


def test_wrong_configuration_stops_before_any_job(project: Project) -> None:
    """tests/pipeline/experiments/config covers the possible mistakes and their messages."""
    done = project.run("--config", "seed=-1")
    assert done.returncode != 0
    assert "Configuration error: config: seed: must be at least 0, got -1." in done.stdout
    (project.folder / "twice.yaml").write_text("seed: 1\nseed: 2\n")
    done = project.run("--configfile", "twice.yaml")
    assert done.returncode != 0
    assert "twice.yaml, line 2: the key 'seed' is given twice" in done.stdout
    assert "Traceback" not in done.stdout
    assert not (project.folder / "results").exists()


def test_a_folder_that_cannot_be_written_is_one_line(project: Project) -> None:
    (project.folder / "logs").touch()
    done = project.run("--dry-run")
    assert done.returncode != 0
    assert "logs: a run writes there, but it is not a folder." in done.stdout.splitlines()
    assert "Traceback" not in done.stdout


def test_moved_folder_is_still_up_to_date(tiny_run: Project, tmp_path: Path) -> None:
    moved = tiny_run.folder.rename(tmp_path / "there")
    assert "Nothing to be done" in Project(moved).succeeds(*TINY)
