import pytest

from shuffledp.accounting.baselines.gaussian_clones import (
    gaussian_clones_epsilon,
    optimal_composition,
)
from shuffledp.accounting.errors import Infeasible

N = 60_000


def test_composition_of_many_rounds():
    assert optimal_composition(0.1, 0.0, 5540, 1e-5) < 0.2 * 0.1 * 5540
    assert optimal_composition(0.0, 1e-9, 10, 1e-5) == 0.0
    assert optimal_composition(0.1, 1e-6, 10, 1.1e-5) <= 1.0
    with pytest.raises(Infeasible, match="exceed the target"):
        optimal_composition(0.1, 1e-6, 10, 9e-6)


@pytest.mark.parametrize("search", ["fine", "printed"])
def test_too_small_noise_is_refused(search):
    with pytest.raises(Infeasible, match="gives no bound"):
        gaussian_clones_epsilon(n=100, sigma=0.3, rounds=1, delta=1e-5, search=search)
