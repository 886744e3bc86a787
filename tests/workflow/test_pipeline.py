"""The complete workflow in a separate folder on the shipped summaries, without network and mirror."""

import json
import re

import pandas as pd
import pytest
from click.testing import CliRunner

from pipeline_project import ROOT, Project
from shuffledp.cli import main
from shuffledp.pipeline.code_keys import PARTS, CodeKeys
from waiting import wait_until

pytestmark = [pytest.mark.pipeline, pytest.mark.whole_run]

TINY = ("--configfile", "config/tiny.yaml")


def jobs_listed(output):
    """Return the number of jobs per rule in Snakemake's output."""
    listed = dict(re.findall(r"^([a-z_0-9]+) +(\d+)$", output, flags=re.M))
    return {rule: int(count) for rule, count in listed.items() if rule not in ("all", "default", "total")}


def site(project):
    """Return every page, and the numbers of every chart."""
    results = project.folder / "results/quick"
    paths = [results / "index.html", *results.glob("pages/*.html"), *results.glob("site/charts/*.js")]
    return {path.relative_to(results).as_posix(): path.read_bytes() for path in paths}


def test_changed_texts_only_redraw(tiny_run, tmp_path):
    paper = tiny_run.folder / "config/experiments/tiny.yaml"
    text = paper.read_text()
    before = site(tiny_run)
    for old, new in (
        ("local: {}", "local: {label: Nothing shuffled}"),
        ("A tiny paper", "A small paper"),
        ("nobody", "somebody"),
        ('source: "Fig. 1"', 'source: "Fig. 7"'),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    paper.write_text(text)
    done = tiny_run.succeeds(*TINY)
    assert tiny_run.jobs_of(done) == set()
    assert jobs_listed(done) == {"draw_tiny": 1, "overall": 1, "pages": 1}
    assert "tiny.fig1" in done
    after = site(tiny_run)
    page = after["pages/tiny.html"].decode()
    assert "A small paper" in page and "somebody" in page and "A tiny paper" not in page
    changed = {name for name in before if before[name] != after[name]}
    assert any(name.startswith("site/charts/") for name in changed), "the label is in the charts"
    moved = tiny_run.folder.rename(tmp_path / "there")
    assert "Nothing to be done" in Project(moved).succeeds(*TINY)
    (moved / "workflow/report/tiny/any.rst").write_text("What to look at.\n")
    assert jobs_listed(Project(moved).succeeds(*TINY, "--dry-run")) == {"draw_tiny": 1, "pages": 1}


def test_changed_configuration_reruns_dependent_jobs(tiny_run):
    paper = tiny_run.folder / "config/experiments/tiny.yaml"
    text = paper.read_text()
    assert "eps: [0.01, 0.5]" in text
    paper.write_text(text.replace("eps: [0.01, 0.5]", "eps: [0.01, 0.4]"))
    jobs = set(jobs_listed(tiny_run.succeeds(*TINY, "--dry-run")))
    assert jobs == {"experiment_tiny_adult", "audit_share", "audit", "overall", "draw_tiny", "pages"}


FAILS = """
import os
if "SHUFFLEDP_MAIN_PROCESS" in os.environ:
    from shuffledp.protocols.frequency.amplified import Amplified

    def calibrate(*arguments, **options):
        raise ArithmeticError("the sum came out odd")

    Amplified.calibrate = calibrate
"""


def test_jobs_find_code_digests(finished_tiny_run):
    """Otherwise each job would parse the whole library, which takes longer than most of them."""
    known = json.loads((finished_tiny_run.folder / ".snakemake/shuffledp.code.json").read_text())
    keys = CodeKeys(finished_tiny_run.folder, finished_tiny_run.folder / ".snakemake/shuffledp.code.json")
    keys.keys(*PARTS)
    assert keys._known == known


def test_failed_method_keeps_other_results(project, tmp_path, monkeypatch):
    """The run names it and goes on, and the next run computes it again."""
    (tmp_path / "sitecustomize.py").write_text(FAILS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = project.run("runs", *TINY)
    assert done.returncode == 1
    assert "1 of 2 methods failed. tiny.adult.amplified: ArithmeticError: the sum came out odd" in done.stdout
    assert [path.name for path in project.folder.rglob("runs/tiny/adult/*.sha256")] == ["local.sha256"]
    monkeypatch.delenv("PYTHONPATH")
    assert project.jobs_of(project.succeeds("runs", *TINY)) == {"local", "amplified"}


EDITED = """
import multiprocessing, os, subprocess, time
from pathlib import Path
from shuffledp.protocols.frequency.local import Local

class Mine(Local):
    number = 1

if "SHUFFLEDP_MAIN_PROCESS" in os.environ and not Path("imported").exists():
    # Children that the class leaves behind.
    subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,)).start()
    Path("imported").touch()
    while not Path("edited").exists():
        time.sleep(0.05)
"""


def test_edited_code_is_not_published(tiny_run):
    """Not even if the edit is taken back, as the next run would take the results for those of the planned code."""
    plugin = tiny_run.folder / "mine/mine.py"
    plugin.parent.mkdir()
    plugin.write_text(EDITED)
    (tiny_run.folder / "config/baselines").mkdir(exist_ok=True)
    (tiny_run.folder / "config/baselines/mine.yaml").write_text(
        'task: frequency\nmethods: {mine: {protocol: "mine/mine.py:Mine"}}\nfigures: all\n'
    )
    with tiny_run.running("runs", *TINY) as process:
        assert wait_until((tiny_run.folder / "imported").exists)
        plugin.write_text(EDITED.replace("number = 1", "number = 2"))
        (tiny_run.folder / "edited").touch()
        output, _ = process.communicate(timeout=60)
    plugin.write_text(EDITED)
    assert process.returncode == 1
    assert "was edited after the run had started" in output
    assert not list(tiny_run.folder.rglob("mine.sha256"))
    assert tiny_run.jobs_of(tiny_run.succeeds("runs", *TINY)) == {"mine"}


def test_damaged_result_is_named_and_repaired(tiny_run, monkeypatch):
    before = tiny_run.tables()
    damaged = next((tiny_run.folder / "results/quick/runs").rglob("amplified.values.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-7] + b"garbage")
    done = tiny_run.run(*TINY, "--forcerun", "draw_tiny")
    assert done.returncode != 0
    assert "amplified.values.parquet" in done.stdout
    assert "make repair" in done.stdout
    monkeypatch.chdir(tiny_run.folder)
    repaired = CliRunner().invoke(main, ["repair"])
    assert repaired.exit_code == 0
    assert "amplified.values.parquet" in repaired.output
    tiny_run.succeeds("runs", *TINY)
    assert tiny_run.tables() == before


def test_what_repair_removed_is_rebuilt(tiny_run):
    """If figures still exist, their missing inputs must nevertheless be rebuilt."""
    for pattern in (
        "data/prepared/adult.sha256",
        "results/quick/runs/tiny/adult/amplified.json",
        "results/quick/claims/audit/*.csv",
    ):
        next(tiny_run.folder.glob(pattern)).unlink()
    jobs = {"dataset_adult", "experiment_tiny_adult", "audit_share"}
    assert jobs <= set(jobs_listed(tiny_run.succeeds(*TINY, "--dry-run")))


def test_readme_baseline_runs_and_draws_alone(tiny_run):
    """The README has these steps; an edit of a plug-in reruns only its job."""
    before = tiny_run.tables()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme[readme.index("## Add your own baseline") :]
    code = section.split("```python\n")[1].split("```")[0]
    (tiny_run.folder / "mine").mkdir()
    (tiny_run.folder / "mine/half_budget.py").write_text(code)
    (tiny_run.folder / "config/baselines").mkdir(exist_ok=True)
    (tiny_run.folder / "config/baselines/mine.yaml").write_text(section.split("```yaml\n")[1].split("```")[0])
    output = tiny_run.succeeds("tiny", *TINY)
    assert tiny_run.jobs_of(output) == {"half_budget"}, output[-3000:]
    assert {"tiny.fig1", "tiny.budgets"} <= set(output.splitlines())
    after = tiny_run.tables()
    assert {k: v for k, v in after.items() if k in before} == before
    drawn = pd.read_csv(tiny_run.folder / "results/quick/figures/tiny/fig1.csv")
    assert set(drawn.loc[drawn["method"] == "half_budget", "kind"]) == {"simulated"}
    means = drawn[drawn["kind"] == "simulated"].pivot_table(index="eps", columns="method", values="tve")
    assert (means["half_budget"] > means["local"]).all()

    assert "request.eps / 2" in code
    (tiny_run.folder / "mine/half_budget.py").write_text(code.replace("request.eps / 2", "request.eps / 3"))
    assert tiny_run.jobs_of(tiny_run.succeeds("runs", *TINY)) == {"half_budget"}
    assert {k for k, v in tiny_run.tables().items() if after[k] != v} == {
        k for k in after if "/half_budget." in k
    }


def test_single_figure_is_drawn_alone(finished_tiny_run, project):
    for target in ("tiny_fig1", "results/quick/figures/tiny/fig1.png"):
        planned = project.succeeds("--dry-run", *TINY, "--cores", "all", "--", target)
        assert "tiny_fig1" in planned and "draw_tiny" not in planned
    planned = project.succeeds("--dry-run", *TINY, "--cores", "all", "--", "all", target)
    assert "draw_tiny" in planned
    project.succeeds("tiny_fig1", *TINY, "--cores", "1")
    drawn = {p.name for p in (project.folder / "results/quick/figures/tiny").iterdir()}
    assert {"fig1.pdf", "fig1.png"} <= drawn
    assert not any(name.startswith("budgets") for name in drawn)
    assert project.tables() == finished_tiny_run.tables()
    assert project.tables()


def test_missing_network_fails_with_advice(project):
    """The configuration permits official data only."""
    done = project.run("tiny_fig1", "--config", "data={source: official}", *TINY)  # without the audit
    assert done.returncode != 0
    assert "data.source: auto" in done.stdout
    assert "SHUFFLEDP_MIRROR" in done.stdout


def test_wrong_configuration_stops_before_any_job(project):
    """tests/pipeline/experiments/config covers the possible mistakes and their messages."""
    (project.folder / "twice.yaml").write_text("seed: 1\nseed: 2\n")
    done = project.run("--configfile", "twice.yaml")
    assert done.returncode != 0
    assert "twice.yaml, line 2: the key 'seed' is given twice" in done.stdout
    assert "Traceback" not in done.stdout
    assert not (project.folder / "results").exists()


def test_unwritable_folder_is_one_line(project):
    (project.folder / "logs").touch()
    done = project.run("--dry-run")
    assert done.returncode != 0
    assert "logs: a run writes there, but it is not a folder." in done.stdout.splitlines()
    assert "Traceback" not in done.stdout
