"""Silent users: sums over both counts, numbers of the specification, and the search for the best rate."""

import pytest

from shuffledp.protocols.frequency.silent_users import silent_report


def test_so_rare_reports_need_no_dummies():
    assert (
        silent_report(10, 3, 1.0, 0.1, rate=0.1).dummies
        == 0
        < silent_report(10, 3, 1.0, 0.1, rate=0.101).dummies
    )


@pytest.mark.parametrize("rate", [0.0, 1.1, -1.0])
def test_bad_input_is_refused(rate):
    with pytest.raises(ValueError, match="rate must be"):
        silent_report(10, 3, 1.0, 0.1, rate=rate)
