"""Curves differ in their looks, and a protocol has the look of its identity."""

import zlib
from itertools import combinations

import pandas as pd
import pytest
from demo_paper import CONFIG, PAPER, PICKY
from made_up_cells import points_of

from color_vision import distance
from scripts_by_file import ROOT
from shipped_settings import shipped_settings
from shuffledp.identities import identity_of
from shuffledp.pipeline.figures.drawings import drawings_of, looks_of
from shuffledp.pipeline.figures.palette import (
    BLACK,
    COLORS,
    MARKERS,
    look_of,
    numbered_look,
    of_accounting,
    own_look,
    told_apart,
)
from shuffledp.pipeline.figures.picture import POINTS
from shuffledp.pipeline.figures.selected_rows import looks_of_values, picture
from shuffledp.pipeline.figures.selection import load_settings


@pytest.fixture
def paper_with(tmp_path):
    """Return a paper from the content of its file, with a file of the user's methods."""

    def load(content, methods=None):
        mine = "" if methods is None else f"task: frequency\nmethods: {methods}\n"
        files = {"experiments/demo": content, "baselines/mine": mine}
        for name, text in files.items():
            path = tmp_path / f"config/{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            if text:
                path.write_text(text)
        (tmp_path / "picky.py").write_text(PICKY)
        return load_settings(CONFIG, tmp_path).papers["demo"]

    return load


def written(one):
    return one.color, one.marker, str(one.dash)


def test_looks_by_number_differ():
    for look in (numbered_look, own_look):
        first = [look(i) for i in range(45)]
        assert len({(one.color, one.marker) for one in first}) == 45
    assert not {own_look(i).color for i in range(9)} & {*COLORS, BLACK}


def test_methods_of_ones_own_stand_out(paper_with):
    """They change no other look."""
    before = looks_of(paper_with(PAPER))
    after = looks_of(paper_with(PAPER, "{mine: {protocol: local}, second: {protocol: local}}"))
    own = [after.pop(m) for m in ("mine", "second")]
    assert after == before
    assert len({one.color for one in own}) == 2
    assert not {one.color for one in own} & set(COLORS)
    assert all(one.width > 2 and one.dash == "-" for one in own)
    assert all(look.width == 0 for m, look in before.items() if m != "picky")


def test_curves_of_one_color_differ():
    look = numbered_look(0)
    apart = told_apart({"a": look, "b": numbered_look(1), "c": look, "d": look})
    assert (apart["a"], apart["b"]) == (look, numbered_look(1))
    assert len({str(one.dash) for one in apart.values()}) == 3
    assert {apart[curve].color for curve in "acd"} == {look.color}


def of_one_accounting(content):
    """Return the content of the paper's file with exact accounting alone."""
    one = content.replace("accounting: [printed, exact]", "accounting: [exact]")
    return one.replace("{accounting: printed}", "{}").replace(", files: accounting", "")


def test_all_figures_mean_those_with_room(paper_with):
    """A file for all experiments may name accountings that one of them does not have."""
    paper = paper_with(of_one_accounting(PAPER), "{mine: {protocol: local, accounting: [printed, exact]}}")
    assert paper.experiments["coins"].methods["mine"].accounting == ["exact"]
    assert "mine" in paper.figures["fig1"].methods


def test_accountings_do_not_look_like_methods():
    plain = {a: of_accounting(a) for a in ("printed", "simplified", "corrected", "exact")}
    assert len(set(map(written, plain.values()))) == len({str(one.dash) for one in plain.values()}) == 4
    for one in plain.values():
        red, green, blue = (one.color[i : i + 2] for i in (1, 3, 5))
        assert red == green == blue
    own = numbered_look(3)
    beside = {a: of_accounting(a, own) for a in plain}
    assert {one.marker for one in beside.values()} == {own.marker}
    assert len(set(map(written, beside.values()))) == 4
    assert {one.color for one in beside.values()} == {own.color}


def test_values_run_from_dark_to_light():
    for count in (1, 2, 3, 10, 40):
        found = looks_of_values(count)
        assert len(set(map(written, found))) == count
        light = [sum(int(one.color[i : i + 2], 16) for i in (1, 3, 5)) for one in found]
        assert light == sorted(light)


@pytest.fixture(scope="module")
def shipped():
    return shipped_settings("paper")


def test_looks_agree_across_figures_and_differ(shipped):
    """A method looks the same in every figure, and two methods of a figure look different."""
    for paper in shipped.papers.values():
        seen = {}
        for drawing in drawings_of(paper):
            looks = drawing.job("results", ["png"], ROOT, "paper").get("looks", {})
            assert len({(look["color"], look["marker"]) for look in looks.values()}) == len(looks), drawing.id
            assert all(seen.setdefault(m, look) == look for m, look in looks.items())


def fabricated(drawing):
    """Return a picture with made-up closed and simulated numbers of every method at every point."""
    job = drawing.job("results", ["png"], ROOT, "paper") | {"points": None}
    grid = {
        v: values[:2] if v == drawing.entry["x"] else values for v, values in drawing.experiment.grid.items()
    }
    rows = [
        {**row, "cell": str(row), "mean": 1 + zlib.crc32(str(row).encode()) / 2**32}
        for row in points_of(drawing, grid)
    ]
    cells = pd.DataFrame(rows).assign(
        label=None, status="ok", guarantee="exact", guarantee_note="", users_expected=10.0
    )
    numbers = cells.assign(metric=drawing.entry["y"], standard_error=0.1, count=50)
    both = pd.concat([numbers.assign(kind=kind) for kind in ("expected", "simulated")])
    return job, picture(job, cells, both, "")


@pytest.fixture(scope="module")
def fabrications(shipped):
    """Every picture of curves with made-up numbers."""
    return [
        (drawing, *fabricated(drawing))
        for paper in shipped.papers.values()
        for drawing in drawings_of(paper)
        if drawing.kind == "figure" and drawing.entry.get("kind") != "pareto"
    ]


def test_curve_has_marker_of_its_method(fabrications):
    for drawing, job, what in fabrications:
        for curve, look in what.looks.items():
            assert look.marker != POINTS.marker, drawing.id
            if what.name_of(curve) in job["looks"]:  # as in every other figure
                assert look.marker == job["looks"][what.name_of(curve)]["marker"], (drawing.id, curve)
    assert POINTS.marker not in MARKERS


def test_protocol_has_look_of_its_identity(shipped):
    for paper in shipped.papers.values():
        looks = looks_of(paper)
        for experiment in paper.experiments.values():
            for method in experiment.methods.values():
                if method.protocol == method.id:
                    identity = identity_of(experiment.task.kind, method.id)
                    assert looks[method.id] == look_of(identity), (paper.key, method.id)


def test_drawing_has_looks_of_its_methods(paper_with, tmp_path):
    drawings = drawings_of(paper_with(PAPER))
    looks = {d.id: {*d.job("results", ["png"], tmp_path, "paper")["looks"]} for d in drawings}
    # The curves of fig2 are the values of a variable, not the methods.
    drawn = {"local", "picky", "constant"}
    assert looks == {"fig1_printed": drawn, "fig1": drawn, "fig2": set(), "errors": set()}


@pytest.mark.parametrize("both", [True, False])
def test_option_has_color_between_accountings(paper_with, both):
    methods = "local: {}\n      grr_blanket: {}\n      other: {protocol: grr_blanket}"
    content = PAPER.replace("local: {}", methods)
    looks = looks_of(paper_with(content if both else of_one_accounting(content)))
    assert (looks["other"].color != looks["grr_blanket"].color) == both
    assert looks["other"].marker != looks["grr_blanket"].marker


def test_curves_differ_in_color_or_dash(fabrications):
    """Each picture of curves, for usual and color-blind sight; a picture by method has one method in each panel."""
    pairs = 0
    for drawing, _, what in fabrications:
        if drawing.entry.get("kind") == "methods":
            continue
        drawn = {curve: what.looks[curve] for curve in dict.fromkeys(what.selection["curve"])}
        for (a, first), (b, second) in combinations(drawn.items(), 2):
            if first.dash == second.dash:
                pairs += 1
                assert distance(first.color, second.color) >= 10, (drawing.id, a, b)
    assert pairs > 200
