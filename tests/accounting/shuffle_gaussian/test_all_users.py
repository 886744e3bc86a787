import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting.general.rdp import (
    rdp_to_epsilon,
)
from shuffledp.accounting.shuffle_gaussian.all_users import (
    shuffle_gaussian_rdp,
)
from shuffledp.pipeline.papers.shuffle_gaussian import witnesses

N = 60_000


# Theorem 1


# Direction and other users: what Theorem 1 does not say


@pytest.mark.parametrize("n", [2, 30, N])
def test_theorem_1_pair_is_common_place(n):
    got = witnesses.common_place_rdp(n, 0.8, changed=1, original=0, product=0)
    assert_allclose(got, shuffle_gaussian_rdp([2], n, 0.8)[0], rtol=1e-9, atol=3e-11)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: shuffle_gaussian_rdp([1], 10, 1.0), r"orders must be .* \[2, 4096\], got \[1\]"),
        (lambda: shuffle_gaussian_rdp([2, 5000], 10, 1.0), "orders must be"),
        (lambda: rdp_to_epsilon([2, 3], [0.1], 0.1), "the same shape"),
        (lambda: rdp_to_epsilon([1, 3], [0.1, 0.1], 0.1), "above 1"),
        (lambda: rdp_to_epsilon([2, 3], [0.1, -0.1], 0.1), "rdp must be >= 0"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
