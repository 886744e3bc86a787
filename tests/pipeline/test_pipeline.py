"""The real workflow, run in a folder of its own on the shipped summaries: no network, no mirror."""

import json
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest

from pipeline_project import Project, copy_of_project, kill

pytestmark = pytest.mark.pipeline

QUICK = ("--configfile", "config/quick.yaml")

BASELINE = '''
from dataclasses import dataclass

import numpy as np

from shuffledp.protocols import Cost, Messages, ProtocolBase
from shuffledp.tasks import Budget


@dataclass(frozen=True)
class CoinFlip(ProtocolBase):
    """Answers one half for every value: a control that any protocol should beat at a generous budget."""

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


def test_quick_run_on_shipped_summaries_makes_every_figure_table_and_page(
    quick_run: tuple[Project, str],
) -> None:
    project, output = quick_run
    results = project.folder / "results/quick"
    manifests = sorted(results.glob("figures/*/manifest.json"))
    assert manifests
    for manifest in manifests:
        for entry in json.loads(manifest.read_text())["entries"]:
            for name in entry["files"].values():
                assert (manifest.parent / name).stat().st_size > 0
    assert (results / "index.html").is_file()
    assert "summary" in output, "the run must say which data source was used"
    assert not list(project.folder.rglob("*.tmp"))


def test_second_run_has_nothing_to_do(quick_run: tuple[Project, str]) -> None:
    project, _ = quick_run
    assert "Nothing to be done" in project.succeeds(*QUICK)


def test_three_kills_and_a_restart_give_the_tables_of_an_undisturbed_run(
    quick_run: tuple[Project, str], project: Project
) -> None:
    undisturbed, _ = quick_run
    for marker in (
        "Execute",
        "rule method",
        "Finished jobid",
    ):  # early, while methods run, after the first result
        process = project.start(*QUICK)
        assert process.stdout is not None
        for line in process.stdout:
            if marker in line:
                break
        time.sleep(0.3)
        kill(process)
    project.succeeds(*QUICK)
    assert project.tables() == undisturbed.tables()
    assert project.tables()


def test_second_run_started_at_once_is_refused_with_a_clear_line(project: Project) -> None:
    first = project.start(*QUICK)
    assert first.stdout is not None
    for line in first.stdout:
        if "Execute" in line:  # the first run holds the lock
            break
    second = project.run(*QUICK)
    rest, _ = first.communicate(timeout=300)
    assert first.returncode == 0, rest[-3000:]
    assert second.returncode != 0
    assert "Another run is at work in this folder" in second.stdout
    assert "Traceback" not in second.stdout


def test_damaged_result_is_named_and_repaired(project: Project) -> None:
    project.succeeds(*QUICK)
    before = project.tables()
    damaged = next((project.folder / "results/quick/runs").rglob("amplified.values.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-7] + b"garbage")
    done = project.run(*QUICK, "--forcerun", "draw_random_population")
    assert done.returncode != 0
    assert "amplified.values.parquet" in done.stdout
    assert "make repair" in done.stdout
    cli = Path(project.command()[0]).with_name("shuffledp")
    repaired = subprocess.run([cli, "repair"], cwd=project.folder, capture_output=True, text=True, check=True)
    assert "amplified.values.parquet" in repaired.stdout
    project.succeeds(*QUICK)
    assert project.tables() == before


def test_adding_a_baseline_runs_its_jobs_only_and_draws_it(project: Project) -> None:
    project.succeeds(*QUICK)
    before = project.tables()
    (project.folder / "mine").mkdir()
    (project.folder / "mine/coin.py").write_text(BASELINE)
    (project.folder / "config/baselines").mkdir(exist_ok=True)
    (project.folder / "config/baselines/mine.yaml").write_text(
        "task: frequency\nmethods:\n  coin_flip: {protocol: 'mine/coin.py:CoinFlip'}\nfigures: all\n"
    )
    output = project.succeeds(*QUICK)
    assert project.jobs_of(output), output[-3000:]
    assert set(project.jobs_of(output)) == {"coin_flip"}
    after = project.tables()
    assert {k: v for k, v in after.items() if k in before} == before
    drawn = pd.read_csv(project.folder / "results/quick/figures/random_population/fig4_printed.csv")
    assert "coin_flip" in set(drawn["method"])
    assert set(drawn.loc[drawn["method"] == "coin_flip", "kind"]) == {"simulated"}


def test_editing_a_plug_in_reruns_it_and_nothing_else(project: Project) -> None:
    (project.folder / "mine").mkdir()
    plugin = project.folder / "mine/coin.py"
    plugin.write_text(BASELINE)
    (project.folder / "config/baselines/mine.yaml").write_text(
        "task: frequency\nmethods:\n  coin_flip: {protocol: 'mine/coin.py:CoinFlip'}\n"
    )
    project.succeeds(*QUICK)
    plugin.write_text(BASELINE.replace("0.5)", "0.25)"))
    assert set(project.jobs_of(project.succeeds(*QUICK))) == {"coin_flip"}


def test_results_do_not_depend_on_the_number_of_cores(
    quick_run: tuple[Project, str], project: Project
) -> None:
    undisturbed, _ = quick_run
    project.succeeds(*QUICK, "--cores", "1")
    assert project.tables() == undisturbed.tables()


def test_single_figure_target_draws_that_figure_alone(project: Project) -> None:
    project.succeeds(*QUICK, "random_population_fig4")
    drawn = {p.name for p in (project.folder / "results/quick/figures/random_population").iterdir()}
    assert {"fig4_printed.pdf", "fig4_exact.png"} <= drawn
    assert not any(name.startswith("budgets") for name in drawn)


def test_official_data_only_fails_with_advice_when_there_is_no_network(project: Project) -> None:
    done = project.run(*QUICK, "--config", "data={source: official}")
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


def test_moved_folder_is_still_up_to_date(tmp_path: Path) -> None:
    first = tmp_path / "here"
    first.mkdir()
    copy_of_project(first).succeeds(*QUICK)
    moved = first.rename(tmp_path / "there")
    assert "Nothing to be done" in Project(moved).succeeds(*QUICK)
