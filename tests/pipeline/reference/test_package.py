"""The reference: stored parts of a run, results of comparisons, and runs that may become the reference."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
import yaml
from click.testing import CliRunner

from changed_data import data_files, flip_a_byte
from shuffledp.cli import main
from shuffledp.pipeline import table_files
from shuffledp.pipeline.experiments import bundle as results, runner, seeds
from shuffledp.pipeline.experiments.trained import TrainingFiles
from shuffledp.pipeline.figures import overall_jobs
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.pipeline.provenance import of_job
from shuffledp.pipeline.reference import reference_files as files
from shuffledp.pipeline.reference.comparator import FIRST
from shuffledp.pipeline.reference.comparison import DIFFERENT, REFUSED, SAME, compare
from shuffledp.pipeline.reference.eligible import objections
from shuffledp.pipeline.reference.snapshot import DIGEST, PARAMETERS, ReferencePart, of_results, text
from shuffledp.pipeline.reference.tolerances import COLUMNS
from shuffledp.storage import IntegrityError, publish, read_verified

HERE, ELSEWHERE = (json.dumps({"machine": machine}) for machine in ("one", "another"))
ERRORS, OTHER, SIZES = ("one", "errors", "local"), ("one", "errors", "other"), ("one", "sizes", "local")
CURVE = ("two", "training", "sgd")
PLACE = ("eps=0.1 split=25-50", "printed", "mse")
FIRST_ROW, FIRST_ROUND = f"one.errors.local [{', '.join(PLACE)}]", "two.training.sgd [round=10]"
ROW = {
    "status": "ok",
    "guarantee": "upper",
    "reduction": "clones",
    "parameters": "a=1",
    "digest": "0a",
    "users_expected": 100.0,
    "domain_size": 2.0,
    "eps": 0.5,
    "delta": 1e-6,
    "eps_local": 0.6666666667,
    "messages_per_user": 1.5,
    "extra_messages": 0.5,
    "bits_per_user": 4.5,
    "shuffler_messages": 0.0,
    "expected": 0.125,
    "mean": 0.125,
    "standard_error": 0.0263,
    "count": 4.0,
}
ROUND = {"accuracy": 0.5, "loss": 1.25, "participants": 60.0}


def a_run(environment=HERE):
    part = ReferencePart("7", "repeats=4", "adult", "mirror", environment, "abc", {})
    rows = {PLACE: dict(ROW), ("eps=1 split=25-50", "printed", "mse"): dict(ROW)}
    rounds = {(f"round={number}", "", ""): dict(ROUND) for number in (10, 20)}
    return {
        ERRORS: replace(part, rows=rows),
        OTHER: replace(part, rows={PLACE: dict(ROW)}),
        SIZES: replace(part, source="synthetic", dataset="uniform", rows={("", "printed", "mse"): dict(ROW)}),
        CURVE: replace(part, scale="rate=0.05 rounds=20", dataset="mnist", rows=rounds),
    }


def with_change(column, value, environment=HERE):
    """Return the run with another value of a column in its first row or its first round; None removes the value."""
    run = a_run(environment)
    row = (
        run[ERRORS].rows[PLACE]
        if column in ROW or column == "reason"
        else run[CURVE].rows["round=10", "", ""]
    )
    row[column] = value
    if value is None:
        del row[column]
    return run


def differences(found):
    return {(one.row, one.column) for section in found.sections.values() for one in section.differences}


# -- files -----------------------------------------------------------------------------------------------------------


def test_reference_has_everything_written(tmp_path):
    run = a_run() | {OTHER: replace(a_run()[OTHER], environment=ELSEWHERE)}
    del run[OTHER].rows[PLACE]["mean"]
    files.write(tmp_path, run)
    assert files.read(tmp_path) == run
    less = {key: part for key, part in run.items() if key != SIZES}
    files.write(tmp_path, less)
    assert files.read(tmp_path) == less
    assert not (tmp_path / "one/sizes.csv").exists()


def test_a_damaged_reference_is_refused(tmp_path):
    files.write(tmp_path, a_run())
    (tmp_path / "one/errors.csv").write_text("something else\n")
    with pytest.raises(IntegrityError, match=r"errors\.csv"):
        files.read(tmp_path)


@pytest.mark.parametrize(
    "value, shown",
    [(None, ""), (math.nan, ""), (1 / 3, "0.3333333333"), (5, "5"), ("word", "word"), (math.inf, "inf")],
)
def test_numbers_are_kept_with_ten_digits(value, shown):
    assert text(value) == shown


# -- planted differences -----------------------------------------------------------------------------------------------

PLANTED: dict[str, tuple[Any, Any]] = {  # by column: within the tolerance of another machine, and beyond it
    "status": (None, "infeasible"),
    "reason": (None, "because"),
    "guarantee": (None, "exact"),
    "reduction": (None, "blanket"),
    "domain_size": (None, 3.0),
    "users_expected": (100 * (1 + 5e-8), 101.0),
    "eps": (0.5 * (1 + 5e-8), 0.5 * (1 + 2e-7)),
    "delta": (1e-6 * (1 + 5e-8), 1e-6 * (1 - 2e-7)),
    "eps_local": (2 / 3 * (1 - 5e-8), None),
    "messages_per_user": (1.5 * (1 + 5e-7), 1.5 * (1 + 2e-6)),
    "extra_messages": (0.5 * (1 + 5e-7), 0.5 * (1 + 2e-6)),
    "bits_per_user": (4.5 * (1 - 5e-7), 4.5 * (1 - 2e-6)),
    "shuffler_messages": (None, 1e-12),
    "expected": (0.125 * (1 + 5e-8), 0.125 * (1 + 2e-7)),
    "mean": (0.125 + 8.4 * 0.0263, 0.125 + 8.6 * 0.0263),  # 6 sqrt(2) = 8.49
    "standard_error": (0.0263 * 9000, 0.0263 / 10000),  # exp(6 sqrt(7/3)) = 9560
    "count": (None, 3.0),
    "accuracy": (0.5045, 0.506),
    "loss": (1.25 * 1.009, 1.25 * 1.012),
    "participants": (None, 61.0),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_planted_differences_are_found(column):
    """A difference within the tolerance is counted."""
    near, far = PLANTED[column]
    place = (FIRST_ROUND if column in ROUND else FIRST_ROW, column)
    found = compare(a_run(), with_change(column, far, ELSEWHERE))
    assert (found.exit_code, differences(found), found.same_machine) == (DIFFERENT, {place}, False)
    if near is not None:
        found = compare(a_run(), with_change(column, near, ELSEWHERE))
        assert found.exit_code == SAME
        assert found.sections[place[0][:3]].within == {column: 1}


def test_same_digests_need_the_same_machine():
    assert compare(a_run(), a_run()).same_machine
    found = compare(a_run(), with_change(DIGEST, "0b"))
    assert (found.exit_code, differences(found)) == (DIFFERENT, {(FIRST_ROW, DIGEST)})
    assert compare(a_run(), with_change(DIGEST, "0b", ELSEWHERE)).exit_code == SAME
    assert compare(a_run(), with_change(PARAMETERS, "a=2")).exit_code == SAME  # the digest has them


def test_missing_and_additional_parts_are_named():
    run = a_run() | {("one", "errors", "mine"): a_run()[ERRORS], ("one", "new", "local"): a_run()[SIZES]}
    del run[SIZES], run[OTHER]
    run[ERRORS].rows["eps=1 split=25-50", "exact", "mse"] = run[ERRORS].rows.pop(
        ("eps=1 split=25-50", *PLACE[1:])
    )
    found = compare(a_run(), run)
    assert found.exit_code == DIFFERENT
    assert set(found.sections["one"].missing) == {
        "one.errors.other",
        "one.sizes.local",
        "one.errors.local [eps=1 split=25-50, printed, mse]",
    }
    assert set(found.sections["one"].additional) == {
        "one.new.local",
        "one.errors.mine",
        "one.errors.local [eps=1 split=25-50, exact, mse]",
    }


def test_additional_results_are_no_disagreement():
    """Missing training is none, either."""
    run = a_run() | {("one", "new", "local"): a_run()[SIZES]}
    run[ERRORS].rows["eps=2 split=25-50", "printed", "mse"] = dict(ROW)
    del run[CURVE]
    found = compare(a_run(), run)
    assert (found.exit_code, len(found.sections["one"].additional)) == (SAME, 2)
    assert found.untrained == ["two.training.sgd"]


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key, change, reason",
    [
        (ERRORS, {"source": "summary"}, "data adult: mirror in the reference, summary here"),
        (ERRORS, {"seed": "8"}, "seed: 7 in the reference, 8 here"),
        (ERRORS, {"scale": "repeats=2"}, "scale: repeats=4 in the reference, repeats=2 here"),
        (ERRORS, {"rows": {PLACE: ROW}}, "scale: 2 values of eps in the reference, 1 of them here"),
        (CURVE, {"source": "stand_in"}, "data mnist: mirror in the reference, stand_in here"),
        (
            CURVE,
            {"scale": "rate=0.05 rounds=10"},
            "scale: rounds=20 in the reference, rounds=10 here",
        ),
    ],
)
def test_other_data_and_scales_are_refused(key, change, reason):
    run = with_change("expected", 99.0) if key == ERRORS else with_change("loss", 99.0)
    run[key] = replace(run[key], **change)
    found = compare(a_run(), run)
    assert (found.exit_code, found.refused) == (REFUSED, {reason: [".".join(key)]})
    assert not [place for place in differences(found) if place[0].startswith(".".join(key))]
    run[OTHER].rows[PLACE]["expected"] = 9.0  # comparable beside something refused
    found = compare(a_run(), run)
    assert ("one.errors.other [eps=0.1 split=25-50, printed, mse]", "expected") in differences(found)


@pytest.mark.parametrize("change, code", [(2e-16, SAME), (2e-14, DIFFERENT)])
def test_small_deltas_differ_by_rounding(change, code):
    """Sums of probabilities round in the last bit of 1 on other machines."""
    runs = []
    for delta in (1.9e-11, 1.9e-11 + change):
        run = a_run()
        run[OTHER].rows[*PLACE[:-1], "delta_at_1.4"] = {"expected": delta}
        runs.append(run)
    assert compare(*runs).exit_code == code


def test_official_and_mirrored_data_are_equal():
    run = a_run() | {ERRORS: replace(a_run()[ERRORS], source="official")}
    assert compare(a_run(), run).exit_code == SAME


# -- words -------------------------------------------------------------------------------------------------------------


def test_the_report_counts_lists_and_judges():
    run = with_change("guarantee", "exact")
    run[OTHER].rows[PLACE] |= {"eps": 0.6}
    lines = list(compare(a_run(), run).report())
    assert lines[0].startswith("Same machine")
    assert any(line.split()[:5] == ["guarantee", "4", "3", "0", "1"] for line in lines)
    assert f"  different: guarantee in 1 rows: {FIRST_ROW}: upper -> exact" in lines
    assert any("different: eps in 1 rows, at most 0.17 relative" in line for line in lines)
    assert lines[-1] == (
        "The run does not agree with the reference: 74 values compared, 72 equal, 0 within tolerance, 2 different."
    )


def test_long_lists_are_cut_and_counted():
    run = {("one", f"number {i}", "local"): a_run()[SIZES] for i in range(30)}
    lines = [line for line in compare(run, {}).report() if "missing" in line]
    assert len(lines) == FIRST + 1
    assert lines[-1] == f"  missing: {30 - FIRST} more"


# -- the commands ------------------------------------------------------------------------------------------------------


def call(*arguments):
    done = CliRunner().invoke(main, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


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
def project(project, monkeypatch):
    project.write("config/experiments/demo.yaml", PAPER)
    monkeypatch.chdir(project.root)
    return project.root


def compute(project, overrides=None, results_folder="results"):
    settings = load_settings(yaml.safe_load(CONFIG) | {"overrides": overrides or {}}, project)
    wanted = settings.papers["demo"].experiments["coins"].job("local", settings.seed)
    done = runner.run(wanted, prepared=project, root=project)
    about = of_job(wanted.plain(), seeds.digest(wanted.plain()), {"source": done.data_source}, project)
    bundle = results.Bundle.locate(project / results_folder, "demo", "coins", "local")
    results.write(bundle, done.cells, done.values, about)
    folder = project / results_folder / "figures/overall"
    publish(
        folder / "figures.sha256", {folder / f"{name}.csv": name.encode() for name in overall_jobs.FIGURES}, 2
    )
    claims = project / results_folder / "claims"
    rows = b"id,accounting,overall\nDE-1,printed,in part\nDE-1,exact,in part\nDE-2,-,fails\n"
    publish(claims / "claims.sha256", {claims / "claims.csv": rows})


def test_results_become_the_reference(project, monkeypatch):
    compute(project)
    code, output = call("verify")
    assert (code, "There is no reference in reference" in output) == (REFUSED, True)
    assert call("reference")[0] == 0
    kept = {path.stem: path.read_text() for path in (project / overall_jobs.KEPT).iterdir()}
    verdicts = {"claims": "id,verdict\nDE-1,in part\nDE-2,fails\n"}
    assert kept == {name: name for name in overall_jobs.FIGURES} | verdicts
    compute(project)
    code, output = call("verify")
    assert code == SAME, output
    assert "Same machine and versions" in output
    assert output.endswith(
        "agrees with the reference: 34 values compared, 34 equal, 0 within tolerance, 0 different.\n"
    )
    code, output = call("verify", "--results", "nowhere")
    assert (code, "There are no results in nowhere/runs" in output) == (REFUSED, True)
    path = data_files(monkeypatch)[0]
    flip_a_byte(path)
    code, output = call("verify")
    assert (code, f"\n{path}: " in output) == (REFUSED, True)


def test_rows_have_cell_and_round_statistics(project):
    compute(project)
    bundle = results.Bundle.locate(project / "results", "demo", "coins", "local")
    values = table_files.read(bundle.values).to_pandas()
    first = json.loads(table_files.read(bundle.cells).to_pylist()[0]["point"])
    drawn = values[(values.cell == values.cell[0]) & (values.kind == "simulated")].value
    accuracy = {**values.to_dict("records")[0], "metric": "accuracy"}  # of a training run
    values = results.table([*values.to_dict("records"), accuracy], results.VALUES)
    provenance = json.loads(read_verified(bundle.provenance, bundle.checksum))
    results.write(bundle, table_files.read(bundle.cells), values, provenance)
    curve = [{"round": number, **ROUND} for number in (10, 20)]
    to = TrainingFiles.locate(project / "results", "demo", "sgd")
    about = provenance | {"job": {"settings": {"rate": 0.05}, "data": "mnist"}}
    content = {
        to.curve: table_files.to_bytes(pa.Table.from_pylist(curve)),
        to.provenance: json.dumps(about).encode(),
    }
    publish(to.checksum, content, 2)
    found = of_results(project / "results")
    rows = found["demo", "coins", "local"].rows
    assert {place[2] for place in rows} == {"mse"}
    row = next(row for place, row in rows.items() if place[0] == f"eps={first['eps']}")
    shown = {
        "mean": drawn.mean(),
        "standard_error": drawn.std() / math.sqrt(3),
        "count": 3.0,
        "users_expected": 100.0,
    }
    assert {name: row[name] for name in shown} == pytest.approx(shown, rel=1e-9)
    assert found["demo", "training", "sgd"].rows == {(f"round={n}", "", ""): ROUND for n in (10, 20)}
    assert found["demo", "training", "sgd"].scale == "rate=0.05"


def test_quick_run_has_own_reference(project):
    smaller = yaml.safe_load(CONFIG) | {
        "results": "results/quick",
        "overrides": {"demo.coins": {"repeats": 2}},
    }
    (project / "quick.yaml").write_text(yaml.safe_dump(smaller))
    compute(project, smaller["overrides"], "results/quick")
    code, output = call("reference", "--configfile", "quick.yaml")
    assert (code, "written to reference/quick" in output) == (0, True), output
    assert not (project / "reference/quick/overall").exists()
    code, output = call("verify", "--results", "results/quick")
    assert code == SAME, output


@pytest.mark.parametrize(
    "folder, held", [(".", "results/runs"), ("results", "results/runs"), ("config", "config/config.yaml")]
)
def test_reference_needs_own_folder(project, folder, held):
    compute(project)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    code, output = call("reference", "--reference", folder)
    assert code == 1
    assert output.startswith(f"Error: --reference {folder} must not contain {held}, an input.")
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "overrides", [None, {"demo.coins": {"repeats": 2}}, {"demo.coins": {"grid": {"eps": [1.0]}}}]
)
def test_only_complete_results_become_reference(project, overrides):
    if overrides is not None:
        compute(project, overrides)
    code, output = call("reference")
    assert code == 1
    assert "demo.coins.local: " in output
    assert not (project / "reference").exists()


def test_a_shortened_configuration_makes_no_reference(project):
    overrides = {"demo.coins": {"repeats": 2}}
    compute(project, overrides)
    settings = load_settings(yaml.safe_load(CONFIG) | {"overrides": overrides}, project)
    found = list(objections(settings, project / "results", quick=False))
    assert len(found) == 1
    assert "shortens" in found[0]


def test_a_shortened_run_is_not_compared(project):
    compute(project)
    assert call("reference")[0] == 0
    compute(project, {"demo.coins": {"repeats": 2, "grid": {"eps": [1.0]}}})
    code, output = call("verify")
    assert code == REFUSED
    assert "Refused, scale: repeats=3 in the reference, repeats=2 here: demo.coins.local" in output
