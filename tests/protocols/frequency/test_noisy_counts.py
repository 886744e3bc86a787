"""Values with noise on every count, from a trusted shuffler or from the users."""

import pytest

from shuffledp.accounting import Infeasible
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.frequency.sbin import sbin_dummies
from shuffledp.protocols.frequency.silent_users import silent_report
from shuffledp.tasks import Budget, Frequency

N, K = 70_187, 900


def calibrated(name, eps=1.0, delta=1e-6, n=N, k=K, **options):
    return get("frequency", name).calibrate(Budget(eps, delta), Fixed(n - 1), Frequency(k), **options)


# -- dummies of the users ------------------------------------------------------------------------------------------


def test_search_labels_too_few_users_violated():
    for n, label in ((5_000, "violated"), (10**5, "upper")):
        protocol = calibrated("balls_into_bins", 0.2, 1e-8, n, 3, accounting="printed", search=True)
        assert protocol.guarantee == label
        assert bool(protocol.guarantee_note) == (label == "violated")
        assert (protocol.privacy_profile().delta(0.2) > 1e-8) == (label == "violated")


def test_colluding_users_are_replaced():
    alone, more = (calibrated("designated_coins", n=2_000, k=3, colluding=t) for t in (0, 10))
    assert more.designated == alone.designated + 10
    assert (alone.guarantee, more.guarantee) == ("exact", "upper")
    assert more.privacy_profile().delta(1.0) == alone.privacy_profile().delta(1.0)
    with pytest.raises(Infeasible, match="148 users have to be designated, there are 147"):
        calibrated("designated_coins", n=147, k=3)


def test_so_rare_reports_need_no_dummies():
    rare, other = (silent_report(10, 3, 1.0, 0.1, rate=rate).dummies for rate in (0.1, 0.101))
    assert rare == 0 < other


# -- dummies of the shuffler ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("eps, delta, beta", [(4.0, 0.3, 0.1), (0.5, 0.1, 0.05), (2000.0, 1e-6, 1.0)])
def test_closed_form_holds_at_corners(eps, delta, beta):
    """The corners include zero coins, where the kept messages need no noise."""
    printed = sbin_dummies(10, 2, eps, delta, accounting="printed", beta=beta)
    assert printed.delta(eps) <= delta
    assert sbin_dummies(10, 2, eps, delta, beta=beta).coins <= printed.coins
