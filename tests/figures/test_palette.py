"""Curves are told apart, and the methods that a paper names keep their look."""

import pytest
from demo_paper import CONFIG, PAPER, PICKY

from shuffledp.experiments.config import ConfigurationError
from shuffledp.figures.drawings import drawings_of
from shuffledp.figures.palette import COLORS, DASHES, MARKERS, looks
from shuffledp.figures.selection import load_settings

EVERY = list(zip(COLORS, MARKERS, DASHES, strict=True))


def index(look):
    return EVERY.index((look.color, look.marker, look.dash))


@pytest.fixture
def settings_with(tmp_path):
    """The settings when the file of a paper has these looks."""

    def load(section):
        (tmp_path / "config/experiments").mkdir(parents=True)
        (tmp_path / "config/experiments/demo.yaml").write_text(PAPER + section)
        (tmp_path / "picky.py").write_text(PICKY)
        return load_settings(CONFIG, tmp_path)

    return load


def test_looks_differ_and_others_take_what_is_left_in_order():
    shown = looks(["a", "kept", "b", "other"], {"kept": 1, "other": 0, "absent": 2})
    assert {curve: index(look) for curve, look in shown.items()} == {"a": 2, "kept": 1, "b": 3, "other": 0}
    assert len(set(EVERY)) == len(EVERY) == 10


def test_looks_begin_again_when_all_are_taken():
    curves = [f"m{i}" for i in range(12)]
    assert [index(look) for look in looks(curves, {}).values()] == [*range(10), 0, 1]
    fixed = {f"m{i}": i for i in range(10)}
    assert [index(look) for look in looks(curves, fixed).values()] == [*range(10), 0, 1]


def test_a_drawing_depends_on_the_looks_of_its_own_methods(settings_with, tmp_path):
    paper = settings_with("looks: {constant: 4, local: 0}\n").papers["demo"]
    jobs = {d.id: d.job("results", ["png"], tmp_path, "paper") for d in drawings_of(paper)}
    assert jobs["fig1_exact"]["looks"] == {"constant": 4, "local": 0}
    assert jobs["fig2"]["looks"] == {"local": 0}  # its curves are the values of a variable, not the methods
    assert jobs["errors"]["looks"] == {}


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("looks: {locla: 1}\n", r"looks: no method 'locla' in this paper\. Did you mean 'local'\?"),
        ("looks: {local: 10}\n", r"looks\.local: must lie in 0\.\.9, got 10"),
        ("looks: {local: 3, picky: 3}\n", r"looks\.picky: 3 is the look of 'local' already"),
        ("looks: {local: blue}\n", r"looks\.local"),
    ],
)
def test_looks_that_cannot_be_kept_are_refused(settings_with, section, said):
    with pytest.raises(ConfigurationError, match=said):
        settings_with(section)
