"""Values that only the functions know to be wrong are refused before any job runs."""

import sys

import pytest

from shuffledp.experiments.config.errors import ConfigurationError
from shuffledp.experiments.config.trying import try_methods

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
        ("eps_local: 0.5", "eps_local: 0.5, dummies: -3", "curve.methods.moments: .*-3.*variance = 0"),
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
