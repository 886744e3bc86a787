"""Values that only the functions reject are rejected before any job runs."""

import cProfile
import sys

import pytest

from shuffledp.pipeline.config.config_errors import ConfigurationError
from shuffledp.pipeline.config.trial_calibrations import ACCOUNTANT, try_methods

PAPER = "config/experiments/demo.yaml"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "      amplified: {}",
            "      unary_rows: {options: {form: none}}",
            "unary_rows: .*form must be one of",
        ),
        (
            "      amplified: {}",
            "      unary_rows: {options: {form: $form}}",
            "form = 'none'",
        ),
    ],
)
def test_what_a_job_would_refuse_is_one_line(project, old, new, says):
    if "$form" in new:
        project.change(
            PAPER, "      eps: [0.1, 0.5, 1.0]", "      eps: [0.1, 0.5, 1.0]\n      form: [best, none]"
        )
        project.change(
            PAPER, "experiment: coins\n    x: eps", "experiment: coins\n    where: {form: best}\n    x: eps"
        )
        project.change(PAPER, "rows: [rate, eps]", "rows: [rate, eps, form]")
    project.change(PAPER, old, new)
    with pytest.raises(ConfigurationError, match=says) as caught:
        try_methods(project.settings(), project.root)
    assert PAPER in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_right_passes_and_leaves_nothing_behind(project):
    before = sys.getprofile()
    try_methods(project.settings(), project.root)
    assert sys.getprofile() is before


def test_a_profiler_that_is_at_work_goes_on(project):
    settings = project.settings()
    profiler = cProfile.Profile()
    with profiler:
        try_methods(settings, project.root)
        sorted([2, 1])
    assert any(entry.code == "<built-in method builtins.sorted>" for entry in profiler.getstats())


def test_what_an_override_was_merged_into_is_named_with_it(project):
    project.change(PAPER, "eps_local: 0.5", "eps_local: 0.5, dummies: -3")
    with pytest.raises(ConfigurationError, match=r"-3.*\(with config: overrides\.demo\.curve merged in\)$"):
        project.settings(overrides={"demo.curve": {"grid": {"variance": [7]}}})


def test_the_accountants_of_another_package_are_not_tried(project, monkeypatch):
    """Importing that package takes longer than all trials; this library's functions check arguments first."""
    for name in [name for name in sys.modules if name.partition(".")[0] == ACCOUNTANT]:
        monkeypatch.delitem(sys.modules, name)
    project.write(f"{ACCOUNTANT}/__init__.py", "raise AssertionError('imported')\n")
    monkeypatch.syspath_prepend(str(project.root))
    arguments = "{rate: 0.1, noise_multiplier: 3.25, rounds: 7, delta: 1.0e-5}"
    other = f"other: {{function: central_gaussian_epsilon, arguments: {arguments}, returns: eps}}"
    project.change(PAPER, "      moments:", f"      {other}\n      moments:")
    try_methods(project.settings(), project.root)
    project.change(PAPER, "rounds: 7", "rounds: 0")
    with pytest.raises(ConfigurationError, match=r"methods\.other: .*rounds"):
        try_methods(project.settings(), project.root)
