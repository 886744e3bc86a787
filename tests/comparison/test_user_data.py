"""Data of users in a comparison."""

import pandas as pd
import pytest

from shuffledp.comparison.options import Options
from shuffledp.comparison.user_data import own

FRAME = pd.DataFrame({"s": ["a;b;c", "a", "b;d", "d;x"], "n": [0.2, 5.0, 1.0, 1.0]})


def test_set_counts_are_their_holders():
    found = own(
        Options(eps=1, delta=0, data=FRAME, column="s", separator=";", values="abcd", set_size=2),
        how="say it",
    )
    assert (found.users, found.counts.sum(), found.counts.max() <= 4, found.step) == (4, 8, True, 1)
    rows, sizes = found.remarks
    assert rows == "1 row left out: 1 outside the domain of 4 values (row 4)."
    assert sizes.startswith("Of 4 users 1 have more than 2 items") and " 2 have fewer" in sizes


@pytest.mark.parametrize(
    "asked, says",
    [
        ({"column": "s", "separator": ";"}, "for sets and need set_size"),
        ({"column": "n", "set_size": 2, "max_value": 2}, "Give either set_size"),
        ({"column": "s", "set_size": 0}, "set_size must be"),
        ({"user": "s", "set_size": 2}, "Give either column"),
    ],
)
def test_conflicting_options_are_named(asked, says):
    with pytest.raises(ValueError, match=says):
        own(Options(eps=1, delta=0, data=FRAME, **asked), how="say it")
