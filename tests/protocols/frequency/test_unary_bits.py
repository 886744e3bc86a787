"""Rows of bits: errors of the specification, and what is sent."""

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


@pytest.mark.parametrize(
    ("n", "eps", "kappa", "mse"),
    [
        (10**4, 0.2, 1, 1.4531e-5),
        (10**4, 0.2, 10, 7.9934e-6),
        (10**5, 1.0, 1, 8.5306e-9),
        (10**5, 1.0, 10, 4.6920e-9),
        (10**6, 2.0, 1, 3.6173e-11),
    ],
)
def test_errors_of_fake_users(n, eps, kappa, mse):
    found = calibrated("fake_users", n, 50, eps, kappa=kappa)
    # The same for all data.
    for counts in (np.full(50, n // 50), np.append(n, np.zeros(49, int))):
        assert found.expected_mse(counts) == pytest.approx(mse, rel=3e-5)
    assert (found.cost().messages_per_user, found.cost().bits_per_message) == (1 + kappa, 50)


def test_fake_users_send_rows_without_a_value():
    found = calibrated("fake_users", 40, 3, 8.0, delta=0.3, kappa=2)
    rows = found.encode(Users(np.array([2] * 40)), np.random.default_rng(1)).payload
    assert rows.shape == (120, 3)
    ones = rows.sum(axis=0)
    assert ones[2] > 30 > 2 * max(ones[:2])
    with pytest.raises(ValueError, match=r"Values must lie in 0\.\.2"):
        found.encode(Users(np.array([3])), np.random.default_rng(1))
    with pytest.raises(ValueError, match="kappa"):
        calibrated("fake_users", 40, 3, 1.0, kappa=0)


@pytest.mark.parametrize(
    ("k", "delta", "form", "mse"),
    [
        (50, 1e-6, "best", 6.117e-8),
        (500, 1e-6, "best", 2.145e-8),
        (5000, 1e-6, "best", 8.086e-9),
        (100, 1e-8, "best", 5.427e-8),
        (100, 1e-8, "optimized", 1.100e-7),
        (100, 1e-8, "symmetric", 2.558e-7),
    ],
)
def test_errors_of_unary_rows(k, delta, form, mse):
    """The specification puts numbers of rows into wider blocks: its errors are larger by up to 0.3 %."""
    found = calibrated("unary_rows", 10**5, k, 1.0, delta=delta, form=form)
    assert 0.997 * mse < found.expected_mse(np.full(k, 10**5 // k)) < mse
    assert (found.cost().messages_per_user, found.cost().bits_per_message) == (1, k)


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


def test_fragmented_rappor_in_the_first_table_of_the_specification():
    found = calibrated("fragmented_rappor", 10**5, 100, 1.0, "printed", delta=1e-8)
    assert found.expected_mse(np.full(100, 1000)) * 1e10 == pytest.approx(62.09, abs=5e-3)
    assert found.cost().messages_per_user == pytest.approx(1.0607, abs=5e-5)
    assert found.guarantee == "violated"


@pytest.mark.parametrize(("eps", "third", "worst"), [(0.2, 711.2, 753.6), (1.0, 42.60, 49.97)])
def test_proven_flips_are_nearly_those_of_the_worst_data_set_known(eps, third, worst):
    """The numbers of the specification, for a third value and for the worst data set known."""
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
