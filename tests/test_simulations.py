"""Simulated errors beside closed forms: a sample, and that a wrong closed form stands out."""

import numpy as np
import pytest

from scripts_by_file import script
from shuffledp.protocols import get


@pytest.fixture(scope="module")
def tool():
    return script("tools/simulations.py")


def test_z_scores_of_a_right_and_of_a_wrong_closed_form(tool, monkeypatch):
    right = tool.z_scores("frequency", "grr_blanket", 100, 1)
    assert len(right) == 36
    assert abs(np.mean(right)) * 6 < 4 and 0.6 < np.std(right) < 1.4
    kept = get("frequency", "grr_blanket").expected_variance
    monkeypatch.setattr(
        get("frequency", "grr_blanket"), "expected_variance", lambda self, who: 1.1 * kept(self, who)
    )
    wrong = tool.z_scores("frequency", "grr_blanket", 100, 1)
    assert np.mean(wrong) * 6 < -4


def test_sums_are_compared_with_sums(tool):
    scores = tool.z_scores("summation", "central_laplace", 200, 1)
    assert len(scores) == 12 and abs(np.mean(scores)) * np.sqrt(12) < 4
