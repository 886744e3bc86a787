"""Every notebook runs completely in an empty folder, and is stored without outputs of a run."""

import io
import json
import re
import sys

import matplotlib.pyplot as plt
import nbformat
import pytest
from execute import main
from nbclient.exceptions import CellExecutionError

from scripts_by_file import ROOT
from shuffledp.pipeline.experiments import results, runner
from shuffledp.pipeline.experiments.job_parts import Job

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = {"accounting_by_hand", "coarse_noise", "compare_your_baseline", "tour"}

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """Use an empty working directory, and no file of the home folder."""
    for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    monkeypatch.delenv("MPLBACKEND", raising=False)  # figures are outputs of the notebook
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def run_here(notebook):
    """Run all cells in this process, where warnings are errors, and return the number of figures."""
    shown = []

    def display(value):
        value._repr_html_()  # what a kernel sends of a table

    def show():
        for number in plt.get_fignums():
            plt.figure(number).savefig(io.BytesIO())
            shown.append(number)
        plt.close("all")

    names = {"__name__": "__main__", "display": display}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plt, "show", show)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, f"cell {cell.id}", "exec", dont_inherit=True), names)
    return len(shown)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_runs(name, alone, monkeypatch, capfd):
    """A kernel per notebook takes longer than most cells; `make notebooks` starts one."""
    monkeypatch.chdir(alone)
    assert run_here(read(ROOT / f"notebooks/{name}.ipynb")) > 0, "shows no figure"
    assert not capfd.readouterr().err
    assert not list(alone.iterdir()), "a notebook leaves files behind"


def test_tour_reads_a_finished_run(alone, monkeypatch, capsys):
    """The run in an empty folder does not reach these cells."""
    for method in ("local", "amplified"):
        job = {
            "paper": "random_population",
            "experiment": "adult",
            "method": method,
            "protocol": method,
            "accounting": ["printed", "exact"],
            "repeats": 3,
            "seed": 1,
            "grid": {"rate": [0.1, 0.5], "eps": [0.1, 1.0]},
            "task": {"kind": "frequency", "domain_size": 2, "truth": "participants", "metrics": ["tve"]},
            "data": {"name": "uniform"},
            "population": {"law": "binomial", "trials": 999, "rate": "$rate"},
            "budget": {"eps": "$eps", "delta": 1e-5},
            "options": {},
        }
        done = runner.run(Job(**job), prepared=alone, root=alone)
        bundle = results.Bundle.locate(alone / "results", "random_population", "adult", method)
        results.write(bundle, done.cells, done.values, {"job": job})
    notebook = read(ROOT / "notebooks/tour.ipynb")
    notebook.cells = [cell for cell in notebook.cells if cell.id in ("imports", "results")]
    monkeypatch.chdir(alone)
    run_here(notebook)
    printed = capsys.readouterr().out
    assert printed.startswith("random_population, experiment adult: 16 cells, 64 values, of amplified, local")


def small_notebook(path, *sources):
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources]), path)
    return path


def test_outputs_are_kept_beside_the_notebook(alone, tmp_path):
    """The notebook itself stays as it is."""
    first = small_notebook(
        tmp_path / "first.ipynb",
        "import os; print(os.listdir())",
        "6 * 7",
        "import sys; print(sys.executable)",
    )
    before = first.read_bytes()
    main(tmp_path / "out", [first])
    done = read(tmp_path / "out/first.ipynb")
    assert [cell.outputs[0].get("text", cell.outputs[0].get("data")) for cell in done.cells] == [
        "[]\n",
        {"text/plain": "42"},
        f"{sys.executable}\n",
    ]
    assert first.read_bytes() == before


def test_failing_notebook_leaves_nothing(alone, tmp_path):
    broken = small_notebook(tmp_path / "broken.ipynb", "1 / 0")
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        main(tmp_path / "out", [broken])
    assert list((tmp_path / "out").iterdir()) == []


@every_notebook
def test_is_stored_as_written(path):
    nbformat.validate(read(path))
    raw = json.loads(path.read_text(encoding="utf-8"))
    assert raw["nbformat"] == 4
    assert raw["metadata"]["kernelspec"]["name"] == "python3"
    assert set(raw["metadata"]) == {"kernelspec", "language_info"}
    assert set(raw["metadata"]["language_info"]) == {"name"}, "the version of a run is stored"
    ids = [cell["id"] for cell in raw["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in raw["cells"]:
        # Ids are words, not the random hexadecimals of an editor, so that differences stay readable.
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", cell["id"]), f"cell id {cell['id']!r}"
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], f"cell {cell['id']} is stored with outputs"
            assert cell["execution_count"] is None, f"cell {cell['id']} is stored with an execution count"


@every_notebook
def test_explains_and_asserts(path):
    cells = read(path).cells
    assert path.stem in NAMES, "add the notebook's name here"
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    assert sum("assert " in cell.source for cell in cells if cell.cell_type == "code") >= 3
    text = "\n".join(cell.source for cell in cells)
    assert not re.search(r"/(home|root|work|tmp|Users)/", text), "a path of somebody's machine"
