"""Years of the protocols agree with the sources that their classes state."""

import re

import pytest

from shuffledp.pipeline.figures.years import OURS, YEARS
from shuffledp.protocols import available, get
from shuffledp.tasks import TASK_KINDS

EVERY = [f"{kind}.{name}" for kind in TASK_KINDS for name in available(kind)]
BASELINE = re.compile(r"(as a )?baseline in|printed:|derived for this project|.* is derived for this project")


def stated(source):
    """Years of the works that a source names first, without the places where they are baselines."""
    parts = [part.strip() for part in source.split(";")]
    if "this project" in parts[0]:
        return {OURS}
    works = " ".join(part for part in parts if not BASELINE.match(part))
    years = re.findall(r"\b(?:19|20)\d\d\b(?!\.\d)", works)
    arxiv = [f"20{number}" for number in re.findall(r"arXiv (\d\d)\d\d\.\d{4,5}", works)]
    return set(map(int, years + arxiv))


def test_every_protocol_has_a_year():
    assert set(YEARS) == set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_the_year_is_that_of_the_stated_source(name):
    source = get(*name.split(".")).source
    assert YEARS[name] in stated(source), source
