"""Years of the protocols are in the sources that their classes state."""

import pytest

from shuffledp.pipeline.figures.years import OURS, year_of
from shuffledp.protocols import available, get
from shuffledp.tasks import TASK_KINDS


@pytest.mark.parametrize("name", [f"{kind}.{name}" for kind in TASK_KINDS for name in available(kind)])
def test_every_source_names_a_year(name):
    year = year_of(get(*name.split(".")).source)
    assert year == OURS or 2012 <= int(year) <= 2026


def test_the_first_work_counts():
    assert year_of("Ye and Barg 2018; Wang et al. 2016") == 2018
    assert year_of("DUMP (arXiv 2009.13738), Theorem 5.2") == 2020
    assert year_of("derived for this project; baseline in Wang et al. 2023") == OURS
    with pytest.raises(ValueError, match="must name a year, got 'none'"):
        year_of("none")
