import hashlib
import io
import json
import logging
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from demo_paper import Drawn
from docutils.core import publish_doctree

from shuffledp import pages
from shuffledp.experiments.results import Bundle
from shuffledp.figures import paper as paper_module
from shuffledp.figures.captions import number
from shuffledp.figures.drawings import ClaimTable, drawings_of, output_files, slug
from shuffledp.figures.paper import publish_paper, write_drawings
from shuffledp.figures.plotter import Picture, draw
from shuffledp.figures.store import Store
from shuffledp.pages import manifest
from shuffledp.storage import IntegrityError


@pytest.fixture
def unrendered(monkeypatch):
    """Where only names and texts matter, pictures need not be rendered."""
    monkeypatch.setattr(paper_module, "rendered", lambda figure, file_format: b"")


def test_the_planned_files_are_exactly_those_that_are_drawn(project, files):
    planned = {p.name for p in output_files(project.root / "results", project.paper, ("png", "pdf", "svg"))}
    assert planned == {*files, "figures.sha256"}
    assert [f.id for f in drawings_of(project.paper)] == ["fig1_printed", "fig1_exact", "fig2", "errors"]


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


def test_a_method_without_a_number_is_not_in_the_legend():
    rows = pd.DataFrame(
        {
            "curve": ["a", "a"],
            "method": "a",
            "eps": [1, 2],
            "kind": "computed",
            "mean": [1.0, 2.0],
            "standard_error": np.nan,
        }
    )
    gaps = pd.DataFrame({"curve": ["b"], "method": "b", "eps": [1]})
    picture = Picture({"x": "eps", "y": "mse"}, rows, gaps, {"a": "A", "b": "B"}, "T", grid={"eps": [1, 2]})
    figure = draw(picture)
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["A"]
    assert [t.get_text() for t in figure.axes[0].texts] == ["gaps: B not feasible"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Fig. 2, with another padding", "the paper's Fig. 2, with another padding"),
        ("none: extends Figs. 1b and 1c", "nothing in the paper; extends Figs. 1b and 1c"),
    ],
)
def test_what_a_drawing_reproduces(project, source, said):
    experiment = replace(project.paper.experiments["coins"], source=source)
    drawing = replace(drawings_of(project.paper)[0], experiment=experiment)
    assert drawing.job("results", ["png"], project.root, "paper")["facts"]["reproduces"] == said


def test_a_caption_has_the_numbers_of_its_file(project, files, unrendered):
    text = project.root / "workflow/report/demo/text.rst"
    before = text.read_text()
    other = "{{ (value('local', accounting='exact') / value('local')) | times }}"
    beside = "{% if where.accounting == 'printed' %}, " + other + "{% endif %}"
    asks = "{{ value('local') | span }}, {{ scale }}" + beside
    try:
        text.write_text(asks)
        prose = project.draw("fig1")["fig1_printed.rst"].decode()
    finally:
        text.write_text(before)
    numbers = pd.read_csv(io.BytesIO(files["fig1_printed.csv"])).query(
        "method == 'local' and kind == 'expected'"
    )["mse"]
    assert prose == f"{number(numbers.min())} to {number(numbers.max())}, paper, 1 times\n"


def test_curves_by_another_variable_are_in_the_grids_order(pictures):
    legend = pictures["Error by rate"].legends[0]
    assert [t.get_text() for t in legend.get_texts()] == ["rate 0.5", "rate 0.1"]


def test_methods_of_one_label_are_told_apart_in_the_legend(project):
    job = project.job()["drawings"][0]
    cells = pd.DataFrame({"method": ["local", "picky", "constant"], "label": ["L", "L", "L"]})
    assert paper_module._names(job, cells) == {
        "local": "L (local)",
        "picky": "L (picky)",
        "constant": "eps 2",
    }


DRAW = """
import hashlib, json, sys
from shuffledp.figures.paper import draw_paper
drawn = draw_paper(json.load(sys.stdin))
for path, content in sorted(drawn.items()):
    print(path.name, hashlib.sha256(content).hexdigest())
heavy = {"shuffledp.experiments.config", "shuffledp.accounting.general", "shuffledp.protocols", "pydantic", "yaml"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""


def test_every_file_has_the_same_bytes_in_another_process_that_is_given_the_job_alone(project, files):
    assert project.draw() == files
    done = subprocess.run(
        [sys.executable, "-c", DRAW],
        input=json.dumps(project.job()),
        capture_output=True,
        text=True,
        check=True,
    )
    other = dict(line.split() for line in done.stdout.splitlines())
    assert other == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def test_a_stand_in_is_named_on_the_picture_and_in_the_caption(tmp_path, monkeypatch):
    drawn = Drawn(tmp_path, "A made-up stand_in was used.")
    files = drawn.draw("fig2")
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
        "rate", "eps", "LOCAL, printed", "LOCAL, exact", "PICKY_ONE, printed", "PICKY_ONE, exact", "eps 2, printed",
        "eps 2, exact",
    ]  # fmt: skip
    assert wide[["rate", "eps"]].to_numpy().tolist() == [
        [r, e] for r in (0.5, 0.1) for e in (0.25, 0.5, 1, 10)
    ]
    assert wide["LOCAL, exact"].tolist() == [0.25, 0.5, 1, 10] * 2
    assert wide["PICKY_ONE, printed"].tolist() == ["0.25", "infeasible", "1.0", "10.0"] * 2
    assert wide["eps 2, printed"].tolist() == [2] * 8
    assert "| 0.5    | 0.25" in files["errors.md"].decode()
    assert "infeasible" in files["errors.md"].decode()
    tex = files["errors.tex"].decode()
    assert "\\toprule" in tex
    assert "0.250" in tex


def test_the_manifest_is_what_the_pages_read(project, files):
    publish_paper(project.job(), "code")
    paper = manifest.read(project.root / "results/figures/demo")
    assert [e.id for e in paper.entries] == ["fig1_printed", "fig1_exact", "fig2", "errors"]
    assert paper.run.scale == "paper"
    assert paper.entries[0].infeasible == tuple(
        f'PICKY_ONE (printed) at {{"eps":0.5,"rate":{rate}}}: not at one half' for rate in (0.1, 0.5)
    )
    assert "not at one half" in pages.render(project.root / "results", ["demo"])


def test_one_drawing_is_written_alone(project, unrendered):
    assert {n.partition(".")[0] for n in project.draw("fig1")} == {"fig1_printed", "fig1_exact"}
    write_drawings([one for one in project.job()["drawings"] if one["name"] == "errors"], "code")
    assert (project.root / "results/figures/demo/errors.csv").is_file()


# -- what is drawn again -------------------------------------------------------------------------------------------


class Again:
    """A demonstration that was drawn before; says what is drawn again."""

    def __init__(self, root: Path, log: pytest.LogCaptureFixture) -> None:
        self.project, self.store, self.log = Drawn(root), Store(root / "store", "code"), log
        self.file = root / "config/experiments/demo.yaml"
        self.project.draw(store=self.store)

    def change(self, old: str, new: str) -> None:
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new, 1))
        self.project.settings = self.project.load()

    def drawn(self) -> set[str]:
        self.log.clear()
        with self.log.at_level(logging.INFO, logger="shuffledp"):
            files = self.project.draw(store=self.store)
        said = {record.getMessage() for record in self.log.records}
        assert files == self.project.draw()
        return {line.removeprefix("demo.") for line in said}


@pytest.fixture
def again(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(paper_module, "draw", lambda picture: picture)
    monkeypatch.setattr(paper_module, "rendered", lambda picture, file_format: repr(picture.labels).encode())
    return Again(tmp_path, caplog)


EVERY = {"fig1_printed", "fig1_exact", "fig2", "errors"}


def test_nothing_changed_and_nothing_is_drawn(again):
    assert again.drawn() == set()


@pytest.mark.parametrize(
    ("old", "new", "drawn"),
    [
        ('label: "eps 2"', 'label: "two"', EVERY - {"fig2"}),
        ('title: "Error by rate"', 'title: "By rate"', {"fig2"}),
        ("where: {accounting: exact}", "where: {accounting: printed}", {"fig2"}),
        ('source: "Fig. 1"', 'source: "Fig. 2"', EVERY),
        ('"*guessed* from `a` plot_"', '"read off"', EVERY),
        ('format: ".3f"', 'format: ".4f"', {"errors"}),
        ('citation: "Nobody 2024"', 'citation: "Somebody 2024"', set()),  # in the manifest alone
    ],
)  # fmt: skip
def test_a_change_draws_what_shows_it(again, old, new, drawn):
    before = again.project.job()
    again.change(old, new)
    assert again.drawn() == drawn
    assert again.project.job() != before, "the workflow compares the job"


def test_a_citation_is_part_of_a_table_of_claims(project):
    table = ClaimTable("demo", "errata", "Errata", "errata.rst", "Nobody 2024")
    other = replace(table, citation="Somebody 2024")
    assert table.job("results", project.root, "paper") != other.job("results", project.root, "paper")


@pytest.mark.parametrize(
    ("figures", "drawn"), [("all", EVERY), ("[demo.errors]", {"errors"}), ("[demo.fig2]", {"fig2"})]
)
def test_a_baseline_draws_the_figures_that_it_enters(again, figures, drawn):
    mine = again.project.root / "config/baselines/mine.yaml"
    mine.parent.mkdir()
    mine.write_text(f"task: frequency\nmethods: {{mine: {{protocol: local}}}}\nfigures: {figures}\n")
    again.project.settings = again.project.load()
    again.project.compute("mine")
    assert again.drawn() == drawn


def test_a_changed_result_or_caption_is_drawn_again(again):
    again.project.compute("picky", note="Made up.")
    assert again.drawn() == EVERY - {"fig2"}
    (again.project.root / "workflow/report/demo/text.rst").write_text("Other words.\n")
    assert again.drawn() == EVERY


def test_a_damaged_or_missing_kept_drawing_is_drawn_again(again):
    archive = again.store.folder / "fig2.zip"
    archive.write_bytes(archive.read_bytes()[:-5] + b"wrong")
    (again.store.folder / "errors.zip").unlink()
    said = again.drawn()
    assert {"fig2", "errors"} <= said
    assert any("content differs from its checksum" in line for line in said)
    assert again.drawn() == set()


def test_other_drawing_code_draws_everything_again(again):
    again.store = replace(again.store, code="changed")
    assert again.drawn() == EVERY


def test_a_damaged_result_is_refused_even_where_its_drawing_is_kept(again):
    values = Bundle.of(again.project.root / "results", "demo", "coins", "local").values
    values.write_bytes(values.read_bytes()[:-5] + b"wrong")
    with pytest.raises(IntegrityError, match=r"local\.values\.parquet: content differs"):
        again.drawn()


def test_a_drawing_that_is_gone_is_forgotten(again):
    text = again.file.read_text()
    again.change(text[text.index("  fig2:") : text.index("tables:")], "")
    assert again.drawn() == set()
    assert {p.stem for p in again.store.folder.iterdir()} == EVERY - {"fig2"}
