"""A smaller delta never has a smaller eps, for all functions that return an eps at a delta."""

import itertools
import math

import numpy as np
import pytest

from scripts_by_file import script
from shuffledp.accounting import Infeasible

script("tools/bad_arguments.py")  # puts the folder of valid calls on the path
from valid_calls import valid_calls  # noqa: E402

CALLS = {name: one for name, one in valid_calls().items() if "epsilon" in name and "delta" in one[1]}
CALLS.pop("shuffled_batches_epsilon")  # takes seconds; its own tests compare several deltas


def epsilons(answer):
    """Return the eps of an answer, which may be a number, an array, an eps with its order, or an object."""
    one = getattr(answer, "eps", answer)
    return np.atleast_1d(one[0] if isinstance(one, tuple) else one)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::shuffledp.accounting.LastOrderWarning")
def test_smaller_delta_needs_no_less_eps(name):
    call, valid = CALLS[name]
    found = []
    for delta in (0.9, valid["delta"], 1e-15):
        try:
            found.append(epsilons(call(**{**valid, "delta": delta})))
        except Infeasible:
            assert delta != valid["delta"]
    assert all(np.all(one >= 0) for one in found)
    for less, more in itertools.pairwise(found):
        assert np.all(less <= more) and np.all(less < math.inf)
