"""An error in a user's class names the class and the line."""

import re
from pathlib import Path

import numpy as np
import pytest

from shuffledp.pipeline.experiments import run_experiment
from shuffledp.protocols import plugin_errors, scaffold
from shuffledp.protocols.conformance import default_cases
from shuffledp.protocols.registry import plugin


def test_job_error_names_class_and_line(tmp_path):
    file = tmp_path / "mine.py"
    text = scaffold.class_source("frequency", "mine")
    file.write_text(text.replace("n, k = len(users), self.domain_size", "raise KeyError('no such')", 1))
    found = plugin(f"{file}:Mine")
    case = default_cases(found)[0]
    with pytest.raises(KeyError) as caught:
        case.calibrate(found).encode(case.users(), np.random.default_rng(1))
    text = str(plugin_errors.in_job(caught.value, "mine.py:Mine", tmp_path))
    assert re.match(
        r".*mine\.py, line \d+, in encode: KeyError: 'no such'\. For details run `shuffledp check-baseline mine.py",
        text,
    )
    elsewhere = str(plugin_errors.in_job(AttributeError("no refine"), "mine.py:Mine", tmp_path))
    assert elsewhere.startswith("mine.py:Mine: AttributeError: no refine.")


@pytest.mark.parametrize(
    "protocol, expected", [("mine.py:Mine", "mine.py:Mine: KeyError: 'k'"), ("local", "'k'")]
)
def test_built_in_and_user_errors_differ(monkeypatch, protocol, expected):
    """A job of a built-in keeps its error; one of a user names the class."""

    def broken(*_, **__):
        raise KeyError("k")

    monkeypatch.setattr(run_experiment.runner, "run", broken)
    job = {"paper": "a", "experiment": "b", "method": "c", "accounting": [], "protocol": protocol}
    with pytest.raises((KeyError, plugin_errors.OwnClassError)) as caught:
        run_experiment.run_experiment([job], prepared=Path(), root=Path(), results=Path())
    assert str(caught.value).startswith(expected)
