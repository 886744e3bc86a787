"""Silent users: sums over both counts, numbers of the specification, and the search for the best rate."""

from shuffledp.protocols.frequency.silent_users import silent_report


def test_so_rare_reports_need_no_dummies():
    assert (
        silent_report(10, 3, 1.0, 0.1, rate=0.1).dummies
        == 0
        < silent_report(10, 3, 1.0, 0.1, rate=0.101).dummies
    )
