"""Dummy points under the privacy blanket: quick bounds."""

import pytest

from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency


@pytest.mark.parametrize("name, options", [("mix_dump", {}), ("flexible_mix_dump", {"rate": 0.1})])
@pytest.mark.parametrize("eps", [0.3, 1.0])
def test_quick_bound_is_close(name, options, eps):
    protocol = get("frequency", name).calibrate(
        Budget(0.5, 1e-6), Fixed(1_000), Frequency(30), accounting="exact", **options
    )
    profile = protocol.privacy_profile()
    assert 1 <= profile.bound(eps, 0.01) / float(profile.delta(eps)) <= 1.01
    assert profile.bound(9.0, 0.01) == 0  # beyond the local budget
