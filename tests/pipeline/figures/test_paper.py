import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from demo_paper import Drawn
from docutils.core import publish_doctree

from scripts_by_file import script
from shuffledp.pipeline import manifest
from shuffledp.pipeline.config.grammar import Figure
from shuffledp.pipeline.experiments.results import Bundle
from shuffledp.pipeline.figures import paper as paper_module, selected_rows as shown
from shuffledp.pipeline.figures.captions import how_drawn
from shuffledp.pipeline.figures.drawings import (
    ClaimTable,
    drawings_of,
    output_files,
    paper_job,
    points_files,
)
from shuffledp.pipeline.figures.paper import _without_parameter, draw_all, publish_paper, write_drawings
from shuffledp.pipeline.formatters import number
from shuffledp.pipeline.site.cards import deck
from shuffledp.storage import IntegrityError, publish


@pytest.fixture
def unrendered(monkeypatch):
    """Skip the rendering of pictures, for tests of names and texts only."""
    monkeypatch.setattr(paper_module, "rendered", lambda figure, file_format: b"")


def entries(files):
    return {entry["id"]: entry for entry in json.loads(files["manifest.json"])["entries"]}


def jobs(project):
    return {job["id"]: job for job in project.job()["drawings"]}


def with_points(project, tmp_path, id, content, **points):
    """Return the job of a drawing with points from a published table."""
    table = tmp_path / "points.csv"
    publish(table.with_suffix(".sha256"), {table: content.encode()})
    return jobs(project)[id] | {"points": {"table": str(table), "where": {}, "panels": None, **points}}


def test_planned_files_are_drawn(project, files):
    planned = {p.name for p in output_files(project.root / "results", project.paper, ("png", "pdf", "svg"))}
    assert planned == {*files, "figures.sha256"}
    assert [f.id for f in drawings_of(project.paper)] == ["fig1_printed", "fig1", "fig2", "errors"]


def texts(figure):
    own = [*figure.texts, *(t for legend in figure.legends for t in legend.get_texts())]
    return [t.get_text() for t in (*own, *(t for ax in figure.axes for t in ax.texts))]


def test_picture_has_title_and_no_gaps(pictures, files):
    assert entries(files)["fig1"]["title"] == "Error"
    for name, figure in pictures.items():
        assert texts(figure).count(entries(files)[name]["title"]) == 1
        assert not any("not feasible" in text for text in texts(figure))


def test_readings_are_drawn_and_exported(project, tmp_path, unrendered):
    content = "panel,Delta,paper\na,1,0.5\nb,1,0.7\na,10,0.25\n"
    points = {"where": {"panel": "a"}, "x": "Delta", "y": "paper", "label": "read off the paper"}
    job = with_points(project, tmp_path, "fig2", content, **points)
    (drawn,) = draw_all([job])
    numbers = pd.read_csv(io.BytesIO(drawn.files["fig2.csv"])).query("curve == 'paper'")
    assert numbers[["eps", "mse", "kind"]].to_numpy().tolist() == [[1.0, 0.5, "read"], [10.0, 0.25, "read"]]
    assert drawn.entry.chart.curves[-1].label == "read off the paper"
    job["points"]["where"] = {"panel": "c"}
    with pytest.raises(ValueError, match="has no row with"):
        draw_all([job])


def test_paper_points_have_panels(project, tmp_path, unrendered):
    content = "where,at,printed\n0.5,1,0.5\n0.1,10,0.25\n0.9,1000,7\n"
    points = {"x": "at", "y": "printed", "panels": "where", "label": "printed"}
    (drawn,) = draw_all([with_points(project, tmp_path, "fig1_printed", content, **points)])
    numbers = pd.read_csv(io.BytesIO(drawn.files["fig1_printed.csv"])).query("curve == 'paper'")
    assert numbers[["rate", "eps", "mse"]].to_numpy().tolist() == [[0.5, 1.0, 0.5], [0.1, 10.0, 0.25]]


def test_readings_are_input_of_drawing(project):
    drawing = drawings_of(project.paper)[-2]
    shown = replace(drawing, entry={**drawing.entry, "points": {"claims": "readings", "x": "a", "y": "b"}})
    assert [p.as_posix() for p in points_files(Path("results"), [drawing, shown, shown])] == [
        "results/claims/demo/readings.csv",
        "results/claims/demo/readings.sha256",
    ]
    assert (
        shown.job("results", ["png"], project.root, "paper")["points"]["table"]
        == "results/claims/demo/readings.csv"
    )


@pytest.mark.parametrize(
    "changes, stated",
    [
        ({"source": "Fig. 2, with another padding"}, {"reproduces": "the paper's Fig. 2, with another padding"}),
        (
            {"source": "none: extends Figs. 1b and 1c"},
            {"reproduces": "nothing in the paper; extends Figs. 1b and 1c"},
        ),
        ({"source": "settings in use", "study": True}, {"about": "settings in use"}),
    ],
)  # fmt: skip
def test_what_a_drawing_reproduces(project, changes, stated):
    experiment = project.paper.experiments["coins"].model_copy(update=changes)
    drawing = replace(drawings_of(project.paper)[0], experiment=experiment)
    facts = drawing.job("results", ["png"], project.root, "paper")["facts"]
    assert {name: facts[name] for name in ("reproduces", "about") if name in facts} == stated


def test_drawing_without_caption_states_settings(project):
    drawing = jobs(project)["fig1_printed"]
    (drawn,) = draw_all([{**drawing, "caption": ""}])
    prose = drawn.files["fig1_printed.rst"].decode()
    assert drawn.entry.finding == drawing["title"]
    for fact in ("data", "participants N", "eps", "delta", "repeats", "accounting"):
        assert f"{fact}\\: " in prose
    assert drawing["caption"] == str(project.root / "workflow/report/demo/text.rst")
    given = project.paper.figures["fig1"].plain()
    bare = Figure.model_construct(**{key: value for key, value in given.items() if key != "caption"})
    paper = replace(project.paper, figures={"fig1": bare}, tables={})
    assert {one["caption"] for one in paper_job(paper, project.settings, project.root)["drawings"]} == {""}


def test_caption_knows_numbers_drawing_and_trust(project, files, tmp_path, unrendered):
    text = tmp_path / "text.rst"
    text.write_text(
        "{{ value('local') | span }}, {{ scale }}, "
        "{{ (value('local', accounting='printed') / value('local')) | times }}\n\n{{ how_drawn }}\n\n"
        "{{ trusting('printed', 'local') | join(' ') }}|{{ trusting('printed', 'central') | join }}"
    )
    drawn = draw_all([jobs(project)[id] | {"caption": str(text)} for id in ("fig1_printed", "fig1")])
    once, both = (one.files[f"{one.entry.id}.rst"].decode().split("\n\n") for one in drawn)
    numbers = pd.read_csv(io.BytesIO(files["fig1.csv"])).query(
        "method == 'local' and kind == 'expected' and accounting == 'exact'"
    )["mse"]
    assert both[0] == f"{number(numbers.min())} to {number(numbers.max())}, paper, 1 times"
    assert once[1] == how_drawn(both=False, simulated=True)
    assert both[1] == how_drawn(both=True, simulated=True)
    assert once[2] == both[2] == "local constant|\n"  # and no method with a doubtful claim


def test_equal_labels_differ_in_legend(project):
    cells = pd.DataFrame({"method": ["local", "picky", "constant"], "label": ["L", "L", "L"]})
    assert shown.names(jobs(project)["fig1_printed"], cells) == {
        "local": "L (local)",
        "picky": "L (picky)",
        "constant": "eps 2",
    }


def test_stand_in_is_named_everywhere(tmp_path, monkeypatch):
    drawn = Drawn(tmp_path, "A made-up stand_in was used.")
    files = draw_all([jobs(drawn)["fig2"]])[0].files
    assert b"stand-in data" in files["fig2.svg"]
    assert b"made-up stand_in" not in files["fig2.svg"]
    monkeypatch.setattr(paper_module, "rendered", lambda figure, file_format: b"")
    assert entries(drawn.draw())["fig1"]["note"] == "A made-up stand_in was used."


def test_captions_have_facts_and_are_valid(files):
    for name, content in files.items():
        if name.endswith(".rst"):
            tree = publish_doctree(content.decode(), settings_overrides={"report_level": 1, "halt_level": 2})
            assert not list(tree.findall(lambda n: n.tagname == "system_message"))
    text = " ".join(f"{name}: {value}" for name, value in entries(files)["fig1_printed"]["settings"])
    for fact in (
        "categorical (source: synthetic)", "1 + binomial (trials 2000, rate 0.5, 0.1)", "0.25, 0.5, 1, 9.5 nats",
        "1e-05", "the participants' own values", "20", "printed", "*guessed* from `a` plot_", "assumed rate_",
        "guarantee: exact: LOCAL; eps 2 | unproven: PICKY_ONE", "why in doubt: PICKY_ONE: nobody proved it",
    ):  # fmt: skip
        assert fact in text, fact
    assert dict(entries(files)["fig1"]["settings"])["accounting"] == "printed, exact"


def test_chart_names_its_columns(files):
    charts = {id: entry["chart"] for id, entry in entries(files).items()}
    assert charts.pop("errors") is None
    for id, chart in charts.items():
        numbers = pd.read_csv(io.BytesIO(files[f"{id}.csv"]))
        assert {chart["x"], chart["y"], "curve"} <= set(numbers)
        assert {curve["id"] for curve in chart["curves"]} == set(numbers["curve"])
        looks = {(c["color"], c["marker"], str(c["dash"])) for c in chart["curves"]}
        assert len(looks) == len(chart["curves"])
    chart = charts["fig1"]
    assert (chart["x_scale"], chart["y_scale"], chart["panels"]) == ("linear", "log", "rate")
    assert chart["panel_label"].format(0.5) == "rate = 0.5"
    assert {curve["id"]: curve["dash"] for curve in chart["curves"]} == {
        f"{method}|{accounting}": dash
        for method in ("local", "picky", "constant")
        for accounting, dash in (("printed", [0, [4, 2]]), ("exact", "-"))
    }
    assert charts["fig2"]["panels"] is None


def test_table_has_cells_in_every_format(files):
    wide = pd.read_csv(io.BytesIO(files["errors.csv"]))
    assert wide.columns.tolist() == [
        "rate", "eps", "LOCAL, printed", "LOCAL, exact", "PICKY_ONE, printed", "PICKY_ONE, exact", "eps 2, printed",
        "eps 2, exact",
    ]  # fmt: skip
    assert wide[["rate", "eps"]].to_numpy().tolist() == [
        [r, e] for r in (0.5, 0.1) for e in (0.25, 0.5, 1, 9.5)
    ]
    assert wide["LOCAL, exact"].tolist() == [0.25, 0.5, 1, 9.5] * 2
    assert wide["PICKY_ONE, printed"].tolist() == ["0.25", "infeasible", "1.0", "9.5"] * 2
    assert wide["eps 2, printed"].tolist() == [2] * 8
    assert "| 0.5    | 0.25" in files["errors.md"].decode()
    assert "infeasible" in files["errors.md"].decode()
    tex = files["errors.tex"].decode()
    assert "\\toprule" in tex
    assert "0.250" in tex


def test_manifest_has_entries_and_cards(project, files, monkeypatch):
    monkeypatch.setattr(paper_module, "rendered", lambda figure, file_format: files["fig2.png"])
    publish_paper(project.job())
    paper = manifest.read(project.root / "results/figures/demo")
    assert [e.id for e in paper.entries] == ["fig1_printed", "fig1", "fig2", "errors"]
    assert paper.run.scale == "paper"
    assert {entry.finding for entry in paper.entries} == {"Errors of all methods."}
    assert paper.entries[0].infeasible == (
        "PICKY_ONE (printed) at eps = 0.5, rate = 0.5 and 0.1: not at one half",
    )
    cards = deck(project.root / "results", "pages/demo.html", paper).cards
    assert [card.anchor for card in cards] == ["fig1_printed", "fig1", "fig2", "errors"]


def test_one_drawing_is_written_alone(project, unrendered):
    write_drawings([jobs(project)["errors"]])
    assert (project.root / "results/figures/demo/errors.csv").is_file()


def test_columns_have_dotted_lines(project, unrendered):
    """Jobs are read from a file, which has lists in place of tuples."""
    publish_paper(project.job())
    written = json.loads((project.root / "results/figures/demo/drawings.json").read_text())
    drawn = next(job for job in written if job["id"] == "fig1_printed")
    assert any(isinstance(look["dash"], list) for look in drawn["looks"].values())
    (file,) = script("tools/column_figures.py").write(project.root / "results", "demo/fig1_printed")
    assert file.name == "fig1_printed.pdf"


# -- what a change of the configuration changes --------------------------------------------------------------------

EVERY = {"fig1_printed", "fig1", "fig2", "errors"}


@pytest.fixture
def changed_by(tmp_path):
    """Return the drawings whose jobs another file of the configuration changes."""
    project = Drawn(tmp_path)

    def changed(name, change):
        before, whole = jobs(project), project.job()
        file = tmp_path / "config" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(change(file.read_text() if file.exists() else ""))
        project.settings = project.load()
        assert project.job() != whole
        return {id for id, job in jobs(project).items() if job != before[id]}

    return changed


@pytest.mark.parametrize(
    "old, new, drawings",
    [
        ('label: "eps 2"', 'label: "two"', EVERY - {"fig2"}),
        ('title: "Error by rate"', 'title: "By rate"', {"fig2"}),
        ("where: {accounting: exact}", "where: {accounting: printed}", {"fig2"}),
        ('source: "Fig. 1"', 'source: "Fig. 2"', EVERY),
        ('"*guessed* from `a` plot_"', '"read off"', EVERY),
        ('format: ".3f"', 'format: ".4f"', {"errors"}),
        ('citation: "Nobody 2024"', 'citation: "Somebody 2024"', set()),  # in the manifest alone
    ],
)
def test_change_is_in_its_jobs(changed_by, old, new, drawings):
    """The rules of single figures take these jobs as parameters."""
    assert changed_by("experiments/demo.yaml", lambda text: text.replace(old, new, 1)) == drawings


@pytest.mark.parametrize(
    "figures, drawings", [("all", EVERY), ("[demo.errors]", {"errors"}), ("[demo.fig2]", {"fig2"})]
)
def test_baseline_is_in_its_figures(changed_by, figures, drawings):
    mine = f"task: frequency\nmethods: {{mine: {{protocol: local}}}}\nfigures: {figures}\n"
    assert changed_by("baselines/mine.yaml", lambda _: mine) == drawings


def test_citation_is_part_of_claim_table(project):
    table = ClaimTable("demo", "errata", "Errata", "errata.rst", "Nobody 2024")
    other = replace(table, citation="Somebody 2024")
    assert table.job("results", project.root, "paper") != other.job("results", project.root, "paper")


def test_damaged_result_is_refused(tmp_path):
    project = Drawn(tmp_path)
    values = Bundle.locate(tmp_path / "results", "demo", "coins", "local").values
    values.write_bytes(values.read_bytes()[:-5] + b"wrong")
    with pytest.raises(IntegrityError, match=r"local\.values\.parquet: content differs"):
        project.draw()


def test_method_without_drawn_parameter_is_named():
    cells = pd.DataFrame(
        {"method": ["a", "mine"], "label": ["A", "Mine"], "status": ["ok", "ok"], "point": ["{}", "{}"]}
    )
    job = {"entry": {"y": "parameters.noise_rmse"}, "labels": {"a": None, "mine": None}}
    what = SimpleNamespace(selection=pd.DataFrame({"method": ["a"]}))
    assert _without_parameter(job, cells, what) == ["Mine: parameters() has no 'noise_rmse'"]
    assert _without_parameter({**job, "entry": {"y": "mse"}}, cells, what) == []
