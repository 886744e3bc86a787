import pytest

from shuffledp.accounting.general.rdp import (
    rdp_to_epsilon,
)
from shuffledp.accounting.shuffle_gaussian.all_users import (
    shuffle_gaussian_rdp,
)

# Theorem 1


# Direction and other users: what Theorem 1 does not say


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
