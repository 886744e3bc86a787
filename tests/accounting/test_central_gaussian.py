"""Central DP-SGD by dp_accounting: the numbers of Figure 1a's central curve."""

import pytest

from shuffledp.accounting import central_gaussian_epsilon, central_replacement_epsilon

BATCH = {"rate": 0.001, "delta": 1e-5}
NOISE = 60**0.5 * 0.86


@pytest.mark.parametrize(
    ("noise", "method", "values"),
    [
        (NOISE, "rdp", ["0.0143", "0.0488", "0.0739", "0.1177", "0.1748"]),
        (NOISE, "pld", ["0.0124", "0.0448", "0.0656", "0.1084", "0.1583"]),
        (NOISE / 2, "rdp", ["0.0507", "0.1052", "0.1622", "0.2497", "0.3628"]),
        (NOISE / 2, "pld", ["0.0269", "0.0949", "0.1385", "0.2280", "0.3323"]),
    ],
)
def test_known_values(noise, method, values):
    found = [
        central_gaussian_epsilon(noise_multiplier=noise, rounds=rounds, method=method, **BATCH)
        for rounds in (1_000, 10_000, 20_000, 50_000, 100_000)
    ]
    # The spec gives 3.343 as half the noise, which is 0.4316 sqrt(60): the last digit may move.
    assert found == pytest.approx([float(v) for v in values], rel=6e-3, abs=6e-5)


@pytest.mark.parametrize(("rounds", "value"), [(1_000, "0.1036"), (10_000, "0.1101"), (100_000, "0.1748")])
def test_orders_up_to_63_put_a_floor_under_the_curve(rounds, value):
    eps = central_gaussian_epsilon(noise_multiplier=NOISE, rounds=rounds, method="rdp_to_63", **BATCH)
    assert f"{eps:.4f}" == value


def test_replacement_neighbours():
    eps = central_replacement_epsilon(n=60_000, m=60, noise_multiplier=NOISE, rounds=10_000, delta=1e-5)
    assert eps == pytest.approx(0.1303, abs=2e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 1.0}, "rate must"),
        ({"noise_multiplier": 0}, "noise_multiplier must"),
        ({"rounds": 0}, "rounds must"),
        ({"delta": 1.0}, "delta must"),
        ({"method": "gdp"}, "method must be one of"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        central_gaussian_epsilon(**{**BATCH, "noise_multiplier": 1.0, "rounds": 1, **change})
    with pytest.raises(ValueError, match="m must be at most n = 5"):
        central_replacement_epsilon(n=5, m=6, noise_multiplier=1.0, rounds=1, delta=1e-5)
