"""The reference: stored parts of a run, results of comparisons, and runs that may become the reference."""

from __future__ import annotations

import json
import math
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
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
from shuffledp.pipeline.reference.comparison import DIFFERENT, REFUSED, SAME, Comparison, compare
from shuffledp.pipeline.reference.eligible import objections
from shuffledp.pipeline.reference.report import FIRST, report
from shuffledp.pipeline.reference.snapshot import COLUMNS, DIGEST, KEY, PARAMETERS, Made, of_results, text
from shuffledp.pipeline.reference.tolerances import OF_CELLS, OF_CURVES
from shuffledp.storage import IntegrityError, publish

MACHINE = {"processor": "one", "libc": "glibc 2.36"}
VERSIONS = {"python": "3.11.7", "numpy": "2.4.6", "matplotlib": "3"}
CURVE = pa.schema(
    [("round", pa.int64()), ("accuracy", pa.float64()), ("loss", pa.float64()), ("participants", pa.int64())]
)

# What a fabricated run holds: jobs by paper, experiment and method, each with settings, cells and their values.
Run = dict[str, Any]


def cell(point: dict[str, Any], **more: Any) -> dict[str, Any]:
    usual = {
        "status": "ok",
        "reason": "",
        "guarantee": "upper",
        "reduction": "clones",
        "eps": 0.5,
        "delta": 1e-6,
        "eps_local": 2.0 / 3,
        "messages_per_user": 1.5,
        "extra_messages": 0.5,
        "bits_per_user": 4.5,
        "shuffler_messages": 0.0,
        "parameters": '{"a":1}',
        "expected": 0.125,
        "simulated": [0.1, 0.2, 0.12, 0.08],
    }
    return {"point": point, "accounting": "printed", **usual, **more}


def job(*cells: dict[str, Any], **settings: Any) -> dict[str, Any]:
    usual = {"seed": 7, "repeats": 4, "dataset": "adult", "source": "mirror", "protocol": "p"}
    return {
        "cells": list(cells),
        "machine": MACHINE,
        "versions": VERSIONS,
        "metrics": ["mse"],
        **usual,
        **settings,
    }


def a_run() -> Run:
    function = {"protocol": None, "repeats": 1, "seed": None, "source": "none", "metrics": []}
    return {
        "jobs": {
            ("one", "errors", "local"): job(*(cell({"eps": e, "split": "25-50"}) for e in (0.1, 1.0))),
            ("one", "errors", "other"): job(
                cell({"eps": 0.1}), cell({"eps": 1.0}, status="infeasible", reason="too small", simulated=[])
            ),
            ("one", "sizes", "local"): job(cell({}), source="synthetic", dataset="uniform"),
            ("two", "rounds", "ours"): job(cell({"rounds": 3}, expected=4.0, simulated=[]), **function),
        },
        "training": {
            ("two", "sgd"): {
                "seed": 7,
                "source": "mirror",
                "settings": {"rounds": 20, "rate": 0.05},
                "versions": {**VERSIONS, "jax": "0.9"},
                "machine": MACHINE,
                "rows": [(10, 0.5, 1.25, 60), (20, 0.75, 0.5, 58)],
            }
        },
    }


def write(folder: Path, run: Run) -> Path:
    for (paper, experiment, method), about in run["jobs"].items():
        _write_job(results.Bundle.of(folder, paper, experiment, method), paper, experiment, method, about)
    for (paper, id), training in run["training"].items():
        names = ("round", "accuracy", "loss", "participants")
        rows = [dict(zip(names, row, strict=True)) for row in training["rows"]]
        known = {"settings": training["settings"], "data": "mnist"}
        provenance = {
            "seed": training["seed"],
            "job": known,
            "data": {"source": training["source"]},
            **{key: training[key] for key in ("machine", "versions")},
        }
        to = TrainingFiles.of(folder, paper, id)
        content = table_files.to_bytes(pa.Table.from_pylist(rows, CURVE))
        publish(to.checksum, {to.curve: content, to.provenance: json.dumps(provenance).encode()})
    return folder


def _write_job(bundle: results.Bundle, paper: str, experiment: str, method: str, about: Any) -> None:
    cells, values = [], []
    for number, one in enumerate(about["cells"]):
        name, kind = f"{method}{number}", "expected" if about["protocol"] else "computed"
        known = {key: value for key, value in one.items() if key in results.CELLS.names}
        known |= {"cell": name, "paper": paper, "experiment": experiment, "method": method}
        known["point"] = json.dumps(one["point"])
        cells.append(dict.fromkeys(results.CELLS.names) | known)
        metric = about["metrics"][0] if about["metrics"] else "eps"
        found = [(kind, 0, one["expected"])] if one["status"] == "ok" else []
        found += [("simulated", r, value) for r, value in enumerate(one["simulated"])]
        values += [
            {"cell": name, "metric": metric, "kind": kind, "repeat": r, "value": v} for kind, r, v in found
        ]
    settings = {
        "protocol": about["protocol"],
        "repeats": about["repeats"],
        "data": {"name": about["dataset"]},
        "task": {"metrics": about["metrics"]},
    }
    provenance = {"job": settings, "seed": about["seed"], "data": {"source": about["source"]}}
    provenance |= {key: about[key] for key in ("machine", "versions")} | {"commit": "abc"}
    tables = (results.table(cells, results.CELLS), results.table(values, results.VALUES))
    results.write(bundle, *tables, provenance)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return the reference of a made-up run."""
    files.write(tmp_path / "reference", of_results(write(tmp_path / "results", a_run())))
    return tmp_path / "reference"


def compared(kept: Path, run: Run) -> Comparison:
    return compare(files.read(kept), of_results(write(kept.parent / "fresh", run)))


def differences(comparison: Comparison) -> set[tuple[str, str]]:
    return {(one.where, one.column) for part in comparison.sections.values() for one in part.differences}


ERRORS = ("one", "errors", "local")
FIRST_CELL = "one.errors.local [eps=0.1 split=25-50, printed, mse]"


# -- what is kept ----------------------------------------------------------------------------------------------------


def test_a_run_agrees_with_its_own_reference_to_the_byte(kept):
    comparison = compared(kept, a_run())
    assert comparison.exit_code == SAME
    assert comparison.same_machine
    assert list(comparison.sections) == ["one", "two", "training"]
    assert all(part.same_files == part.files > 0 for part in comparison.sections.values())
    for part in comparison.sections.values():
        assert all(column.identical == column.compared for column in part.columns.values())


def test_the_tables_hold_the_statistics_of_every_cell(kept):
    lines = (kept / "one" / "errors.csv").read_text().splitlines()
    assert lines[0].split(",") == list(COLUMNS)
    row = dict(zip(COLUMNS, lines[1].split(","), strict=True))
    drawn = [0.1, 0.2, 0.12, 0.08]
    spread = math.sqrt(sum((x - 0.125) ** 2 for x in drawn) / 3)
    assert row["point"] == "eps=0.1 split=25-50"
    assert row["eps_local"] == "0.6666666667"
    assert float(row["mean"]) == pytest.approx(0.125)
    assert float(row["standard_error"]) == pytest.approx(spread / 2, rel=1e-9)
    assert row["count"] == "4"
    assert (kept / "two" / "training" / "sgd.csv").read_text().splitlines()[1] == "10,0.5,1.25,60"


def test_a_cell_without_values_has_the_row_of_one_with_them(kept):
    run = a_run()
    run["jobs"][ERRORS]["cells"][0] |= {"status": "infeasible", "reason": "no", "simulated": []}
    comparison = compared(kept, run)
    found = {column for where, column in differences(comparison) if where == FIRST_CELL}
    assert {"status", "reason", "expected", "mean", "standard_error", "count"} <= found
    assert not comparison.sections["one"].missing


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, ""), (math.nan, ""), (1 / 3, "0.3333333333"), (5, "5"), ("word", "word"), (math.inf, "inf")],
)
def test_numbers_are_kept_with_ten_digits(value, shown):
    assert text(value) == shown


def test_what_a_reference_does_not_hold_any_more_is_removed(kept):
    run = a_run()
    del run["jobs"]["one", "sizes", "local"]
    files.write(kept, of_results(write(kept.parent / "less", run)))
    assert not (kept / "one" / "sizes.csv").exists()
    assert (kept / "one" / "errors.csv").exists()
    assert set(files.read(kept).jobs) == set(run["jobs"])


def test_a_damaged_reference_is_refused(kept):
    (kept / "one" / "errors.csv").write_text("something else\n")
    with pytest.raises(IntegrityError, match=r"errors\.csv"):
        files.read(kept)


def test_a_run_on_two_machines_makes_no_reference(tmp_path):
    run = a_run()
    run["jobs"][ERRORS]["machine"] = {"processor": "two"}
    with pytest.raises(ValueError, match="2 different machines"):
        files.write(tmp_path / "reference", of_results(write(tmp_path / "results", run)))


# -- planted differences -----------------------------------------------------------------------------------------------

ELSEWHERE = {"processor": "another"}
PLANTED: dict[str, tuple[Any, Any]] = {  # by column: within the tolerance of another machine, and beyond it
    "status": (None, "infeasible"),
    "reason": (None, "because"),
    "guarantee": (None, "exact"),
    "reduction": (None, "blanket"),
    "eps": (0.5 * (1 + 5e-8), 0.5 * (1 + 2e-7)),
    "delta": (1e-6 * (1 + 5e-8), 1e-6 * (1 - 2e-7)),
    "eps_local": (2 / 3 * (1 - 5e-8), None),
    "messages_per_user": (1.5 * (1 + 5e-7), 1.5 * (1 + 2e-6)),
    "extra_messages": (0.5 * (1 + 5e-7), 0.5 * (1 + 2e-6)),
    "bits_per_user": (4.5 * (1 - 5e-7), 4.5 * (1 - 2e-6)),
    "shuffler_messages": (None, 1e-12),
    "expected": (0.125 * (1 + 5e-8), 0.125 * (1 + 2e-7)),
}


def test_every_column_has_a_planted_difference():
    compared_columns = set(COLUMNS) - {*KEY, PARAMETERS, DIGEST}
    assert {*PLANTED, "mean", "standard_error", "count"} == set(OF_CELLS) == compared_columns


def elsewhere(run: Run) -> Run:
    for one in (*run["jobs"].values(), *run["training"].values()):
        one["machine"] = ELSEWHERE
    return run


@pytest.mark.parametrize("column", PLANTED)
def test_a_planted_difference_is_found_and_one_within_tolerance_is_counted(kept, column):
    near, far = PLANTED[column]
    for value, code in ((near, SAME), (far, DIFFERENT)):
        if value is near is None:
            continue  # nothing but the same is within
        run = elsewhere(a_run())
        changed = run["jobs"][ERRORS]["cells"][0]
        changed[column] = value
        comparison = compared(kept, run)
        counts = comparison.sections["one"].columns[column]
        assert comparison.exit_code == code
        assert not comparison.same_machine
        if code == SAME:
            assert counts.within == 1
        else:
            assert counts.different == 1
            assert (FIRST_CELL, column) in differences(comparison)


def test_simulated_numbers_may_be_another_draw_of_the_same_law_elsewhere(kept):
    for drawn, found in (
        ([0.14, 0.07, 0.19, 0.11], set()),
        ([0.9, 0.8, 0.85, 0.87], {"mean"}),
        ([0.1250001, 0.125, 0.1249999, 0.125], {"standard_error"}),
        ([0.1, 0.2, 0.12], {"count"}),
    ):
        run = elsewhere(a_run())
        run["jobs"][ERRORS]["cells"][0]["simulated"] = drawn
        assert differences(compared(kept, run)) == {(FIRST_CELL, column) for column in found}


def test_on_the_machine_of_the_reference_the_last_bit_counts(kept):
    run = a_run()
    run["jobs"][ERRORS]["cells"][0]["expected"] = math.nextafter(0.125, 1)
    comparison = compared(kept, run)
    assert comparison.exit_code == DIFFERENT
    assert differences(comparison) == {(FIRST_CELL, DIGEST)}
    assert compared(kept, elsewhere(run)).exit_code == SAME


def test_calibrated_parameters_are_kept_and_count_as_numbers(kept):
    assert files.read(kept).jobs[ERRORS].rows[0]["parameters"] == "a=1"
    run = a_run()
    run["jobs"][ERRORS]["cells"][0]["parameters"] = '{"a":2}'
    assert differences(compared(kept, run)) == {(FIRST_CELL, DIGEST)}


def test_versions_make_another_machine_but_those_of_drawing_do_not():
    made = Made.of({"machine": MACHINE, "versions": VERSIONS})
    assert made.same_machine(Made.of({"machine": MACHINE, "versions": VERSIONS | {"matplotlib": "4"}}))
    assert not made.same_machine(Made.of({"machine": MACHINE, "versions": VERSIONS | {"numpy": "3"}}))
    unknown = Made.of({"versions": VERSIONS})
    assert not unknown.same_machine(unknown)


# -- what is missing ---------------------------------------------------------------------------------------------------


def test_missing_and_additional_experiments_methods_and_cells_are_named(kept):
    run = a_run()
    del run["jobs"]["one", "sizes", "local"], run["jobs"]["one", "errors", "other"]
    run["jobs"]["one", "new", "local"] = job(cell({}))
    run["jobs"]["one", "errors", "mine"] = job(cell({}))
    run["jobs"][ERRORS]["cells"][1]["accounting"] = "exact"
    comparison = compared(kept, run)
    section = comparison.sections["one"]
    assert comparison.exit_code == DIFFERENT
    assert section.missing == [
        "experiment one.sizes",
        "method one.errors.other",
        "cell one.errors.local [eps=1 split=25-50, printed, mse]",
    ]
    assert section.additional == [
        "experiment one.new",
        "method one.errors.mine",
        "cell one.errors.local [eps=1 split=25-50, exact, mse]",
    ]


def test_what_only_the_run_has_is_no_disagreement(kept):
    run = a_run()
    run["jobs"]["one", "new", "local"] = job(cell({}))
    run["jobs"][ERRORS]["cells"].append(cell({"eps": 2.0, "split": "25-50"}))
    comparison = compared(kept, run)
    assert comparison.exit_code == SAME
    assert len(comparison.sections["one"].additional) == 2


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"source": "summary"}, "data adult: mirror in the reference, summary here"),
        ({"source": "stand_in"}, "data adult: mirror in the reference, stand_in here"),
        ({"seed": 8}, "seed: 7 in the reference, 8 here"),
        ({"repeats": 2}, "scale: repeats=4 in the reference, repeats=2 here"),
    ],
)
def test_other_data_seeds_and_scales_are_refused_naming_both(kept, change, reason):
    run = a_run()
    run["jobs"][ERRORS] |= change
    run["jobs"][ERRORS]["cells"][0]["expected"] = 99.0
    comparison = compared(kept, run)
    assert comparison.exit_code == REFUSED
    assert comparison.refused == {reason: ["one.errors.local"]}
    assert not differences(comparison)  # what is not compared does not differ
    assert sum(reason in line for line in report(comparison)) == 1


def test_a_shortened_grid_is_refused(kept):
    run = a_run()
    run["jobs"][ERRORS]["cells"].pop()
    comparison = compared(kept, run)
    assert comparison.refused == {
        "scale: 2 values of eps in the reference, 1 of them here": ["one.errors.local"]
    }
    assert comparison.exit_code == REFUSED


def test_official_files_and_those_of_a_mirror_are_the_same_data(kept):
    run = a_run()
    for one in run["jobs"].values():
        one["source"] = one["source"].replace("mirror", "official")
    assert compared(kept, run).exit_code == SAME


def test_what_is_comparable_beside_something_refused_is_compared(kept):
    run = a_run()
    run["jobs"][ERRORS]["source"] = "summary"
    run["jobs"]["one", "errors", "other"]["cells"][0]["expected"] = 9.0
    comparison = compared(kept, run)
    assert comparison.exit_code == REFUSED
    assert ("one.errors.other [eps=0.1, printed, mse]", "expected") in differences(comparison)


# -- training ----------------------------------------------------------------------------------------------------------


def test_training_is_compared_only_where_there_is_a_curve(kept):
    run = a_run()
    run["training"].clear()
    comparison = compared(kept, run)
    assert comparison.exit_code == SAME
    assert "training" not in comparison.sections
    assert comparison.untrained == ["two.training.sgd"]
    assert any("Training is not compared" in line for line in report(comparison))


def test_accuracies_in_the_cells_of_methods_are_those_of_the_curve(kept, tmp_path):
    """A run without training has no accuracies, and agrees with the reference."""
    trained = a_run()
    folder = write(tmp_path / "fresh", trained)
    bundle = results.Bundle.of(folder, "two", "rounds", "ours")
    provenance = json.loads(bundle.provenance.read_text())
    cells, values = (pq.read_table(path, use_threads=False) for path in (bundle.cells, bundle.values))
    rows = values.to_pylist()
    rows.append({**rows[0], "metric": "accuracy", "value": 0.5})
    provenance |= {"seed": 7, "data": {"source": "mirror"}}
    results.write(bundle, cells, results.table(rows, results.VALUES), provenance)
    comparison = compare(files.read(kept), of_results(folder))
    assert comparison.exit_code == SAME


@pytest.mark.parametrize(
    ("place", "near", "far"), [(1, 0.5045, 0.506), (2, 1.25 * 1.009, 1.25 * 1.012), (3, None, 61)]
)
def test_a_planted_difference_of_a_curve_is_found(kept, place, near, far):
    name = ("round", *OF_CURVES)[place]
    for value, code in ((near, SAME), (far, DIFFERENT)):
        if value is None:
            continue
        run = elsewhere(a_run())
        row = list(run["training"]["two", "sgd"]["rows"][0])
        row[place] = value
        run["training"]["two", "sgd"]["rows"][0] = tuple(row)
        comparison = compared(kept, run)
        assert comparison.exit_code == code
        counts = comparison.sections["training"].columns[name]
        assert (counts.within, counts.different) == ((1, 0) if code == SAME else (0, 1))


def test_a_curve_has_the_same_bytes_on_the_machine_of_the_reference(kept):
    run = a_run()
    run["training"]["two", "sgd"]["rows"][0] = (10, math.nextafter(0.5, 1), 1.25, 60)
    assert differences(compared(kept, run)) == {("two.training.sgd", DIGEST)}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": 8}, "seed: 7 in the reference, 8 here"),
        ({"source": "stand_in"}, "data mnist: mirror in the reference, stand_in here"),
        (
            {"settings": {"rounds": 10, "rate": 0.05}},
            "scale: rounds=20 in the reference, rounds=10 here",
        ),
    ],
)
def test_other_training_is_refused(kept, change, reason):
    run = a_run()
    run["training"]["two", "sgd"] |= change
    comparison = compared(kept, run)
    assert comparison.refused == {reason: ["two.training.sgd"]}


# -- words -------------------------------------------------------------------------------------------------------------


def test_the_report_counts_lists_and_judges(kept):
    run = a_run()
    run["jobs"][ERRORS]["cells"][0]["guarantee"] = "exact"
    lines = list(report(compared(kept, run)))
    assert lines[0].startswith("Same machine")
    assert any(line.split()[:5] == ["guarantee", "5", "4", "0", "1"] for line in lines)
    assert f"  different: {FIRST_CELL} guarantee: upper in the reference, exact here" in lines
    assert lines[-1] == "The run does not agree with the reference."
    assert list(report(compared(kept, a_run())))[-1] == "Everything agrees with the reference."


def test_long_lists_are_cut_and_counted(kept, tmp_path):
    run = a_run()
    run["jobs"][ERRORS]["cells"] = [cell({"eps": e / 100}) for e in range(1, 31)]
    files.write(tmp_path / "long", of_results(write(tmp_path / "many", run)))
    other = deepcopy(run)
    for one in other["jobs"][ERRORS]["cells"]:
        one["guarantee"] = "exact"
    found = compare(files.read(tmp_path / "long"), of_results(write(tmp_path / "others", other)))
    lines = [line for line in report(found) if line.startswith("  different")]
    assert len(lines) == FIRST + 1
    assert lines[-1] == f"  different: {30 - FIRST} more"


# -- the commands ------------------------------------------------------------------------------------------------------


def call(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_the_command_says_by_its_code_what_was_found(kept, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("verify")[0] == SAME
    run = a_run()
    run["jobs"][ERRORS]["cells"][0]["guarantee"] = "exact"
    write(tmp_path / "other", run)
    assert call("verify", "--results", "other")[0] == DIFFERENT
    run["jobs"][ERRORS]["seed"] = 8
    write(tmp_path / "other", run)
    assert call("verify", "--results", "other")[0] == REFUSED


def test_data_that_changed_under_an_old_time_are_named_and_are_no_agreement(kept, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = data_files(monkeypatch)[:3]
    assert call("verify")[0] == SAME
    for path in files:
        flip_a_byte(path)
        code, output = call("verify")
        assert code == REFUSED
        assert [line for line in output.splitlines() if line.startswith(f"{path}: ")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--results", "nowhere"), "There are no results in nowhere/runs"),
        (("--reference", "nowhere"), "There is no reference in nowhere"),
    ],
)
def test_nothing_to_compare_is_said_and_is_no_agreement(kept, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    code, output = call("verify", *arguments)
    assert code == REFUSED
    assert said in output


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
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compute(project: Path, overrides: dict[str, Any] | None = None, results_folder: str = "results") -> None:
    settings = load_settings(yaml.safe_load(CONFIG) | {"overrides": overrides or {}}, project)
    wanted = settings.papers["demo"].experiments["coins"].job("local", settings.seed)
    done = runner.run(wanted, prepared=project, root=project)
    about = of_job(wanted, seeds.digest(wanted), {"source": done.data_source}, project)
    bundle = results.Bundle.of(project / results_folder, "demo", "coins", "local")
    results.write(bundle, done.cells, done.values, about)
    folder = project / results_folder / "figures/overall"
    publish(
        folder / "figures.sha256", {folder / f"{name}.csv": name.encode() for name in overall_jobs.FIGURES}, 2
    )


def test_the_results_of_the_configuration_become_the_reference(project):
    compute(project)
    code, output = call("reference")
    assert (code, "written to reference" in output) == (0, True), output
    kept = {path.stem: path.read_text() for path in (project / overall_jobs.KEPT).iterdir()}
    assert kept == {name: name for name in overall_jobs.FIGURES}
    compute(project)
    code, output = call("verify")
    assert code == SAME, output
    assert "Same machine and versions" in output
    assert re.search(r"\n[1-9]\d* values compared, 0 different\.\n", output)


def test_the_quick_run_has_a_reference_of_its_own(project):
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
    ("folder", "held"), [(".", "results/runs"), ("results", "results/runs"), ("config", "config/config.yaml")]
)
def test_the_reference_has_a_folder_of_its_own(project, folder, held):
    compute(project)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    code, output = call("reference", "--reference", folder)
    assert code == 1
    assert output.startswith(f"Error: --reference {folder} must not contain {held}, an input.")
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "overrides", [None, {"demo.coins": {"repeats": 2}}, {"demo.coins": {"grid": {"eps": [1.0]}}}]
)
def test_only_complete_results_at_the_papers_scale_become_the_reference(project, overrides):
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


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_page_states_every_tolerance():
    page = Path(__file__).resolve().parents[3] / "docs/reference.md"
    section = page.read_text(encoding="utf-8").partition("## Tolerances")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    stated = {name.strip(" `"): says.strip() for names, says in rows for name in names.split(",")}
    assert stated == {name: one.says for name, one in (OF_CELLS | OF_CURVES).items()}
