"""The real workflow, run in a folder of its own on the shipped summaries: no network, no mirror."""

import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from pipeline_project import Project

pytestmark = pytest.mark.pipeline

TINY = ("--configfile", "config/tiny.yaml")

BASELINE = '''
from dataclasses import dataclass

import numpy as np

from shuffledp.protocols import Cost, Messages, ProtocolBase


@dataclass(frozen=True)
class CoinFlip(ProtocolBase):
    """Answers one half for every value, whatever the users hold."""

    name = "coin_flip"
    task_kind = "frequency"
    label = "Coin flip"
    source = "test"
    trust = "local"
    accountings = ("printed", "exact")
    biased = True

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return cls()

    def encode(self, users, rng):
        return Messages(rng.integers(0, 2, len(users)))

    def estimate(self, aggregate, public):
        return np.full((len(public.n_users), 2), 0.5)

    def cost(self):
        return Cost(1.0, 1.0)
'''


def add_baseline(project: Project, text: str = BASELINE) -> None:
    (project.folder / "mine").mkdir(exist_ok=True)
    (project.folder / "mine/coin.py").write_text(text)
    (project.folder / "config/baselines").mkdir(exist_ok=True)
    (project.folder / "config/baselines/mine.yaml").write_text(
        "task: frequency\nmethods:\n  coin_flip: {protocol: 'mine/coin.py:CoinFlip'}\nfigures: all\n"
    )


def test_second_run_started_at_once_is_refused_with_a_clear_line(project: Project) -> None:
    # Long enough that the second run is ready to begin before the first one ends.
    first = project.start("--configfile", "config/quick.yaml", "--config", "papers=[random_population]")
    assert first.stdout is not None
    for line in first.stdout:
        if "Execute" in line:  # the first run holds the lock
            break
    second = project.run(*TINY)
    rest, _ = first.communicate(timeout=600)
    assert first.returncode == 0, rest[-3000:]
    assert second.returncode != 0
    assert "Another run is at work in this folder" in second.stdout
    assert "Traceback" not in second.stdout


def site(project: Project) -> dict[str, bytes]:
    """Every page, and the numbers of every chart."""
    results = project.folder / "results/quick"
    paths = [results / "index.html", *results.glob("pages/*.html"), *results.glob("site/charts/*.js")]
    return {path.relative_to(results).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("local: {}", "local: {label: Nothing shuffled}"),
        ("A tiny paper", "A small paper"),
        ("nobody", "somebody"),
    ],
    ids=["label", "title", "citation"],
)
def test_what_a_picture_or_page_shows_is_a_reason_to_draw_and_to_compute_nothing(
    tiny_run: Project, old: str, new: str
) -> None:
    paper = tiny_run.folder / "config/experiments/tiny.yaml"
    paper.write_text(paper.read_text().replace(old, new, 1))
    planned = tiny_run.succeeds(*TINY, "--dry-run")
    assert re.search(r"^draw_tiny +1$", planned, flags=re.M), planned[-2000:]
    assert re.search(r"^pages +1$", planned, flags=re.M), planned[-2000:]
    assert not re.search(r"^method ", planned, flags=re.M), planned[-2000:]
    page = site(tiny_run)
    done = tiny_run.succeeds(*TINY)
    assert ("tiny.fig1_exact" in done) == (old == "local: {}"), (
        "the title and the citation are on the page alone"
    )
    assert site(tiny_run) != page
    assert "Nothing to be done" in tiny_run.succeeds(*TINY)


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


def test_adding_a_baseline_runs_its_job_only_and_draws_it(tiny_run: Project) -> None:
    before = tiny_run.tables()
    add_baseline(tiny_run)
    output = tiny_run.succeeds(*TINY)
    assert tiny_run.jobs_of(output) == {"coin_flip"}, output[-3000:]
    assert {"tiny.fig1_printed", "tiny.fig1_exact", "tiny.budgets"} <= set(output.splitlines())
    after = tiny_run.tables()
    assert {k: v for k, v in after.items() if k in before} == before
    drawn = pd.read_csv(tiny_run.folder / "results/quick/figures/tiny/fig1_printed.csv")
    assert set(drawn.loc[drawn["method"] == "coin_flip", "kind"]) == {"simulated"}
    add_baseline(tiny_run, BASELINE.replace("0.5)", "0.25)"))
    assert tiny_run.jobs_of(tiny_run.succeeds(*TINY)) == {"coin_flip"}, (
        "editing a plug-in reruns it and nothing else"
    )


def test_baseline_of_the_readme_runs_as_written(project: Project) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    section = readme[readme.index("## Add your own baseline") :]
    code = section.split("```python\n")[1].split("```")[0]
    config = section.split("```yaml\n")[1].split("```")[0]
    (project.folder / "mine").mkdir()
    (project.folder / "mine/half_budget.py").write_text(code)
    (project.folder / "config/baselines").mkdir(exist_ok=True)
    (project.folder / "config/baselines/mine.yaml").write_text(config)
    assert project.jobs_of(project.succeeds(*TINY)) == {"local", "amplified", "half_budget"}
    drawn = pd.read_csv(project.folder / "results/quick/figures/tiny/fig1_exact.csv")
    means = drawn[drawn["kind"] == "simulated"].pivot_table(index="eps", columns="method", values="tve")
    assert (means["half_budget"] > means["local"]).all()


def test_results_do_not_depend_on_the_number_of_cores(finished_tiny_run: Project, project: Project) -> None:
    project.succeeds(*TINY, "--cores", "1")
    assert project.tables() == finished_tiny_run.tables()
    assert project.tables()


def test_single_figure_target_draws_that_figure_alone(project: Project) -> None:
    project.succeeds("tiny_fig1", *TINY)
    drawn = {p.name for p in (project.folder / "results/quick/figures/tiny").iterdir()}
    assert {"fig1_printed.pdf", "fig1_exact.png"} <= drawn
    assert not any(name.startswith("budgets") for name in drawn)


def test_official_data_only_fails_with_advice_when_there_is_no_network(project: Project) -> None:
    done = project.run("--config", "data={source: official}", *TINY)
    assert done.returncode != 0
    assert "data.source: auto" in done.stdout
    assert "SHUFFLEDP_MIRROR" in done.stdout


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed=-1", "config: seed: must be at least 0, got -1."),
        ("papers=[nobody]", "config: papers: no paper 'nobody'."),
        ("typo=1", "config: unknown key 'typo'."),
    ],
)
def test_wrong_configuration_stops_before_any_job(project: Project, override: str, message: str) -> None:
    done = project.run("--config", override)
    assert done.returncode != 0
    assert f"Configuration error: {message}" in done.stdout
    assert "Traceback" not in done.stdout
    assert not (project.folder / "results").exists()


def test_moved_folder_is_still_up_to_date(tiny_run: Project, tmp_path: Path) -> None:
    moved = tiny_run.folder.rename(tmp_path / "there")
    assert "Nothing to be done" in Project(moved).succeeds(*TINY)
