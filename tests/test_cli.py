import gzip
import hashlib
import json
import subprocess
import sys
import traceback
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml
from filelock import FileLock

from command_line import invoked, typed
from shuffledp.comparison.checked_setting import cases_of
from shuffledp.pipeline.config import smallest_cells
from shuffledp.pipeline.datasets import NAMES, preparation
from shuffledp.pipeline.experiments import results, runner
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.protocols import get
from shuffledp.protocols.conformance import leakage_checks, plugin_checks, running
from shuffledp.storage import damaged, publish

PAPER = """\
paper: {title: "A demonstration", citation: "Nobody 2024"}
experiments:
  coins:
    source: "Fig. 1"
    task: {kind: frequency, domain_size: 2, metrics: [mse]}
    data: {name: categorical, weights: [0.25, 0.75]}
    population: {users: 100}
    budget: {eps: $eps, delta: 1.0e-5}
    grid: {eps: [0.5, 1.0]}
    repeats: 3
    methods: {local: {}}
figures:
  fig1: {title: "Error", experiment: coins, x: eps, y: mse, caption: fig1.rst}
"""
CONFIG = """\
seed: 7
papers: [demo]
results: results
data: {source: auto}
formats: [png]
baselines: config/baselines
overrides: {}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text(CONFIG)
    (tmp_path / "config/experiments/demo.yaml").write_text(PAPER)
    (tmp_path / "workflow/report/demo").mkdir(parents=True)
    (tmp_path / "workflow/report/demo/fig1.rst").write_text("A caption.")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bundle(project):
    """Return the project with the results of its only method."""
    settings = load_settings(yaml.safe_load(CONFIG), project)
    job = settings.papers["demo"].experiments["coins"].job("local", 7)
    done = runner.run(job, prepared=project, root=project)
    made = results.Bundle.locate(Path("results"), "demo", "coins", "local")
    results.write(made, done.cells, done.values, {"data": {}})
    return made


def call(*arguments):
    done = invoked(*arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.mark.parametrize("command", [("check",), ("export", "out"), ("repair",)])
def test_commands_outside_project_touch_nothing(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    foreign = tmp_path / "results/runs/a/b/mine.cells.parquet"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"precious")
    code, output = call(*command)
    assert code == 1
    assert "run this in the project's folder" in output
    assert foreign.read_bytes() == b"precious"


def test_check_states_the_runs_jobs(project):
    code, output = call("check")
    assert code == 0
    assert "coins: 1 methods, at most 2 cells, 3 repeats" in output
    assert "drawings: fig1" in output


def test_check_merges_the_configfile(project):
    (project / "config/config.yaml").write_text(CONFIG.replace("{}", "{demo.coins: {repeats: 5}}"))
    (project / "quick.yaml").write_text("overrides: {demo.coins: {grid: {eps: [0.5]}}}\n")
    code, output = call("check", "--configfile", "quick.yaml")
    assert code == 0
    assert "at most 1 cells, 5 repeats" in output


@pytest.mark.parametrize(
    "content, says",
    [
        ("overrides: {demo.coin: {repeats: 1}}", "Did you mean 'demo.coins'?"),
        ("overrides: {", "quick.yaml, line"),
        ("", "quick.yaml: expected a mapping, got None."),
        ("seed: 1\nseed: 2", "the key 'seed' is given twice"),
    ],
)
def test_broken_configfile_is_one_line(project, content, says):
    (project / "quick.yaml").write_text(content)
    code, output = call("check", "--configfile", "quick.yaml")
    assert code == 1
    assert says in output
    assert output.startswith("Error: ")
    assert output.count("\n") == 1


def test_data_prints_rows_of_new_file(tmp_path):
    sha256 = hashlib.sha256(b"one").hexdigest()
    (tmp_path / "a.data.gz").write_bytes(gzip.compress(b"one"))
    row = f",,,a.data,,{sha256},3,,published,\n"
    assert call("data", "--checksum", str(tmp_path / "a.data.gz")) == (0, row)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as bundle:
        bundle.writestr("b/", "")
        bundle.writestr("b/a.data", b"one")
        bundle.write(tmp_path / "a.data.gz", "a.data.gz")
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as bundle:
        bundle.write(tmp_path / "a.zip", "a.zip")
    within = [f",,,a.data,{place}#a.data,{sha256},3,,published,\n" for place in ("", "#a.zip")]
    assert call("data", "--checksum", str(tmp_path / "a.zip")) == (0, within[0] * 2)
    assert call("data", "--checksum", str(tmp_path / "c.zip")) == (0, within[1] * 2)


def test_data_passes_source_and_mirror(project, monkeypatch):
    seen = []
    monkeypatch.setattr(preparation, "prepare", lambda name, **given: seen.append((name, given)))
    monkeypatch.setenv("SHUFFLEDP_MIRROR", "somewhere")
    assert call("data", "--official", "adult")[0] == 0
    assert call("data")[0] == 0
    assert [name for name, _ in seen] == ["adult", *NAMES]
    assert [given["policy"] for _, given in seen[:2]] == ["official", "auto"]
    assert seen[0][1]["mirror"] == "somewhere"


def test_unknown_data_name_lists_known_ones(project):
    code, output = call("data", "adlut")
    assert code == 1
    assert output.startswith("Error: ")
    assert "movielens" in output


def test_export_writes_both_tables(bundle):
    code, output = call("export", "out")
    assert (code, output) == (0, "2 tables written to out\n")
    cells = pd.read_csv("out/runs/demo/coins/local.cells.csv")
    assert cells["eps"].tolist() == [0.5, 1.0]
    assert len(pd.read_csv("out/runs/demo/coins/local.values.csv")) == 2 * (3 + 1)


def test_export_without_results_says_so(project):
    code, output = call("export", "out")
    assert code == 1
    assert "No results in results/runs" in output


def test_results_of_other_folder_are_exported(bundle):
    """They are repaired, too."""
    Path("results").rename("elsewhere")
    Path("results").mkdir()
    Path("elsewhere").rename("results/mine")
    assert "in another folder are exported with --results" in call("export", "out")[1]
    assert call("export", "out", "--results", "results/mine") == (0, "2 tables written to out\n")
    assert Path("out/runs/demo/coins/local.cells.csv").is_file()
    (damaged,) = Path("results/mine").rglob("local.cells.parquet")
    damaged.write_bytes(b"no")
    assert call("repair") == (0, "Nothing to repair.\n")
    code, output = call("repair", "--results", "results/mine")
    assert (code, damaged.exists()) == (0, False)
    assert str(damaged) in output
    code, output = call("repair", "--results", "..")
    assert code == 1 and output.startswith("Error: --results: ")
    assert "No results in nowhere/runs" in call("export", "out", "--results", "nowhere")[1]


def test_export_omits_unconfigured_results(bundle):
    content = PAPER.replace("methods: {local: {}}", "methods: {amplified: {}}")
    Path("config/experiments/demo.yaml").write_text(content)
    code, output = call("export", "out")
    assert code == 1
    assert "results/runs has results of demo, which this configuration does not contain" in output
    assert not Path("out").exists()
    more = PAPER.replace("methods: {local: {}}", "methods: {local: {}, other: {protocol: local}}")
    Path("config/experiments/demo.yaml").write_text(more)
    made = Path("results/runs/demo/coins")
    for path in list(made.iterdir()):
        content = path.read_bytes().replace(b"local.", b"removed.")
        (made / path.name.replace("local.", "removed.")).write_bytes(content)
    code, output = call("export", "out")
    assert (code, output.splitlines()[0]) == (0, "2 tables written to out")
    assert "demo.coins.removed" in output
    assert not list(Path("out").rglob("removed*"))
    assert "before" not in output


OWN = """
  own:
    source: "My data"
    task: {kind: frequency}
    data: {name: file, path: runs/demo/coins/local.cells.csv, column: v, values: [a, b]}
    population: {users: 100}
    budget: {eps: $eps, delta: 1.0e-5}
    grid: {eps: [1.0]}
    repeats: 3
    methods: {local: {}}
figures:
"""


def test_export_overwrites_no_user_data(bundle, project):
    mine = Path("runs/demo/coins/local.cells.csv")
    mine.parent.mkdir(parents=True)
    mine.write_text("v\na\nb\n")
    (project / "config/experiments/demo.yaml").write_text(PAPER.replace("figures:\n", OWN.lstrip("\n")))
    code, output = call("export", ".")
    assert code == 1
    assert output == f"Error: TARGET {mine} is the file {mine}, which is read: give another one.\n"
    assert mine.read_text() == "v\na\nb\n"
    assert [path.name for path in mine.parent.iterdir()] == [mine.name]


def test_check_names_experiments_without_run(project):
    assert "Not run" not in call("check")[1]
    (project / "config/experiments/other.yaml").write_text(PAPER)
    (project / "config/own").mkdir(exist_ok=True)
    (project / "config/own/mine.yaml").write_text(PAPER.replace(", caption: fig1.rst", ", caption: none.rst"))
    code, output = call("check")
    assert code == 1
    assert "config/own/mine.yaml: figures.fig1.caption: there is no file" in output
    study = 'study: {title: "Mine"}\n' + PAPER.partition("\n")[2].replace(", caption: fig1.rst", "")
    (project / "config/own/mine.yaml").write_text(study)
    code, output = call("check")
    assert code == 0, output
    assert "\nmine: Mine\n" in output
    assert "Not run, as `papers` does not list them: other.yaml" in output.splitlines()[-1]


@pytest.mark.parametrize("task", ["frequency", "summation", "sets", "vectors"])
def test_new_baseline_is_written_once(project, task):
    code, output = call("new-baseline", "my_own", "--task", task)
    assert code == 0, output
    assert "shuffledp check-baseline mine/my_own.py:MyOwn" in output
    assert call("check")[0] == 0
    code, output = call("new-baseline", "my_own", "--task", task)
    assert code == 1
    assert "exists already" in output
    code, output = call("new-baseline", "My-own", "--task", task)
    assert code == 1
    assert "'My-own'" in output


def test_check_baseline_gives_verdicts_and_trials(project, monkeypatch):
    monkeypatch.setattr(leakage_checks, "REPORTS", 50_000)
    monkeypatch.setattr(leakage_checks, "VIEWED", 100)
    monkeypatch.setattr(plugin_checks, "CALLS", 100)
    monkeypatch.setattr(plugin_checks, "ERRORS", {True: 1000})
    call("new-baseline", "mine", "--task", "frequency")
    code, output = call("check-baseline", "mine/mine.py:Mine")
    assert code == 0, output
    lines = output.splitlines()
    assert sum(" passed" in line for line in lines) >= 12
    assert next(line for line in lines if line.startswith("privacy: checked by the encoder"))
    assert next(line for line in lines if line.startswith("users apart"))
    assert "delta end to end with 12 inputs" in output
    assert "infeasible: 0 of" in output
    assert '  demo.coins at {"eps":0.5}' in output
    assert ": ok, mse" in output
    assert "setting " not in output
    path = Path("mine/mine.py")
    path.write_text(
        path.read_text().replace(
            "return cls(request.k, request.eps)",
            "return cls(request.k, (1 if request.k == 7 else 1.5) * request.eps)",
        )
    )
    setting = typed("--users 30k --domain-size 7 --epsilon 0.5 --delta 1e-6")
    code, output = call("check-baseline", "mine/mine.py:Mine", "--no-experiments", *setting)
    assert code == 1
    assert "privacy: REJECTED" in output
    for accounting in ("printed", "exact"):
        checked = "checked by sample_aggregate alone, as its 30,000 messages are more than 20,000"
        law = "Fixed(others=29999); Frequency(domain_size=7); Budget(eps=0.5, delta=1e-06, neighbours='replace_one')"
        assert f"setting {law}; {accounting}: {checked}" in output
    assert output.endswith("FAILED: 1\n")


def test_check_baseline_stops_at_errors(project):
    call("new-baseline", "mine", "--task", "frequency")
    path = Path("mine/mine.py")
    text = path.read_text()
    assert "lies = rng" in text
    path.write_text(text.replace("return Cost(", "return dict("))
    code, output = call("check-baseline", "mine/mine.py:Mine")
    assert (code, output.splitlines()[0]) == (1, "privacy: NOT checked: a method fails before that")
    assert output.splitlines()[1].startswith(
        "Error: mine/mine.py: cost returns a dict, expected a Cost, in the"
    )
    assert len(output.splitlines()) == 2
    path.write_text(
        text.replace("lies = rng", "lies = random")
    )  # another size: Python looks at whole seconds
    done = invoked("check-baseline mine/mine.py:Mine")
    assert done.output == "privacy: NOT checked: a method fails before that\n"
    assert isinstance(done.exception, NameError)
    last = traceback.extract_tb(done.exception.__traceback__)[-1]
    assert (Path(last.filename).name, last.name) == ("mine.py", "encode")
    assert done.exception.__notes__[0].startswith("in the setting Fixed(")
    path.write_text(text.replace("lies = rng", "lies = exit(0) or rng"))
    done = invoked("check-baseline mine/mine.py:Mine")
    assert str(done.exception) == "sys.exit(0) is called"


@pytest.mark.parametrize(
    "words, says",
    [
        ("--users 100 --domain-size 3", "A setting needs --eps and --delta."),
        ("--eps 1 --delta 1e-6 --domain-size 3", "Give users"),
        ("--users 100 --eps 1 --delta 1e-6", "Give a task"),
        (
            "--users 100 --eps 1 --delta 1e-6 --max-value 3",
            "The setting is for summation, and",
        ),
        (
            "--population moments:9:3 --eps 1 --delta 1e-6 --domain-size 3",
            "--population must be a law of the number",
        ),
        ("--users 100 --eps 1 --delta 1e-6 --domain-size 5M", "5,000,000 values takes more than the memory"),
        ("--user 100", "Did you mean '--users'?"),
        ("--users 3x", "--users must be an integer of at least 2, such as 30k or 3e4, got '3x'."),
    ],
)
def test_check_baseline_takes_compares_setting(project, words, says):
    call("new-baseline", "mine", "--task", "frequency")
    code, output = call("check-baseline", "mine/mine.py:Mine", *words.split())
    assert code > 0 and says in output and "Traceback" not in output


def test_setting_of_sets_is_a_case(project):
    call("new-baseline", "mine", "--task", "sets")
    found = get("sets", "mine/mine.py:Mine")
    given = {"domain_size": 6, "set_size": 2, "max_value": None, "dimension": None}
    cases = cases_of(found, None, users=12, eps=1.0, delta=1e-6, neighbours="replace_one", norm="l2", **given)
    assert [case.accounting for case in cases] == list(found.accountings)
    assert len(cases[0].users()) == 12 == cases[0].participants(2).public.n_users[1]
    assert running.how_checked(found, cases[0]) == "checked"


def test_experiment_is_tried_where_drawn(project):
    found = get("frequency", "local")
    settings = {"coins": {"simulated_at": {"eps": [1.0]}}}
    paper = yaml.safe_load(PAPER)
    paper["experiments"]["coins"] |= settings["coins"]
    (project / "config/experiments/demo.yaml").write_text(yaml.safe_dump(paper))
    loaded = load_settings(yaml.safe_load(CONFIG), project)
    (trial,) = smallest_cells.trials(found, "local", loaded, prepared=project, root=project)
    assert (trial.status, trial.note[:4]) == ("ok", "mse ")
    assert '{"eps":1.0}' in trial.where


def test_export_refuses_a_damaged_result(bundle):
    bundle.cells.write_bytes(b"x")
    code, output = call("export", "out")
    assert code == 1
    assert str(bundle.cells) in output
    assert "make repair" in output


def test_sound_project_needs_no_repair(bundle):
    before = sorted(Path("results").rglob("*"))
    assert call("repair") == (0, "Nothing to repair.\n")
    assert sorted(Path("results").rglob("*")) == before


def test_repair_removes_only_damaged_results(bundle):
    publish(Path("results/figures/demo/figures.sha256"), {Path("results/figures/demo/a.png"): b"1"})
    bundle.values.write_bytes(b"x")
    code, output = call("repair")
    assert code == 0
    assert str(bundle.values) in output
    assert not bundle.values.exists()
    assert not bundle.checksum.exists()
    assert damaged(Path("results/figures/demo/figures.sha256")) == []
    assert call("repair") == (0, "Nothing to repair.\n")


@pytest.mark.parametrize(
    "results",
    [
        "/",
        "..",
        "../..",
        ".",
        ".git",
        "src",
        "config/mine",
        "data",
        "SRC",
        "a/../../b",
        "",
        "{paper}",
        3,
        ["a"],
    ],
    ids=str,
)
def test_results_are_refused_in_foreign_folders(project, tmp_path, results):
    (project / "config/config.yaml").write_text(
        CONFIG.replace("results: results", f"results: {json.dumps(results)}")
    )
    foreign = {}
    for parent in (project, project / ".git", project / "src", project / "data", project / "config/mine"):
        for name in (".letter.tmp", "mine.sha256", "runs/a/b/c.cells.parquet", "runs/a/b/c.sha256"):
            foreign[parent / name] = b"precious"
    for path, content in foreign.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for command in ("repair", "check"):
        code, output = call(command)
        assert code == 1
        assert output.startswith("Error: config")
        assert output.count("\n") == 1
    assert "results/mine" in call("repair")[1]
    assert {path: path.read_bytes() for path in foreign} == foreign


@pytest.mark.parametrize(
    "results, says",
    [
        ("x" * 300, "File name too long"),
        ("lost", "lost is a link to nowhere"),
        ("lost/a", "lost is a link to nowhere"),
    ],
)
def test_impossible_results_folder_is_one_line(project, results, says):
    Path("lost").symlink_to("nowhere")
    (project / "config/config.yaml").write_text(CONFIG.replace("results: results", f"results: {results}"))
    for command in ("repair", "check"):
        code, output = call(command)
        assert (code, output.count("\n")) == (1, 1)
        assert output.startswith("Error: config") and "results: " in output and says in output


@pytest.mark.parametrize(
    "command",
    [("new-baseline", "x" * 300, "--task", "sets"), ("check-baseline", f"{'x' * 300}.py:A"), ("check",)],
    ids=lambda command: command[0],
)
def test_system_error_is_one_line(project, command):
    (project / "config/config.yaml").write_text(CONFIG + f"own: {'x' * 300}\n")
    code, output = call(*command)
    assert code == 1
    assert output.startswith("Error: ") and "x" * 300 in output
    assert output.endswith(": File name too long.\n") and output.count("\n") == 1


def test_repair_fails_for_removal_by_hand(bundle):
    bundle.values.unlink()
    bundle.values.mkdir()
    code, output = call("repair")
    assert code == 1
    assert f"left {bundle.values}: a folder stands where a file belongs" in output
    assert bundle.values.is_dir()


def test_repair_refuses_during_a_run(bundle):
    leftover = bundle.cells.with_name(".local.cells.parquet.host-12-0a1b2c3d.tmp")
    leftover.write_bytes(b"being written")
    Path(".snakemake").mkdir()
    with FileLock(".snakemake/shuffledp.lock"):
        code, output = call("repair")
    assert code == 1
    assert "A run is in progress" in output
    assert leftover.exists()


def test_help_loads_nothing_heavy():
    script = """
import sys
from click.testing import CliRunner
from shuffledp import cli
assert CliRunner().invoke(cli.main, ["--help"]).exit_code == 0
heavy = {"numpy", "pandas", "pyarrow", "pydantic", "scipy", "yaml", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", script], check=True)


# -- account -----------------------------------------------------------------------------------------------------------


def account(*words):
    return invoked("account", *" ".join(words).split())


def test_account_refuses_numbers_beyond_floats():
    found = account("--eps 1e308 --users 1000 --delta 1e-6")
    assert found.exit_code == 1
    assert found.output.startswith("Error: budget(eps=1e+308") and found.output.count("\n") == 1
    assert "is beyond what can be evaluated in double precision" in found.output
    found = account("--eps-local 1 --users 9007199254740993 --delta 1e-6")  # a float takes it for 2^53
    assert "users must be an integer in [1, 2^53], got 9007199254740993" in found.output


@pytest.mark.parametrize(
    "words, message",
    [
        ("--batches 100 --delta 1e-6", "batches must be STEPS:SIGMA or STEPS:SIGMA:EPOCHS"),
        ("--batches 100:2:1:1 --delta 1e-6", "batches must be STEPS:SIGMA or STEPS:SIGMA:EPOCHS"),
        ("--batches 100:0.01 --delta 1e-6", "sigma must be in [0.1, 1e6], got 0.01."),
        (
            "--batches 100:2 --delta 1e-6 --rounds 1",
            "--batches cannot be combined with other options than --delta",
        ),
        ("--eps-local 4 --delta 1e-6", "Give exactly two of --eps-local, --eps and --users"),
        (
            "--eps-local 4 --users abc --delta 1e-6",
            "--users must be an integer of at least 1, such as 30k or 3e4, got 'abc'.",
        ),
        ("--eps-local 4 --users 9 --delta tiny", "--delta must be a number in (0, 1), got 'tiny'."),
        ("--eps-local 4 --users 9", "Missing option '--delta'."),
        ("--round 1:x --delta 1e-6", "round must be EPS_LOCAL:USERS or EPS_LOCAL:USERS:COUNT"),
        ("--round 1:0 --delta 1e-6", "users must be an integer in [1, 2^53], got 0."),
        ("--round 1:9 --users 5 --delta 1e-6", "--round cannot be combined with"),
        ("--users 9 --delta 1e-6", "Give exactly two of --eps-local, --eps and --users"),
        (
            "--eps-local 4 --eps 1 --users 9 --delta 1e-6",
            "Give exactly two of --eps-local, --eps and --users",
        ),
        ("--eps-local 4 --population poisson --delta 1e-6", "population must be poisson:MEAN"),
        ("--eps-local 100 --eps 1e-6 --delta 1e-6", "More than 2^53 users would be needed"),
        ("--eps-local 4 --users 9 --delta nan", "delta must be in (0, 1), got nan."),
        ("--eps-local 1e400 --users 9 --delta 1e-6", "eps_local must be a positive finite number, got inf."),
        (
            "--eps-local 4 --eps 1 --population poisson --delta 1e-6 --curves",
            "--curves needs --eps-local or --eps alone if --population is given.",
        ),
    ],
)
def test_account_says_mistakes_in_one_line(words, message):
    found = account(words)
    assert found.exit_code == 1
    assert found.output.startswith("Error: ")
    assert message in found.output
    assert found.output.count("\n") == 1
