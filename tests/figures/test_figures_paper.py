import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from demo_paper import Drawn
from docutils.core import publish_doctree

from shuffledp import pages
from shuffledp.figures import paper as paper_module
from shuffledp.figures.drawings import drawing_files, output_files, slug
from shuffledp.figures.paper import publish_paper


@pytest.fixture
def unrendered(monkeypatch):
    """Where only names and texts matter, pictures need not be rendered."""
    monkeypatch.setattr(paper_module, "rendered", lambda figure, file_format: b"")


def test_the_planned_files_are_exactly_those_that_are_drawn(project, files):
    planned = {p.name for p in output_files(project.root / "results", project.paper, ("png", "pdf", "svg"))}
    assert planned == {*files, "figures.sha256"}
    assert [f.id for f in drawing_files(project.paper)] == ["fig1_printed", "fig1_exact", "fig2", "errors"]


@pytest.mark.parametrize(
    ("value", "name"), [(0.05, "0p05"), (-1, "m1"), (1e-5, "1em05"), ("plus_0", "plus_0")]
)
def test_a_value_in_a_file_name(value, name):
    assert slug(value) == name


def test_panels_follow_the_grid_and_hold_every_method(pictures):
    axes = pictures["Error (accounting: printed)"].axes
    assert [ax.get_title() for ax in axes] == ["rate = 0.5", "rate = 0.1"]
    for ax in axes:
        dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
        assert len(dashed) == 1  # the method that does not depend on eps
        assert len(set(dashed[0].get_ydata())) == 1
        assert len(ax.containers) == 2  # simulated points of the two others


def test_an_infeasible_cell_is_a_gap_with_a_note(pictures):
    for ax in pictures["Error (accounting: printed)"].axes:
        lines = [ln for ln in ax.lines if ln.get_linestyle() == "-" and len(ln.get_xdata()) == 4]
        holes = [np.isnan(np.asarray(ln.get_ydata(), float)).tolist() for ln in lines]
        assert sorted(holes) == [[False] * 4, [False, True, False, False]]
        assert [t.get_text() for t in ax.texts] == ["gaps: PICKY_ONE not feasible"]
    assert not pictures["Error by rate"].axes[0].texts


def test_points_are_means_with_one_standard_error_by_the_delta_method_under_ln(pictures, files):
    numbers = pd.read_csv(io.BytesIO(files["fig1_printed.csv"]))
    own = numbers.query("method == 'local' and rate == 0.5 and kind == 'simulated'").sort_values("eps")
    container = pictures["Error (accounting: printed)"].axes[0].containers[0]
    assert np.allclose(container[0].get_ydata(), np.log(own["mse"]))
    bars = container[2][0].get_segments()
    half = [(top - bottom) / 2 for (_, bottom), (_, top) in bars]
    assert np.allclose(half, own["standard_error"] / own["mse"])
    assert (own["count"] == 20).all()


def test_curves_by_another_variable_are_in_the_grids_order(pictures):
    legend = pictures["Error by rate"].legends[0]
    assert [t.get_text() for t in legend.get_texts()] == ["rate 0.5", "rate 0.1"]


def test_methods_of_one_label_are_told_apart_in_the_legend(project):
    file = drawing_files(project.paper)[0]
    cells = pd.DataFrame({"method": ["local", "picky", "constant"], "label": ["L", "L", "L"]})
    assert paper_module._names(file, cells) == {
        "local": "L (local)",
        "picky": "L (picky)",
        "constant": "eps 2",
    }


DRAW = """
import hashlib, sys
from pathlib import Path
from shuffledp.experiments.config import load_settings
from shuffledp.figures.paper import draw_paper
sys.path.insert(0, {tests!r})
from demo_paper import CONFIG
root = Path({root!r})
settings = load_settings(CONFIG | {{"results": str(root / "results")}}, root)
drawn = draw_paper(settings.papers["demo"], settings, root / "workflow/report")
for path, content in sorted(drawn.items()):
    print(path.name, hashlib.sha256(content).hexdigest())
"""


def test_every_file_has_the_same_bytes_in_this_process_and_in_another(project, files):
    import hashlib
    from pathlib import Path

    assert project.draw() == files
    script = DRAW.format(tests=str(Path(__file__).parent), root=str(project.root))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    other = dict(line.split() for line in done.stdout.splitlines())
    assert other == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def test_a_stand_in_is_named_on_the_picture_and_in_the_caption(tmp_path, monkeypatch):
    drawn = Drawn(tmp_path, "A made-up stand_in was used.")
    files = drawn.draw(["fig2"])
    assert b"made-up stand_in" in files["fig2.svg"]
    assert "warning" in files["fig2.report.rst"].decode()
    assert "A made-up stand_in was used." in publish_doctree(files["fig2.report.rst"].decode()).astext()
    monkeypatch.setattr(paper_module, "rendered", lambda figure, file_format: b"")
    assert json.loads(drawn.draw()["manifest.json"])["entries"][0]["note"] == "A made-up stand_in was used."


def test_captions_hold_the_facts_and_are_valid(files):
    for name, content in files.items():
        if name.endswith(".rst"):
            tree = publish_doctree(content.decode(), settings_overrides={"report_level": 1, "halt_level": 2})
            assert not list(tree.findall(lambda n: n.tagname == "system_message"))
    text = publish_doctree(files["fig1_exact.report.rst"].decode()).astext()
    for fact in (
        "categorical (source: synthetic)", "1 + binomial (trials 2000, rate 0.5, 0.1)", "0.25, 0.5, 1, 10 nats",
        "1e-05", "the participants' own values", "20", "exact", "*guessed* from `a` plot_", "assumed rate_",
    ):  # fmt: skip
        assert fact in text, fact
    assert "printed" not in text


def test_a_table_has_every_cell_in_every_format(files):
    wide = pd.read_csv(io.BytesIO(files["errors.csv"]))
    assert wide.columns.tolist() == [
        "rate", "eps", "local printed", "local exact", "picky printed", "picky exact", "constant printed",
        "constant exact",
    ]  # fmt: skip
    assert wide[["rate", "eps"]].to_numpy().tolist() == [
        [r, e] for r in (0.5, 0.1) for e in (0.25, 0.5, 1, 10)
    ]
    assert wide["local exact"].tolist() == [0.25, 0.5, 1, 10] * 2
    assert wide["picky printed"].tolist() == ["0.25", "infeasible", "1.0", "10.0"] * 2
    assert wide["constant printed"].tolist() == [2] * 8
    assert "| 0.5    | 0.25" in files["errors.md"].decode()
    assert "infeasible" in files["errors.md"].decode()
    tex = files["errors.tex"].decode()
    assert "\\toprule" in tex
    assert "0.250" in tex


def test_underscores_are_escaped_in_latex():
    from shuffledp.figures.tables import as_table

    cells = pd.DataFrame(
        {
            "cell": ["a", "b"],
            "method": ["mix_dump", "pure_dump"],
            "n_1": [1, 1],
            "status": "ok",
            "eps_local": [1.0, 2.0],
            "parameters": "{}",
        }
    )
    summary = pd.DataFrame({"metric": [], "kind": []})
    entry = {"rows": ["n_1"], "columns": ["method"], "value": "eps_local"}
    tex = as_table(entry, cells, summary, {"n_1": [1], "method": ["mix_dump", "pure_dump"]})["tex"]
    assert "mix\\_dump" in tex
    assert "n\\_1" in tex
    assert "mix_dump" not in tex


def test_the_manifest_is_what_the_pages_read(project, files):
    publish_paper(project.settings, project.paper, {
        project.root / "results/figures/demo" / name: content for name, content in files.items()
    })  # fmt: skip
    from shuffledp.pages import manifest

    paper = manifest.read(project.root / "results/figures/demo")
    assert [e.id for e in paper.entries] == ["fig1_printed", "fig1_exact", "fig2", "errors"]
    assert paper.run.scale == "paper"
    assert paper.entries[0].infeasible == tuple(
        f'PICKY_ONE (printed) at {{"eps":0.5,"rate":{rate}}}: not at one half' for rate in (0.1, 0.5)
    )
    assert "not at one half" in pages.render(project.root / "results", ["demo"])


def test_one_drawing_is_drawn_alone_by_its_name_or_file(project, unrendered):
    assert {n.partition(".")[0] for n in project.draw(["fig1"])} == {"fig1_printed", "fig1_exact"}
    assert {n.partition(".")[0] for n in project.draw(["fig1_exact"])} == {"fig1_exact"}
    with pytest.raises(ValueError, match=r"no drawing fig9. Known: fig1_printed, fig1_exact, fig2, errors"):
        project.draw(["fig9"])
