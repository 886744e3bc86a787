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
from shuffledp.pipeline.config import ConfigurationError, grammar as model, merged, read_yaml
from shuffledp.pipeline.config.baselines import read_baselines
from shuffledp.pipeline.config.folders import results_problem
from shuffledp.pipeline.datasets.prepared import columns_of
from shuffledp.pipeline.experiments import runner
from shuffledp.pipeline.experiments.sources import COLUMNS, OWN, SYNTHETIC
from shuffledp.pipeline.learning import TrainingPlan
from shuffledp.protocols import registry

PAPER, RUN = "config/experiments/demo.yaml", "config/config.yaml"
COINS = "config/experiments/demo.yaml: experiments.coins"
CURVE = "config/experiments/demo.yaml: experiments.curve"


def test_the_unbroken_configuration_is_accepted(project):
    paper = project.settings().papers["demo"]
    assert list(paper.experiments["coins"].methods) == ["local", "amplified"]
    assert paper.figures["fig1"].methods == ["local", "amplified"]


# (file, text in it, what replaces it, start of the message, what else the message says)
BROKEN = {
    # numbers
    "eps zero": (PAPER, "eps: $eps", "eps: 0", f"{COINS}.budget.eps:", "greater than 0, got 0."),
    "delta as text": (PAPER, "1.0e-5", "1e-5", f"{COINS}.budget.delta:", "'1e-5' (YAML reads it as text): write 1.0e-5."),
    "delta boolean": (PAPER, "1.0e-5", "yes", f"{COINS}.budget.delta:", "a valid number, got True (YAML reads yes"),
    "repeats decimal": (PAPER, "repeats: 20", "repeats: 20.0", f"{COINS}.repeats:", "got 20.0: write 20."),
    "repeats of an override": (RUN, "overrides: {}", "overrides: {demo.coins: {repeats: 1000000000000}}", "config: overrides.demo.coins.repeats:", "less than or equal to 1000000, got"),
    "eps whose exponential is no number": (PAPER, "eps: $eps", "eps: 1.0e+308", f"{COINS}.budget.eps:", "less than or equal to 700, got 1e+308."),
    "flag of an argument": (PAPER, "eps_local: 0.5", "eps_local: 0.5, adaptive: 'no'", f"{CURVE}.methods.moments.arguments:", "adaptive must be True or False, got 'no'."),
    "count of an argument below its range": (PAPER, "eps_local: 0.5", "eps_local: 0.5, dummies: -3", f"{CURVE}.methods.moments.arguments:", "dummies must be an integer in [0, 2^53], got -3."),
    "results that would be a pattern": (RUN, "results: results", "results: '{paper}'", "config: results:", "'{paper}', expected a folder of its own"),
    # populations, tasks, data
    "law without its keys": (PAPER, "trials: 2000, ", "", f"{COINS}.population:", "lacks the key 'trials'."),
    "law without a name": (PAPER, "law: binomial", "law:", f"{COINS}.population.law:", "None is not one of binomial, poisson, empirical, sub_gaussian, sub_exponential, moment_bounded."),
    "unknown key beside users": (PAPER, "law: binomial, trials: 2000", "users: $eps", f"{COINS}.population:", "unknown key 'rate'. Known: users."),
    "neither users nor law": (PAPER, "law: binomial, ", "", f"{COINS}.population:", "lacks the key 'law'."),
    "pmf does not sum to one": (PAPER, "law: binomial, trials: 2000, rate: $rate", "law: empirical, pmf: [0.5, $rate]", f"{COINS}.population:", "pmf must sum to 1, got 0.6"),
    "weights do not sum to one": (PAPER, "0.25, 0.75", "0.25, 0.7", f"{COINS}.data:", "sum to 1, got 2 that sum to 0.95"),
    "weights of another domain": (PAPER, "domain_size: 2", "domain_size: 3", f"{COINS}.data:", "weights must be 3 numbers (domain_size)"),
    "unknown column": (PAPER, "name: categorical, weights: [0.25, 0.75]", "name: adult, column: sexe", f"{COINS}.data.column:", "Did you mean 'sex'?"),
    "task lacks its key": (PAPER, "domain_size: 2, ", "", f"{COINS}.task:", "lacks the key 'domain_size'."),
    "unknown metric": (PAPER, "metrics: [mse]", "metrics: [l1]", f"{COINS}.task.metrics:", "'l1' is not a metric of a frequency task"),
    # grids
    "misspelt variable": (PAPER, "rate: $rate", "rate: $ratte", f"{COINS}.population.rate:", "$ratte is not a grid variable. Did you mean '$rate'?"),
    "evaluated rounds of no name": (PAPER, "[0.1, 0.5, 1.0]", "{evaluated: [run]}", f"{COINS}.grid.eps.evaluated:", "no training run ['run']"),
    "grid value out of range": (PAPER, "rate: [0.1, 0.5]", "rate: [0.1, 1.5]", f"{COINS}.grid.rate[1]:", "less than or equal to 1, got 1.5."),
    "empty grid": (PAPER, "rate: [0.1, 0.5]", "rate: []", f"{COINS}.grid.rate:", "at least 1 item"),
    "grid value twice": (PAPER, "rate: [0.1, 0.5]", "rate: [0.1, 0.1]", f"{COINS}.grid.rate:", "has a value twice"),
    "unused grid variable": (PAPER, "rate: $rate", "rate: 0.1", f"{COINS}.grid.rate:", "no method refers to $rate."),
    "grid variable named as a column": (PAPER, "      variance: [0, 100]", "      variance: [0, 100]\n      status: [1]", f"{CURVE}.grid:", "'status' is a column of every result"),
    # methods
    "unknown protocol": (PAPER, "local: {}", "locale: {}", f"{COINS}.methods.locale:", "Did you mean 'local'?"),
    "protocol and function": (PAPER, "local: {}", "local: {protocol: local, function: clone_rate}", f"{COINS}.methods.local:", "give either protocol or function, not both."),
    "arguments of a protocol": (PAPER, "local: {}", "local: {arguments: {a: 1}}", f"{COINS}.methods.local:", "'arguments' belongs to a method with a function."),
    "unknown function": (PAPER, "function: amplified_epsilon", "function: amplified_epsilom", f"{CURVE}.methods.moments.function:", "Did you mean 'amplified_epsilon'?"),
    "function that is for Python only": (PAPER, "function: amplified_epsilon", "function: rappor_mse", f"{CURVE}.methods.moments.function:", "may be named here. Did you mean"),
    "unknown argument": (PAPER, "eps_local: 0.5", "eps_locall: 0.5", f"{CURVE}.methods.moments.arguments:", "unknown key 'eps_locall'. Did you mean 'eps_local'?"),
    "missing argument": (PAPER, "eps_local: 0.5, ", "", f"{CURVE}.methods.moments.arguments:", "lacks the key 'eps_local'."),
    "unoffered accounting": (PAPER, "local: {}", "local: {accounting: [corrected]}", f"{COINS}.methods.local.accounting:", "'corrected' is not offered by 'local'. It offers: printed, exact."),
    "no common accounting": (PAPER, "accounting: [printed, exact]", "accounting: [simplified]", f"{COINS}.methods.local:", "offers none of simplified."),
    "option out of its range": (PAPER, "local: {}", "fake_users: {options: {kappa: $rate}}", f"{COINS}.methods.fake_users.options:", "kappa must be an integer in [1, 2^53], got 0.1."),
    "no budget": (PAPER, "    budget: {eps: $eps, delta: 1.0e-5}\n", "", f"{COINS}.methods.local:", "needs the experiment's 'budget'"),
    "budget without delta": (PAPER, ", delta: 1.0e-5}", "}", f"{COINS}.methods.local: budget:", "either delta or delta_times_users"),
    "privacy levels that fall": (PAPER, "eps: $eps", "eps: [2, $eps]", f"{COINS}.methods.local: budget:", "must increase"),
    "missing plug-in file": (PAPER, "local: {}", "x: {protocol: 'gone.py:Mine'}", f"{COINS}.methods.x:", "there is no file"),
    "missing class": (PAPER, "local: {}", "x: {protocol: 'mine.py:Yours'}", f"{COINS}.methods.x:", "defines no class 'Yours'. It defines: Mine."),
    # figures and tables
    "figure of an unknown experiment": (PAPER, "experiment: coins\n    x", "experiment: coin\n    x", "config/experiments/demo.yaml: figures.fig1.experiment:", "no experiment 'coin'. Known: coins, curve."),
    "figure over an unknown axis": (PAPER, "panels: rate", "panels: ratte", "config/experiments/demo.yaml: figures.fig1:", "'ratte' is not a grid variable. Did you mean 'rate'?"),
    "figure of an unknown quantity": (PAPER, "y: mse", "y: mze", "config/experiments/demo.yaml: figures.fig1.y:", "no quantity 'mze'"),
    "both accountings of one": (PAPER, "accounting: [printed, exact]", "accounting: [exact]", "config/experiments/demo.yaml: figures.fig1.files:", "needs printed and exact numbers"),
    "panels of a front": (PAPER, "    files: accounting\n", "    kind: pareto\n", "config/experiments/demo.yaml: figures.fig1:", "unknown key 'panels'. Known: caption, controls"),
    "methods over nothing": (PAPER, "    panels: rate\n    files: accounting\n", "    kind: methods\n", "config/experiments/demo.yaml: figures.fig1:", "lacks the key 'over'."),
    "front by an error": (PAPER, "    x: eps\n    y: mse\n    panels: rate\n    files: accounting\n", "    kind: pareto\n    x: mse\n    y: mse\n", "config/experiments/demo.yaml: figures.fig1:", "the cost must be a number of the cells, got 'mse'."),
    "control that is not drawn": (PAPER, "    panels: rate\n    files: accounting\n", "    kind: pareto\n    controls: [locale]\n", "config/experiments/demo.yaml: figures.fig1.controls:", "no method 'locale' is drawn. Did you mean 'local'?"),
    "simulated at no variable": (PAPER, "repeats: 20", "repeats: 20\n    simulated_at: {ratte: [0.5]}", f"{COINS}.simulated_at:", "'ratte' is not a grid variable. Did you mean 'rate'?"),
    "simulated at no value": (PAPER, "repeats: 20", "repeats: 20\n    simulated_at: {rate: [0.7]}", f"{COINS}.simulated_at.rate:", "none of 0.7 is in the grid. Known: 0.1, 0.5."),
    "curves over each other": (PAPER, "    panels: rate\n", "", "config/experiments/demo.yaml: figures.fig1:", "'rate' has 2 values, which would be drawn over each other"),
    "where picks several": (PAPER, "panels: rate", "where: {rate: [0.1, 0.5]}", "config/experiments/demo.yaml: figures.fig1.where.rate:", "[0.1, 0.5] is a list, and where takes one value. Known: 0.1, 0.5."),
    "where picks nothing": (PAPER, "panels: rate", "where: {rate: 0.2}", "config/experiments/demo.yaml: figures.fig1.where.rate:", "0.2 is not computed. Known: 0.1, 0.5."),
    "points with panels in a figure without": (PAPER, "panels: rate", "curves: rate\n    methods: [local]\n    points: {claims: readings, x: a, y: b, panels: c}", "config/experiments/demo.yaml: figures.fig1.points.panels:", "the figure has no panels"),
    "bad number format": (PAPER, "value: eps_local", "value: eps_local\n    format: '.4q'", "config/experiments/demo.yaml: tables.budgets.format:", "must be a point, a digit, and f or g, such as .4g, got '.4q'."),
    "format with a width": (PAPER, "value: eps_local", "value: eps_local\n    format: '9.2f'", "config/experiments/demo.yaml: tables.budgets.format:", "got '9.2f'"),
    "format of no digits": (PAPER, "value: eps_local", "value: eps_local\n    format: '.0g'", "config/experiments/demo.yaml: tables.budgets.format:", "got '.0g'"),
    "panel label without its value": (PAPER, "panels: rate", "panels: rate\n    panel_label: rate", "config/experiments/demo.yaml: figures.fig1.panel_label:", "must contain {} once for the value of a panel, and no other braces, got 'rate'."),
    "panel label with a format": (PAPER, "panels: rate", "panels: rate\n    panel_label: '{:g}'", "config/experiments/demo.yaml: figures.fig1.panel_label:", "got '{:g}'"),
    "panel label that is no format": (PAPER, "panels: rate", "panels: rate\n    panel_label: '{'", "config/experiments/demo.yaml: figures.fig1.panel_label:", "got '{'"),
    "table with two numbers in a cell": (PAPER, "rows: [rate, eps]", "rows: [eps]", "config/experiments/demo.yaml: tables.budgets:", "'rate' has 2 values"),
    "heading of no axis": (PAPER, "value: eps_local", "value: eps_local\n    headings: {ratte: r}", "config/experiments/demo.yaml: tables.budgets:", "headings: 'ratte' is neither a row nor a column. Did you mean 'rate'?"),
    "heading of rows with a place for a value": (PAPER, "value: eps_local", "value: eps_local\n    headings: {rate: 'rate {}'}", "config/experiments/demo.yaml: tables.budgets:", "headings.rate: must contain {} for the value of a column and must not for a row, got 'rate {}'"),
    "heading that is no format": (PAPER, "value: eps_local", "value: eps_local\n    headings: {method: '{'}", "config/experiments/demo.yaml: tables.budgets:", "'{' is not a format"),
    "figure and table of one name": (PAPER, "  budgets:", "  fig2:", "config/experiments/demo.yaml: tables.fig2:", "a figure or table has this name already."),
    "caption with a path": (PAPER, "caption: fig1.rst", "caption: ../fig1.rst", "config/experiments/demo.yaml: figures.fig1.caption:", "must match pattern"),
    # files
    "unknown key of the run": (RUN, "seed: 7", "seed: 7\nsed: 8", "config:", "unknown key 'sed'. Did you mean 'seed'?"),
    "no png": (RUN, "formats: [png]", "formats: [svg]", "config: formats:", "must contain 'png'"),
    "override of an unknown experiment": (RUN, "overrides: {}", "overrides: {demo.coin: {repeats: 1}}", "config: overrides.demo.coin:", "Did you mean 'demo.coins'?"),
    "override of an unknown variable": (RUN, "overrides: {}", "overrides: {demo.coins: {grid: {epss: [1.0]}}}", "config: overrides.demo.coins.grid:", "no grid variable 'epss'. Did you mean 'eps'? Known: rate, eps."),
    "key given twice in the paper": (PAPER, "    repeats: 20", "    repeats: 20\n    repeats: 30", f"{PAPER}, line 14:", "the key 'repeats' is given twice."),
    "key that is not text": (PAPER, "local: {}", "no: {}", f"{PAPER}, line 15:", "the key False is not text"),
    "malformed YAML": (PAPER, "rate: [0.1, 0.5]", "rate: [0.1, 0.5", f"{PAPER}, line 11:", ""),
    "tabs": (PAPER, "    repeats", "\trepeats", f"{PAPER}, line 13:", "cannot start any token"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_configuration_is_one_line(project, case):
    path, old, new, start, says = BROKEN[case]
    project.change(path, old, new)
    with pytest.raises(ConfigurationError) as caught:
        project.settings()
    (message,) = (line.replace(f"{project.root}/", "") for line in caught.value.lines)
    assert message.startswith(f"{start} ")
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
        (b"title: \xff\xfe", "cannot be read as YAML"),
        (b"title: a\x00", "cannot be read as YAML"),
    ],
)
def test_malformed_paper_is_one_line(project, content, says):
    project.write(PAPER, content)
    with pytest.raises(ConfigurationError, match=re.escape(says)) as caught:
        project.settings()
    assert PAPER in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changed",
    [{"papers": [3000 * "x"]}, {3000 * "x": 1}, {"overrides": {"demo.coins": {"grid": {3000 * "x": [1]}}}}],
)
def test_long_names_are_cut(project, changed):
    with pytest.raises(ConfigurationError) as caught:
        project.settings(**changed)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("content", [b"", b"- 1", b"experiments: [coins]", b"experiments: {coins: 3}"])
def test_overridden_broken_paper_is_one_line(project, content):
    project.write(PAPER, content)
    with pytest.raises(ConfigurationError):
        project.settings(overrides={"demo.coins": {"repeats": 2, "grid": {}}})


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
    with pytest.raises(ConfigurationError, match=re.escape(says)) as caught:
        project.settings()
    assert str(caught.value).startswith(f"{COINS}.methods.mine: ")
    assert "\n" not in str(caught.value)


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
        ("methods: {}", BASELINE, "methods: Dictionary must have at least 1 item"),
        ("methods: {local: {}}", f"{BASELINE}: methods.local:", "a method of this name already"),
        ("methods: {m: {protocol: nope}}", f"{BASELINE}: methods.m (for demo.coins):", "No frequency protocol"),
        ("methods: {m: {protocol: 'mine.py:Mine', options: {beta: $betta}}}", f"{BASELINE}: methods.m", "$betta is not"),
        ("methods: {m: {protocol: 'mine.py:Mine', budget: {eps: $epps}}}", f"{BASELINE}: methods.m", "Did you mean '$eps'"),
        ("methods: {m: {protocol: 'mine.py:Mine', budget: {delta: $eps}}}", f"{BASELINE}: methods.m", "grid.eps[2]: must be less than 1, got 1.0"),
        ("methods: {m: {protocol: 'mine.py:Mine'}}\nfigures: [demo.fig9]", f"{BASELINE}: figures:", "no figure 'demo.fig9'"),
        ("methods: {m: {protocol: 'mine.py:Mine'}}\nfigures: every", f"{BASELINE}: figures:", "must be 'all', got 'every'"),
        ("methods: {m: {protocol: 'mine.py:Mine'}}\nfigures: [fig1]", f"{BASELINE}: figures[0]:", "String must match pattern"),
    ],
)  # fmt: skip
def test_broken_baseline_names_its_file(project, content, place, says):
    project.write(BASELINE, f"task: frequency\n{content}\n")
    with pytest.raises(ConfigurationError, match=re.escape(says)) as caught:
        project.settings()
    assert str(caught.value).startswith(place)


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


def test_added_baseline_changes_no_job(project):
    before = project.settings().papers["demo"].experiments["coins"]
    project.write(BASELINE, "task: frequency\nmethods: {m: {protocol: 'mine.py:Mine'}}\n")
    after = project.settings().papers["demo"].experiments["coins"]
    assert [after.job(m, 7) for m in before.methods] == [before.job(m, 7) for m in before.methods]


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


def test_yaml_anchors_and_merges_are_understood(project):
    project.write("a.yaml", "base: &b {x: 1, y: 2}\nother: {<<: *b, y: 3}\n")
    assert read_yaml(project.root / "a.yaml")["other"] == {"x": 1, "y": 3}


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


def test_bad_override_grid_is_located(project):
    with pytest.raises(
        ConfigurationError, match=r"^config: overrides\.demo\.coins\.grid\.eps\[1\]: must be a number"
    ):
        project.settings(overrides={"demo.coins": {"grid": {"eps": [0.5, None]}}})


def test_number_beyond_floats_is_located(project):
    with pytest.raises(
        ConfigurationError,
        match=r"^config: overrides\.demo\.coins\.grid\.eps\[0\]: must be a finite number of at most",
    ):
        project.settings(overrides={"demo.coins": {"grid": {"eps": [10**400]}}})


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
    with pytest.raises(ConfigurationError) as caught:
        project.settings(overrides={"demo.coins": {"grid": grid}, "demo.curve": {"repeats": 1}})
    assert str(caught.value).startswith(place)
    assert str(caught.value).endswith("(with config: overrides.demo.coins merged in)")


def test_without_an_override_none_is_named(project):
    project.change(PAPER, "weights: [0.25, 0.75]", "weights: [0.25, 0.25, 0.5]")
    with pytest.raises(ConfigurationError) as caught:
        project.settings(overrides={"demo.curve": {"repeats": 1}})
    assert "merged in" not in str(caught.value)


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
