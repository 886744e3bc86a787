"""Rows of bits: errors of the specification, and the messages."""

from __future__ import annotations

import numpy as np
import pytest

from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency, Public, Users


def calibrated(name, n, k, eps, accounting="exact", delta=1e-6, **options):
    return get("frequency", name).calibrate(
        Budget(eps, delta), Fixed(n - 1), Frequency(k), accounting=accounting, **options
    )


def test_fake_users_send_rows_without_a_value():
    found = calibrated("fake_users", 40, 3, 8.0, delta=0.3, kappa=2)
    rows = found.encode(Users(np.array([2] * 40)), np.random.default_rng(1)).payload
    assert rows.shape == (120, 3)
    ones = rows.sum(axis=0)
    assert ones[2] > 30 > 2 * max(ones[:2])
    with pytest.raises(ValueError, match=r"must lie in 0\.\.2"):
        found.encode(Users(np.array([3])), np.random.default_rng(1))
    with pytest.raises(ValueError, match="kappa"):
        calibrated("fake_users", 40, 3, 1.0, kappa=0)


def test_clones_need_more_noise_than_the_blanket_of_rows():
    errors = {
        (form, bound): calibrated("unary_rows", 10**4, 50, 0.5, form=form, bound=bound).expected_mse(
            np.full(50, 200)
        )
        for form in ("best", "symmetric", "optimized")
        for bound in ("blanket", "clones")
    }
    for form in ("best", "symmetric", "optimized"):
        assert errors[form, "blanket"] < errors[form, "clones"] / 1.5
    for bound in ("blanket", "clones"):
        assert errors["best", bound] <= min(errors["symmetric", bound], errors["optimized", bound])


@pytest.mark.parametrize(("eps", "third", "worst"), [(0.2, 711.2, 753.6), (1.0, 42.60, 49.97)])
def test_proven_flips_are_nearly_those_of_the_worst_data_set_known(eps, third, worst):
    """The numbers of the specification are for a third value and for the worst known data set."""
    n = 10**5
    made = {
        chosen: calibrated("fragmented_rappor", n, 50, eps, calibration=chosen)
        for chosen in ("proven", "worst_case", "sound")
    }
    made["optimistic"] = calibrated("fragmented_rappor", n, 50, eps, "printed")
    flips = {chosen: n * found.flip_probability for chosen, found in made.items()}
    assert flips["optimistic"] == pytest.approx(third, rel=1e-4)
    assert flips["worst_case"] == pytest.approx(worst, rel=1e-4)
    assert flips["worst_case"] < flips["proven"] < 1.002 * flips["worst_case"] < flips["sound"] / 1.4
    labels = {chosen: found.guarantee for chosen, found in made.items()}
    assert labels == {
        "proven": "upper",
        "sound": "upper",
        "worst_case": "violated",
        "optimistic": "violated",
    }
    summed = calibrated("symmetric_rappor", n, 50, eps)
    assert summed.flip_probability == made["proven"].flip_probability
    assert summed.cost().bits_per_message == 50 * 17


def test_secure_summation_shows_one_row():
    found = calibrated("symmetric_rappor", 50, 4, 1.0, delta=1e-2)
    rng = np.random.default_rng(3)
    rows = found.encode(Users(rng.integers(0, 4, 50)), rng)
    seen = found.shuffle(rows, Public(np.array([50])), rng)
    assert seen.payload.shape == (1, 4)
    assert np.array_equal(found.aggregate(seen), rows.payload.sum(axis=0))
