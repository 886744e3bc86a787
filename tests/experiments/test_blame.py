"""An error in a class of the user's own names that class and its line."""

import re

import numpy as np
import pytest

from shuffledp.experiments import blame, scaffold
from shuffledp.protocols.conformance import default_cases
from shuffledp.protocols.registry import plugin


def test_an_error_of_a_job_names_the_class_and_its_line_and_says_what_helps(tmp_path):
    file = tmp_path / "mine.py"
    text = scaffold.class_source("frequency", "mine")
    file.write_text(text.replace("n, k = len(users), self.domain_size", "raise KeyError('no such')", 1))
    found = plugin(f"{file}:Mine")
    case = default_cases(found)[0]
    with pytest.raises(KeyError) as caught:
        case.calibrate(found).encode(case.users(), np.random.default_rng(1))
    text = str(blame.in_job(caught.value, "mine.py:Mine", tmp_path))
    assert re.match(
        r".*mine\.py, line \d+, in encode: KeyError: 'no such'\. `shuffledp check-baseline mine.py:Mine`",
        text,
    )
    elsewhere = str(blame.in_job(AttributeError("no refine"), "mine.py:Mine", tmp_path))
    assert elsewhere.startswith("mine.py:Mine: AttributeError: no refine.")
