# ruff: noqa: E501  (one case per line)
import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts_by_file import ROOT
from shuffledp.pipeline import datasets
from shuffledp.pipeline.config import ConfigurationError, grammar as model, merged
from shuffledp.pipeline.config.baselines import read_baselines
from shuffledp.pipeline.config.folders import results_problem
from shuffledp.pipeline.datasets.prepared import columns_of
from shuffledp.pipeline.experiments import runner
from shuffledp.pipeline.experiments.sources import COLUMNS, OWN, SYNTHETIC
from shuffledp.pipeline.learning import TrainingPlan
from shuffledp.protocols import registry

PAPER, RUN = "config/experiments/demo.yaml", "config/config.yaml"
COINS = "config/experiments/demo.yaml: experiments.coins"


# (text in the file, what replaces it, start of the message behind the file, what else the message says)
BROKEN_PAPER = {
    # numbers
    "eps zero": ("eps: $eps", "eps: 0", "experiments.coins.budget.eps:", "greater than 0, got 0."),
    "delta as text": ("1.0e-5", "1e-5", "experiments.coins.budget.delta:", "'1e-5' (YAML reads it as text): write 1.0e-5."),
    "delta boolean": ("1.0e-5", "yes", "experiments.coins.budget.delta:", "a valid number, got True (YAML reads yes"),
    "repeats decimal": ("repeats: 20", "repeats: 20.0", "experiments.coins.repeats:", "got 20.0: write 20."),
    "eps whose exponential is no number": ("eps: $eps", "eps: 1.0e+308", "experiments.coins.budget.eps:", "less than or equal to 700, got 1e+308."),
    "flag of an argument": ("eps_local: 0.5", "eps_local: 0.5, adaptive: 'no'", "experiments.curve.methods.moments.arguments:", "adaptive must be True or False, got 'no'."),
    "count of an argument below its range": ("eps_local: 0.5", "eps_local: 0.5, dummies: -3", "experiments.curve.methods.moments.arguments:", "dummies must be an integer in [0, 2^53], got -3."),
    # populations, tasks, data
    "law without its keys": ("trials: 2000, ", "", "experiments.coins.population:", "lacks the key 'trials'."),
    "law without a name": ("law: binomial", "law:", "experiments.coins.population.law:", "None is not one of binomial, poisson, empirical, sub_gaussian, sub_exponential, moment_bounded."),
    "unknown key beside users": ("law: binomial, trials: 2000", "users: $eps", "experiments.coins.population:", "unknown key 'rate'. Known: users."),
    "neither users nor law": ("law: binomial, ", "", "experiments.coins.population:", "lacks the key 'law'."),
    "pmf does not sum to one": ("law: binomial, trials: 2000, rate: $rate", "law: empirical, pmf: [0.5, $rate]", "experiments.coins.population:", "pmf must sum to 1, got 0.6"),
    "weights do not sum to one": ("0.25, 0.75", "0.25, 0.7", "experiments.coins.data:", "sum to 1, got 2 that sum to 0.95"),
    "weights of another domain": ("domain_size: 2", "domain_size: 3", "experiments.coins.data:", "weights must be 3 numbers (domain_size)"),
    "unknown column": ("name: categorical, weights: [0.25, 0.75]", "name: adult, column: sexe", "experiments.coins.data.column:", "Did you mean 'sex'?"),
    "task lacks its key": ("domain_size: 2, ", "", "experiments.coins.task:", "lacks the key 'domain_size'."),
    "unknown metric": ("metrics: [mse]", "metrics: [l1]", "experiments.coins.task.metrics:", "'l1' is not a metric of a frequency task"),
    # grids
    "misspelt variable": ("rate: $rate", "rate: $ratte", "experiments.coins.population.rate:", "$ratte is not a grid variable. Did you mean '$rate'?"),
    "evaluated rounds of no name": ("[0.1, 0.5, 1.0]", "{evaluated: [run]}", "experiments.coins.grid.eps.evaluated:", "no training run ['run']"),
    "grid value out of range": ("rate: [0.1, 0.5]", "rate: [0.1, 1.5]", "experiments.coins.grid.rate[1]:", "less than or equal to 1, got 1.5."),
    "empty grid": ("rate: [0.1, 0.5]", "rate: []", "experiments.coins.grid.rate:", "at least 1 item"),
    "grid value twice": ("rate: [0.1, 0.5]", "rate: [0.1, 0.1]", "experiments.coins.grid.rate:", "has a value twice"),
    "unused grid variable": ("rate: $rate", "rate: 0.1", "experiments.coins.grid.rate:", "no method refers to $rate."),
    "grid variable named as a column": ("      variance: [0, 100]", "      variance: [0, 100]\n      status: [1]", "experiments.curve.grid:", "'status' is a column of every result"),
    # methods
    "unknown protocol": ("local: {}", "locale: {}", "experiments.coins.methods.locale:", "Did you mean 'local'?"),
    "protocol and function": ("local: {}", "local: {protocol: local, function: clone_rate}", "experiments.coins.methods.local:", "give either protocol or function, not both."),
    "arguments of a protocol": ("local: {}", "local: {arguments: {a: 1}}", "experiments.coins.methods.local:", "'arguments' belongs to a method with a function."),
    "unknown function": ("function: amplified_epsilon", "function: amplified_epsilom", "experiments.curve.methods.moments.function:", "Did you mean 'amplified_epsilon'?"),
    "function that is for Python only": ("function: amplified_epsilon", "function: rappor_mse", "experiments.curve.methods.moments.function:", "may be named here. Did you mean"),
    "unknown argument": ("eps_local: 0.5", "eps_locall: 0.5", "experiments.curve.methods.moments.arguments:", "unknown key 'eps_locall'. Did you mean 'eps_local'?"),
    "missing argument": ("eps_local: 0.5, ", "", "experiments.curve.methods.moments.arguments:", "lacks the key 'eps_local'."),
    "unoffered accounting": ("local: {}", "local: {accounting: [corrected]}", "experiments.coins.methods.local.accounting:", "'corrected' is not offered by 'local'. It offers: printed, exact."),
    "no common accounting": ("accounting: [printed, exact]", "accounting: [simplified]", "experiments.coins.methods.local:", "offers none of simplified."),
    "option out of its range": ("local: {}", "fake_users: {options: {kappa: $rate}}", "experiments.coins.methods.fake_users.options:", "kappa must be an integer in [1, 2^53], got 0.1."),
    "no budget": ("    budget: {eps: $eps, delta: 1.0e-5}\n", "", "experiments.coins.methods.local:", "needs the experiment's 'budget'"),
    "budget without delta": (", delta: 1.0e-5}", "}", "experiments.coins.methods.local: budget:", "either delta or delta_times_users"),
    "privacy levels that fall": ("eps: $eps", "eps: [2, $eps]", "experiments.coins.methods.local: budget:", "must increase"),
    "missing plug-in file": ("local: {}", "x: {protocol: 'gone.py:Mine'}", "experiments.coins.methods.x:", "there is no file"),
    "missing class": ("local: {}", "x: {protocol: 'mine.py:Yours'}", "experiments.coins.methods.x:", "defines no class 'Yours'. It defines: Mine."),
    # figures and tables
    "figure of an unknown experiment": ("experiment: coins\n    x", "experiment: coin\n    x", "figures.fig1.experiment:", "no experiment 'coin'. Known: coins, curve."),
    "figure over an unknown axis": ("panels: rate", "panels: ratte", "figures.fig1:", "'ratte' is not a grid variable. Did you mean 'rate'?"),
    "figure of an unknown quantity": ("y: mse", "y: mze", "figures.fig1.y:", "no quantity 'mze'"),
    "both accountings of one": ("accounting: [printed, exact]", "accounting: [exact]", "figures.fig1.files:", "needs printed and exact numbers"),
    "panels of a front": ("    files: accounting\n", "    kind: pareto\n", "figures.fig1:", "unknown key 'panels'. Known: caption, controls"),
    "methods over nothing": ("    panels: rate\n    files: accounting\n", "    kind: methods\n", "figures.fig1:", "lacks the key 'over'."),
    "front by an error": ("    x: eps\n    y: mse\n    panels: rate\n    files: accounting\n", "    kind: pareto\n    x: mse\n    y: mse\n", "figures.fig1:", "the cost must be a number of the cells, got 'mse'."),
    "control that is not drawn": ("    panels: rate\n    files: accounting\n", "    kind: pareto\n    controls: [locale]\n", "figures.fig1.controls:", "no method 'locale' is drawn. Did you mean 'local'?"),
    "simulated at no variable": ("repeats: 20", "repeats: 20\n    simulated_at: {ratte: [0.5]}", "experiments.coins.simulated_at:", "'ratte' is not a grid variable. Did you mean 'rate'?"),
    "simulated at no value": ("repeats: 20", "repeats: 20\n    simulated_at: {rate: [0.7]}", "experiments.coins.simulated_at.rate:", "none of 0.7 is in the grid. Known: 0.1, 0.5."),
    "curves over each other": ("    panels: rate\n", "", "figures.fig1:", "'rate' has 2 values, which would be drawn over each other"),
    "where picks several": ("panels: rate", "where: {rate: [0.1, 0.5]}", "figures.fig1.where.rate:", "[0.1, 0.5] is a list, and where takes one value. Known: 0.1, 0.5."),
    "where picks nothing": ("panels: rate", "where: {rate: 0.2}", "figures.fig1.where.rate:", "0.2 is not computed. Known: 0.1, 0.5."),
    "points with panels in a figure without": ("panels: rate", "curves: rate\n    methods: [local]\n    points: {claims: readings, x: a, y: b, panels: c}", "figures.fig1.points.panels:", "the figure has no panels"),
    "bad number format": ("value: eps_local", "value: eps_local\n    format: '.4q'", "tables.budgets.format:", "must be a point, a digit, and f or g, such as .4g, got '.4q'."),
    "format with a width": ("value: eps_local", "value: eps_local\n    format: '9.2f'", "tables.budgets.format:", "got '9.2f'"),
    "format of no digits": ("value: eps_local", "value: eps_local\n    format: '.0g'", "tables.budgets.format:", "got '.0g'"),
    "panel label without its value": ("panels: rate", "panels: rate\n    panel_label: rate", "figures.fig1.panel_label:", "must contain {} once for the value of a panel, and no other braces, got 'rate'."),
    "panel label with a format": ("panels: rate", "panels: rate\n    panel_label: '{:g}'", "figures.fig1.panel_label:", "got '{:g}'"),
    "panel label that is no format": ("panels: rate", "panels: rate\n    panel_label: '{'", "figures.fig1.panel_label:", "got '{'"),
    "table with two numbers in a cell": ("rows: [rate, eps]", "rows: [eps]", "tables.budgets:", "'rate' has 2 values"),
    "heading of no axis": ("value: eps_local", "value: eps_local\n    headings: {ratte: r}", "tables.budgets:", "headings: 'ratte' is neither a row nor a column. Did you mean 'rate'?"),
    "heading of rows with a place for a value": ("value: eps_local", "value: eps_local\n    headings: {rate: 'rate {}'}", "tables.budgets:", "headings.rate: must contain {} for the value of a column and must not for a row, got 'rate {}'"),
    "heading that is no format": ("value: eps_local", "value: eps_local\n    headings: {method: '{'}", "tables.budgets:", "'{' is not a format"),
    "figure and table of one name": ("  budgets:", "  fig2:", "tables.fig2:", "a figure or table has this name already."),
    "caption with a path": ("caption: fig1.rst", "caption: ../fig1.rst", "figures.fig1.caption:", "must match pattern"),
}  # fmt: skip
BROKEN_RUN = {
    "repeats of an override": ("overrides: {}", "overrides: {demo.coins: {repeats: 1000000000000}}", "config: overrides.demo.coins.repeats:", "less than or equal to 1000000, got"),
    "results that would be a pattern": ("results: results", "results: '{paper}'", "config: results:", "'{paper}', expected a folder of its own"),
    "unknown key of the run": ("seed: 7", "seed: 7\nsed: 8", "config:", "unknown key 'sed'. Did you mean 'seed'?"),
    "no png": ("formats: [png]", "formats: [svg]", "config: formats:", "must contain 'png'"),
    "override of an unknown experiment": ("overrides: {}", "overrides: {demo.coin: {repeats: 1}}", "config: overrides.demo.coin:", "Did you mean 'demo.coins'?"),
    "override of an unknown variable": ("overrides: {}", "overrides: {demo.coins: {grid: {epss: [1.0]}}}", "config: overrides.demo.coins.grid:", "no grid variable 'epss'. Did you mean 'eps'? Known: rate, eps."),
}  # fmt: skip


@pytest.mark.parametrize("case", [*BROKEN_PAPER, *BROKEN_RUN])
def test_broken_configuration_is_one_line(project, case):
    of_paper = case in BROKEN_PAPER
    old, new, start, says = BROKEN_PAPER[case] if of_paper else BROKEN_RUN[case]
    project.change(PAPER if of_paper else RUN, old, new)
    with pytest.raises(ConfigurationError) as caught:
        project.settings()
    (message,) = (line.replace(f"{project.root}/", "") for line in caught.value.lines)
    assert message.startswith(f"{PAPER}: {start} " if of_paper else f"{start} ")
    assert says in message


def test_all_mistakes_are_reported_together(project):
    for file, text in (("other", (project.root / PAPER).read_text()), ("demo", None)):
        if text:
            project.write(f"config/experiments/{file}.yaml", text)
        place = f"config/experiments/{file}.yaml"
        project.change(place, "repeats: 20", "repeats: 0")
        project.change(place, "delta: 1.0e-5", "delta: 2")
        project.change(place, "rate: [0.1, 0.5]", "rate: [0.1, 1.5, -1]")
    with pytest.raises(ConfigurationError) as caught:
        project.settings(papers=["demo", "other"])
    assert [line.partition(": must")[0] for line in caught.value.lines] == [
        f"config/experiments/{file}.yaml: experiments.coins.{place}"
        for file in ("demo", "other")
        for place in ("grid.rate[1]", "budget.delta", "repeats")
    ]


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "must be a mapping, got None."),
        (b"[1, 2]", "must be a mapping, got [1, 2]."),
        (b"experiments: [a]", "needs either the key 'paper' or the key 'study', and not both."),
        (
            b"paper: {title: a, citation: b}\nstudy: {title: a, citation: b}\nexperiments: {}",
            "needs either the key 'paper' or the key 'study', and not both.",
        ),
        (
            b"study: {title: a, citation: b, doi: 10.1/a}\nexperiments: {a: {grid: {}, methods: {m: {}}}}",
            "study: unknown key 'doi'.",
        ),
        (
            b"paper: {title: a, citation: b}\nexperiments: {}",
            "experiments: Dictionary must have at least 1 item",
        ),
        (b"paper: {title: a, citation: b}\nexperiments: {x: 3}", "experiments.x: must be a mapping, got 3."),
        (b"paper: 1\npaper: 2\n", f"{PAPER}, line 2: the key 'paper' is given twice."),
        (b"title: \xff\xfe", "cannot be read as YAML"),
        (b"title: a\x00", "cannot be read as YAML"),
    ],
)
def test_malformed_paper_is_one_line(project, content, says):
    project.write(PAPER, content)
    said = project.mistake()
    assert says in said
    assert PAPER in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "changed",
    [{"papers": [3000 * "x"]}, {3000 * "x": 1}, {"overrides": {"demo.coins": {"grid": {3000 * "x": [1]}}}}],
)
def test_long_names_are_cut(project, changed):
    assert len(project.mistake(**changed)) < 600


@pytest.mark.parametrize("content", [b"", b"- 1", b"experiments: [coins]", b"experiments: {coins: 3}"])
def test_overridden_broken_paper_is_one_line(project, content):
    project.write(PAPER, content)
    project.mistake(overrides={"demo.coins": {"repeats": 2, "grid": {}}})


@pytest.mark.parametrize(
    "source, says",
    [
        ("class Mine(:\n", "line 1: invalid syntax"),
        (
            "class Mine: pass\nraise RuntimeError('two\\nlines')",
            "cannot be imported: RuntimeError: two lines",
        ),
        ("class Mine: pass\nimport no_such_module", "cannot be imported: ModuleNotFoundError"),
        ("class Mine: pass\nimport sys; sys.exit('bye')", "cannot be imported: SystemExit: bye"),
        ("class Mine: pass\n", "is not a subclass"),
    ],
)
def test_a_broken_plugin_is_one_line(project, source, says):
    project.write("mine.py", source)
    project.change(PAPER, "local: {}", "mine: {protocol: 'mine.py:Mine'}")
    said = project.mistake()
    assert says in said
    assert said.startswith(f"{COINS}.methods.mine: ")
    assert "\n" not in said


def test_plugin_with_open_options_is_accepted(project):
    text = (project.root / "mine.py").read_text()
    project.write(
        "mine.py", text.replace("budget, population, task, *, ", "b, p, t, *rest, ").replace("beta=0.5", "**options")
        .replace("budget, population, task, ", "b, p, t, "),
    )  # fmt: skip
    project.change(PAPER, "local: {}", "mine: {protocol: 'mine.py:Mine', options: {anything: 3}}")
    assert "mine" in project.settings().papers["demo"].experiments["coins"].methods


def test_installed_protocol_is_a_method(project, monkeypatch):
    project.write("mine-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    project.write("mine-1.dist-info/entry_points.txt", "[shuffledp.protocols]\nfrequency.mine = mine:Mine\n")
    project.change(PAPER, "local: {}", "mine: {options: {beta: 0.25}}")
    monkeypatch.syspath_prepend(project.root)
    registry._installed.cache_clear()
    try:
        settings = project.settings()
        job = settings.papers["demo"].experiments["coins"].job("mine", settings.seed)
        done = runner.run(job, prepared=project.root, root=project.root)
    finally:
        registry._installed.cache_clear()
        sys.modules.pop("mine", None)
    assert {cell["label"] for cell in done.cells.to_pylist()} == {"MINE"}
    assert {cell["status"] for cell in done.cells.to_pylist()} == {"ok"}


BASELINE = "config/baselines/mine.yaml"


@pytest.mark.parametrize(
    "content, place, says",
    [
        ("methods: {}", "methods:", "Dictionary must have at least 1 item"),
        ("methods: {local: {}}", "methods.local:", "a method of this name already"),
        ("methods: {m: {protocol: nope}}", "methods.m (for demo.coins):", "No frequency protocol"),
        ("methods: {m: {protocol: 'mine.py:Mine', options: {beta: $betta}}}", "methods.m", "$betta is not"),
        ("methods: {m: {protocol: 'mine.py:Mine', budget: {eps: $epps}}}", "methods.m", "Did you mean '$eps'"),
        ("methods: {m: {protocol: 'mine.py:Mine', budget: {delta: $eps}}}", "methods.m", "grid.eps[2]: must be less than 1, got 1.0"),
        ("methods: {m: {protocol: 'mine.py:Mine'}}\nfigures: [demo.fig9]", "figures:", "no figure 'demo.fig9'"),
        ("methods: {m: {protocol: 'mine.py:Mine'}}\nfigures: every", "figures:", "must be 'all', got 'every'"),
        ("methods: {m: {protocol: 'mine.py:Mine'}}\nfigures: [fig1]", "figures[0]:", "String must match pattern"),
    ],
)  # fmt: skip
def test_broken_baseline_names_its_file(project, content, place, says):
    project.write(BASELINE, f"task: frequency\n{content}\n")
    said = project.mistake()
    assert says in said
    assert said.startswith(f"{BASELINE}: {place}")


def test_baseline_joins_all_or_named_drawings(project):
    line = "task: frequency\nmethods: {m: {protocol: 'mine.py:Mine', budget: {eps: $eps}}}\n"
    project.write(BASELINE, line)
    paper = project.settings().papers["demo"]
    assert paper.figures["fig1"].methods == paper.tables["budgets"].methods == ["local", "amplified", "m"]
    assert paper.figures["fig2"].methods == ["moments"]
    project.write(BASELINE, f"{line}figures: [demo.budgets]\n")
    paper = project.settings().papers["demo"]
    assert paper.figures["fig1"].methods == ["local", "amplified"]
    assert paper.tables["budgets"].methods == ["local", "amplified", "m"]


def test_baselines_with_one_id_clash(project):
    for name in ("a", "b"):
        project.write(f"config/baselines/{name}.yaml", "task: frequency\nmethods: {m: {protocol: local}}\n")
    with pytest.raises(ConfigurationError, match=r"^config/baselines/b.yaml: methods.m: .*already"):
        project.settings()


def test_job_has_only_needed_variables(project):
    project.change(PAPER, "local: {}", "local: {budget: {eps: 2.0}}")
    coins = project.settings().papers["demo"].experiments["coins"]
    assert list(coins.job("local", 7).grid) == ["rate"]
    assert len(list(coins.job("local", 7).cells())) == 2 * 2
    assert list(coins.job("amplified", 7).grid) == ["rate", "eps"]


def test_overrides_mark_only_their_paper(project):
    project.write("config/experiments/other.yaml", (project.root / PAPER).read_text())
    over = {"demo.coins": {"repeats": 3, "grid": {"eps": [0.2]}}}
    settings = project.settings(papers=["demo", "other"], overrides=over)
    coins = settings.papers["demo"].experiments["coins"]
    assert (coins.repeats, coins.grid) == (3, {"rate": [0.1, 0.5], "eps": [0.2]})
    assert settings.papers["other"].experiments["coins"].repeats == 20
    assert settings.shortened == {"demo"}


def test_configfiles_are_merged_like_snakemake():
    from snakemake.utils import update_config

    base = {"a": 1, "d": {"x": 1, "y": {"z": 1}}, "l": [1, 2]}
    over = {"d": {"y": {"w": 2}}, "l": [3], "a": {"n": 1}, "new": {"k": 0}}
    expected = yaml.safe_load(yaml.safe_dump({k: v for k, v in base.items() if k != "a"}))
    update_config(expected, {k: v for k, v in over.items() if k != "a"})
    assert merged(base, over) == expected | {"a": {"n": 1}}
    assert base["d"] == {"x": 1, "y": {"z": 1}}


def test_the_grammar_knows_every_data_set():
    assert set(model.DATA) == {*datasets.NAMES, *SYNTHETIC, OWN}
    assert set(COLUMNS) == set(datasets.NAMES)
    for name in datasets.NAMES:
        assert set(columns_of(name)) <= set(COLUMNS[name])


@pytest.mark.parametrize("part", [model.Population, model.Task, model.Data])
def test_part_has_keys_of_its_kinds(part):
    """The laws, the tasks and the sources of data determine the keys, and the grammar their ranges."""
    kinds = {key for _, known in part.kinds.values() for key in known}
    assert kinds | {"users"} == {*part.model_fields, "users"} - {part.by}


def test_training_run_has_plan_arguments():
    plan = set(inspect.signature(TrainingPlan).parameters) - {"seed"}
    assert set(model.TrainingRun.model_fields) - {"data", "seeds"} == plan


@pytest.mark.parametrize("key", ["label", "options", "budget", "accounting", "arguments"])
def test_key_without_value_is_a_mistake(project, key):
    project.change(PAPER, "local: {}", f"local: {{{key}: }}")
    with pytest.raises(ConfigurationError, match=rf"methods\.local\.{key}: must be .*, got None\."):
        project.settings()


def test_method_runs_without_the_configuration():
    """A run starts such a process for every experiment."""
    script = "import sys, shuffledp.pipeline.experiments.runner; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"pydantic", "yaml", "shuffledp.pipeline.config"} & set(done.stdout.split())


def test_workflow_starts_with_light_imports():
    """Every start of the workflow, even a dry run, begins with these imports."""
    tree = ast.parse((ROOT / "workflow/rules/common.smk").read_text(encoding="utf-8"))
    imports = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert "from shuffledp.pipeline.figures.selection import load_settings" in imports
    script = "\n".join([*imports, "import sys", "print(*sys.modules)"])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"matplotlib", "pandas", "requests", "docutils"} & set(done.stdout.split())


def test_project_folders_are_closed_to_results():
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert all(results_problem(f"{name}/mine", ROOT) for name in folders - {"results"})
    assert all(results_problem(name, ROOT) is None for name in ("results", "results/quick", "output"))


def test_results_may_link_outside_the_project(tmp_path):
    home, away = tmp_path / "home", tmp_path / "away"
    for folder in (home / "src", away):
        folder.mkdir(parents=True)
    (home / "file").write_text("")
    for name, target in {"a": away, "b": home / "src", "c": home, "d": tmp_path, "e": Path("/")}.items():
        (home / name).symlink_to(target)
    assert results_problem("a", home) is None
    for name in "bcde":
        assert "is a link to" in results_problem(name, home)
    assert "is a file" in results_problem("file", home)
    assert results_problem(str(home / "mine"), home) is None
    assert results_problem(str(away), home)


@pytest.mark.parametrize(
    "values, says",
    [([0.5, None], r"\[1\]: must be a number"), ([10**400], r"\[0\]: must be a finite number of at most")],
)
def test_bad_override_grid_is_located(project, values, says):
    with pytest.raises(ConfigurationError, match=rf"^config: overrides\.demo\.coins\.grid\.eps{says}"):
        project.settings(overrides={"demo.coins": {"grid": {"eps": values}}})


def _with_a_where(project):
    project.change(PAPER, "    value: eps_local\n", "    value: eps_local\n    where: {eps: 0.5}\n")
    project.change(PAPER, "rows: [rate, eps]", "rows: [rate]")


def _with_a_domain(project):
    project.change(PAPER, "domain_size: 2", "domain_size: $k")
    project.change(PAPER, "    grid:\n      rate:", "    grid:\n      k: [2]\n      rate:")


@pytest.mark.parametrize(
    "prepare, grid, place",
    [
        (_with_a_domain, {"k": [3]}, f"{COINS}.data: "),
        (_with_a_where, {"eps": [0.1]}, f"{PAPER}: tables.budgets"),
    ],
)
def test_wrong_override_names_file_and_override(project, prepare, grid, place):
    prepare(project)
    assert project.settings(overrides={"demo.curve": {"repeats": 1}}).papers
    said = project.mistake(overrides={"demo.coins": {"grid": grid}, "demo.curve": {"repeats": 1}})
    assert said.startswith(place)
    assert said.endswith("(with config: overrides.demo.coins merged in)")


def test_without_an_override_none_is_named(project):
    project.change(PAPER, "weights: [0.25, 0.75]", "weights: [0.25, 0.25, 0.5]")
    assert "merged in" not in project.mistake(overrides={"demo.curve": {"repeats": 1}})


def test_configuration_folder_has_no_baselines(project):
    with pytest.raises(
        ConfigurationError,
        match=r"^config: baselines: must be a folder of files that add methods, and config has",
    ):
        read_baselines(Path("config"), project.root)


@pytest.mark.parametrize(
    "added, message",
    [
        ("demo.coins: {after: local, methods: {jump_counts: {}}}", ""),
        ("other.coins: {after: local, methods: {jump_counts: {}}}", ""),
        (
            "demo.coins: {after: lokal, methods: {jump_counts: {}}}",
            "demo.coins: config/experiments/demo.yaml has no method 'lokal' there.",
        ),
        (
            "demo.coin: {after: local, methods: {jump_counts: {}}}",
            "demo.coin: config/experiments/demo.yaml has no method 'local' there.",
        ),
        ("demo.coins: {methods: {jump_counts: {}}}", "demo.coins: lacks the key 'after'."),
    ],
)
def test_designs_join_experiments_behind_a_method(project, added, message):
    project.write("config/designs.yaml", added)
    if message:
        with pytest.raises(ConfigurationError, match=f"^{re.escape(f'config/designs.yaml: {message}')}"):
            project.settings()
        return
    joined = ["jump_counts"] if added.startswith("demo") else []
    methods = project.settings().papers["demo"].experiments["coins"].methods
    assert list(methods) == ["local", *joined, "amplified"]
    assert not any(method.added for method in methods.values())
