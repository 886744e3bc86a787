"""Curves differ in their looks, and a paper's methods keep the looks that the paper gives them."""

import zlib
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from demo_paper import CONFIG, PAPER, PICKY

from shipped_settings import shipped_settings
from shuffledp.pipeline.config import ConfigurationError
from shuffledp.pipeline.figures.drawings import drawings_of, looks_of
from shuffledp.pipeline.figures.legend import POINTS
from shuffledp.pipeline.figures.palette import (
    COLORS,
    GRAY,
    MARKERS,
    OWN,
    assigned,
    look,
    marked_apart,
    of_accounting,
    of_values,
    told_apart,
)
from shuffledp.pipeline.figures.plotter import _legend_items
from shuffledp.pipeline.figures.selected_rows import picture
from shuffledp.pipeline.figures.selection import load_settings

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def settings_with(tmp_path):
    """Return the settings if a paper's file has these looks."""

    def load(section):
        (tmp_path / "config/experiments").mkdir(parents=True)
        (tmp_path / "config/experiments/demo.yaml").write_text(PAPER + section)
        (tmp_path / "picky.py").write_text(PICKY)
        return load_settings(CONFIG, tmp_path)

    return load


def written(one):
    return one.color, one.marker, str(one.dash)


def test_no_two_looks_are_the_same():
    every = [look(i) for i in range(2000)]
    assert len({written(one) for one in every}) == 2000
    first = every[:10]
    assert [
        len({part(one) for one in first})
        for part in (lambda o: o.color, lambda o: o.marker, lambda o: str(o.dash))
    ] == [10] * 3
    assert len({(one.color, one.marker) for one in every[:150]}) == 150
    with pytest.raises(ValueError, match="got -1"):
        look(-1)


def test_a_method_has_one_look_wherever_it_is_drawn_and_those_that_meet_differ():
    groups = [["a", "b"], ["b", "c", "kept"], ["c", "d"]]
    found = assigned(groups, {"kept": 0, "absent": 1})
    assert found == {"a": 0, "b": 1, "c": 2, "kept": 0, "d": 0}
    assert all(len({found[m] for m in group}) == len(group) for group in groups)
    more = assigned([*groups, ["late", "a", "b"]], {"kept": 0})
    assert {m: more[m] for m in found} == found
    many = assigned([[f"m{i}" for i in range(40)]], {"m7": 0})
    assert len(set(many.values())) == 40


def test_a_baseline_changes_no_look(settings_with, tmp_path):
    before = looks_of(settings_with("").papers["demo"])
    mine = tmp_path / "config/baselines/mine.yaml"
    mine.parent.mkdir()
    mine.write_text("task: frequency\nmethods: {mine: {protocol: local}}\n")
    after = looks_of(load_settings(CONFIG, tmp_path).papers["demo"])
    assert {m: number for m, number in after.items() if m != "mine"} == before
    assert after["mine"] not in before.values()


def test_methods_of_ones_own_stand_out(settings_with, tmp_path):
    settings_with("")
    mine = tmp_path / "config/baselines/mine.yaml"
    mine.parent.mkdir()
    mine.write_text("task: frequency\nmethods: {mine: {protocol: local}, second: {protocol: local}}\n")
    after = looks_of(load_settings(CONFIG, tmp_path).papers["demo"])
    own = [look(after[m]) for m in ("mine", "second")]
    assert len({one.color for one in own}) == 2
    assert not {one.color for one in own} & set(COLORS)
    assert all(one.width > 2 and one.dash == "-" for one in own)
    assert all(look(number).width == 0 for m, number in after.items() if m not in ("mine", "second"))
    assert len({written(look(OWN + i)) for i in range(200)}) == 200


def test_no_two_curves_of_a_figure_look_alike():
    # Of many methods in one color some share a marker.
    printed = {f"m{i}": replace(look(i), color=GRAY, dash="-") for i in range(33)}
    assert len({written(one) for one in printed.values()}) < 33
    apart = told_apart(printed)
    assert len({written(one) for one in apart.values()}) == 33
    assert {one.color for one in apart.values()} == {look.color for look in printed.values()}
    assert [curve for curve in printed if apart[curve] != printed[curve]]
    alone = {"a": look(0), "b": look(1)}
    assert told_apart(alone) == alone


def test_names_that_have_several_curves_have_a_marker_of_their_own():
    met = {"a": look(5), "b": look(19), "c": look(6), "d": look(0)}
    assert met["a"].marker == met["b"].marker
    found = marked_apart(met)
    assert len({one.marker for one in found.values()}) == 4
    assert [name for name in met if found[name] != met[name]] == ["b"]
    assert found["b"].color == met["b"].color
    crowd = marked_apart({f"m{i}": look(i) for i in range(20)})
    assert len({one.marker for one in crowd.values()}) == len(MARKERS)
    printed = told_apart({name: of_accounting("printed", one) for name, one in crowd.items()})
    assert [one.marker for one in printed.values()] == [one.marker for one in crowd.values()]
    assert len({written(one) for one in printed.values()}) == 20


def test_all_figures_are_those_that_have_room(tmp_path):
    # A file for all experiments may name accountings that one of them does not have.
    (tmp_path / "config/experiments").mkdir(parents=True)
    one = PAPER.replace("accounting: [printed, exact]", "accounting: [exact]")
    (tmp_path / "config/experiments/demo.yaml").write_text(one.replace("    files: accounting\n", ""))
    (tmp_path / "picky.py").write_text(PICKY)
    mine = tmp_path / "config/baselines/mine.yaml"
    mine.parent.mkdir()
    mine.write_text("task: frequency\nmethods: {mine: {protocol: local, accounting: [printed, exact]}}\n")
    paper = load_settings(CONFIG, tmp_path).papers["demo"]
    assert paper.experiments["coins"].methods["mine"].accounting == ("exact",)
    assert "mine" in paper.figures["fig1"]["methods"]


def test_accountings_do_not_look_like_methods():
    plain = {a: of_accounting(a) for a in ("printed", "simplified", "corrected", "exact")}
    assert len(set(map(written, plain.values()))) == len({str(one.dash) for one in plain.values()}) == 4
    for one in plain.values():
        red, green, blue = (one.color[i : i + 2] for i in (1, 3, 5))
        assert red == green == blue
    own = look(3)
    beside = {a: of_accounting(a, own) for a in plain}
    assert {one.marker for one in beside.values()} == {own.marker}
    assert len(set(map(written, beside.values()))) == 4
    assert beside["exact"].color == own.color
    assert beside["printed"].color == beside["corrected"].color != own.color


def test_values_of_a_variable_run_from_dark_to_light():
    for count in (1, 2, 3, 10, 40):
        found = of_values(count)
        assert len(set(map(written, found))) == count
        light = [sum(int(one.color[i : i + 2], 16) for i in (1, 3, 5)) for one in found]
        assert light == sorted(light)


@pytest.fixture(scope="module")
def shipped():
    return shipped_settings("paper")


def test_a_method_looks_the_same_in_every_figure_that_ships_and_no_two_of_a_figure_share_a_look(shipped):
    for paper in shipped.papers.values():
        assert set(paper.looks) == {m for e in paper.experiments.values() for m in e.methods}
        seen: dict[str, int] = {}
        for drawing in drawings_of(paper):
            looks = drawing.job("results", ["png"], ROOT, "paper").get("looks", {})
            assert len({written(look(number)) for number in looks.values()}) == len(looks)
            # A study has more methods than there are colors; markers and dashes tell those of one color apart.
            colors = {look(number).color for number in looks.values()}
            assert paper.kind == "study" or len(colors) == len(looks), drawing.id
            assert all(seen.setdefault(m, number) == number for m, number in looks.items())


ROUND = set("o8hH")  # markers that look alike at their size in pictures


def fabricated(drawing):
    """Return a picture with made-up closed and simulated numbers of every method at every point."""
    experiment, job = drawing.experiment, drawing.job("results", ["png"], ROOT, "paper") | {"points": None}
    rows = []
    for method in drawing.entry["methods"]:
        used = experiment.variables(experiment.methods[method])
        short = {
            v: values[:2] if v == drawing.entry["x"] else values for v, values in experiment.grid.items()
        }
        grid = {v: values for v, values in short.items() if v in used}
        for accounting, *point in product(experiment.accountings([method]), *grid.values()):
            row = {"method": method, "accounting": accounting, **dict(zip(grid, point, strict=True))}
            cell = str(row)
            rows.append({**row, "cell": cell, "mean": 1 + zlib.crc32(cell.encode()) / 2**32})
    cells = pd.DataFrame(rows).assign(
        label=None, status="ok", guarantee="exact", guarantee_note="", users_expected=10.0
    )
    numbers = cells.assign(metric=drawing.entry["y"], standard_error=0.1, count=50)
    both = pd.concat([numbers.assign(kind=kind) for kind in ("expected", "simulated")])
    return job, picture(job, cells, both, "")


def curve_drawings(settings):
    """Every picture of curves."""
    return [
        drawing
        for paper in settings.papers.values()
        for drawing in drawings_of(paper)
        if drawing.kind == "figure" and drawing.entry.get("kind", "curves") == "curves"
    ]


@pytest.fixture(scope="module")
def fabrications(shipped):
    """Every picture of curves with made-up numbers."""
    return [(drawing, *fabricated(drawing)) for drawing in curve_drawings(shipped)]


def test_every_drawn_curve_has_its_marker_in_the_legend_and_the_papers_points_have_none_of_them(fabrications):
    for drawing, job, what in fabrications:
        drawn: dict[str, set[str]] = {}
        for strand in what.strands:
            name = strand.curve.rpartition("|")[0] if what.parts else strand.curve
            drawn.setdefault(name, set()).add(what.looks[strand.curve].marker)
        assert what.means == (not what.parts and "along" not in drawing.entry), drawing.id
        sloped = {what.name_of(strand.curve) for strand in what.strands if not strand.level}
        bare = {name for name in drawn if name not in sloped} | set(what.numbered)
        named = {
            what.drawn_of(group): {item.looks[0].marker}
            for group, item in zip(what.together, _legend_items(what), strict=False)
        }
        assert {name: {""} if name in bare else drawn[name] for name in named} == named, drawing.id
        assert POINTS.marker not in set().union(*drawn.values()), drawing.id
        if what.parts:
            assert len(set().union(*drawn.values())) == len(drawn), drawing.id
            gray = [name for name in drawn if f"{name}|printed" in {s.curve for s in what.strands}]
            assert sum(drawn[name] <= ROUND for name in gray) <= 1, drawing.id
        for method in set(job["looks"]) & set(drawn):  # as in every other figure
            assert drawn[method] == {look(job["looks"][method]).marker}, (drawing.id, method)
    assert POINTS.marker not in MARKERS


def test_a_protocol_of_two_papers_has_one_look(shipped):
    known: dict[tuple[str, str], set[int]] = {}
    for paper in shipped.papers.values():
        for experiment in paper.experiments.values():
            if experiment.study:  # which may have the methods of several papers beside each other
                continue
            for id, method in experiment.methods.items():
                if method.protocol == id:
                    known.setdefault((experiment.parts["task"]["kind"], id), set()).add(paper.looks[id])
    assert known
    assert all(len(numbers) == 1 for numbers in known.values())


def test_a_drawing_depends_on_the_looks_of_its_own_methods(settings_with, tmp_path):
    paper = settings_with("looks: {constant: 4, local: 0}\n").papers["demo"]
    jobs = {d.id: d.job("results", ["png"], tmp_path, "paper") for d in drawings_of(paper)}
    assert jobs["fig1_exact"]["looks"] == {"local": 0, "picky": 1, "constant": 4}
    assert jobs["fig2"]["looks"] == {}  # its curves are the values of a variable, not the methods
    assert jobs["errors"]["looks"] == {}


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("looks: {locla: 1}\n", r"looks: no method 'locla' in this paper\. Did you mean 'local'\?"),
        ("looks: {local: -1}\n", r"looks\.local"),
        (
            "looks: {local: 3, picky: 3}\n",
            r"looks\.picky: 3 is already the look of 'local', which is drawn with it",
        ),
        ("looks: {local: blue}\n", r"looks\.local"),
    ],
)
def test_looks_that_cannot_be_kept_are_refused(settings_with, section, said):
    with pytest.raises(ConfigurationError, match=said):
        settings_with(section)


def test_no_picture_of_curves_has_more_than_six_names(shipped):
    for drawing in curve_drawings(shipped):
        methods = drawing.entry["methods"]
        assert len(methods) <= 6 or len(drawing.entry.get("lead", methods)) <= 6, drawing.id


# Machado, Oliveira and Fernandes (2009), severity 1; and CIE XYZ of linear sRGB.
PROTANOPIA = [
    [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]
]  # fmt: skip
DEUTERANOPIA = [
    [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]
]  # fmt: skip
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def seen(color: str, eyes: list[list[float]]) -> np.ndarray:
    """CIELAB of a color as these eyes see it."""
    screen = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    light = np.where(screen <= 0.04045, screen / 12.92, ((screen + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(np.array(XYZ) @ np.clip(np.array(eyes) @ light, 0, 1) / [0.95047, 1, 1.08883])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_colors_of_one_picture_stay_apart_for_color_blind_readers(fabrications):
    colors: dict[frozenset[str], list[str]] = {}
    for drawing, _, what in fabrications:
        numbered, names = set(what.numbered), {c: what.name_of(c) for c in what.drawn_looks}
        named = {c: one for c, one in what.drawn_looks.items() if names[c] not in numbered}
        for (a, first), (b, second) in combinations(named.items(), 2):
            if first.dash == second.dash and names[a] != names[b]:
                colors.setdefault(frozenset({first.color, second.color}), []).append(
                    f"{drawing.id}: {a}, {b}"
                )
    assert len(colors) > 20
    for pair, where in colors.items():
        one, other = (*pair, *pair)[:2]
        for eyes in (np.eye(3).tolist(), PROTANOPIA, DEUTERANOPIA):
            assert np.linalg.norm(seen(one, eyes) - seen(other, eyes)) >= 10, (pair, where)
