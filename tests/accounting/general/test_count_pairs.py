"""Two counts that the victim moves between: comparison with exact fractions, and the smallest sufficient noise."""

import math
from functools import partial

import numpy as np
import pytest

from shuffledp.accounting.general.count_pairs import (
    added_message,
    pair_delta,
    settled_count_delta,
    single_delta,
)
from shuffledp.accounting.general.profiles import Profile
from shuffledp.numerics.windows import Window, binomial_window, poisson_window


def test_omitted_mass_counts_as_lost():
    noise = binomial_window(40, 0.5, 1e-30)
    kept = pair_delta(added_message(noise), added_message(noise), 0.7)
    cut = Window(noise.start, noise.pmf, 1e-6)
    assert pair_delta(added_message(cut), added_message(cut), 0.7) == pytest.approx(kept + 2e-6, rel=1e-12)
    assert single_delta(added_message(cut), 0.7) == pytest.approx(
        single_delta(added_message(noise), 0.7) + 1e-6, rel=1e-12
    )


def test_profile_answers_arrays_and_both_relations():
    def count(tail):
        return added_message(poisson_window(20.0, tail))

    pair = Profile(partial(settled_count_delta, count), "a test")
    single = Profile(partial(settled_count_delta, count, neighbours="add_remove"), "a test")
    eps = np.array([[0.0, 0.5], [1.0, 800.0]])
    assert pair.delta(eps).shape == eps.shape
    assert np.all(single.delta(eps) <= pair.delta(eps) * (1 + 1e-12))
    assert pair.delta(np.array(0.5)) == pytest.approx(settled_count_delta(count, 0.5), rel=0)
    # Poisson noise of mean m that is 0 shows that the victim is not there.
    assert single.delta(np.array(800.0)) == pytest.approx(math.exp(-20), rel=1e-12)
    with pytest.raises(ValueError, match="neighbours"):
        settled_count_delta(count, 0.5, "other")
