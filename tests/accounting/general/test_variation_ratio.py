import math

import pytest
from numpy.testing import assert_allclose

from enumerated_reports import data_sets, responses, worst_delta
from shuffledp.accounting import Infeasible
from shuffledp.accounting.general.variation_ratio import variation_ratio_delta, variation_ratio_epsilon

INF = math.inf
E = math.e


# -- where the theorem holds ---------------------------------------------------------------------------------


def response(values, eps_local):
    """Return p, beta and q of randomized response."""
    p = math.exp(eps_local)
    return p, (p - 1) / (p + values - 1), p


@pytest.mark.parametrize("values, n", [(2, 2), (2, 5), (3, 4), (4, 4), (5, 3)])
@pytest.mark.parametrize("eps_local", [0.4, 2.0])
def test_the_replacement_is_never_violated(values, n, eps_local):
    table = responses(values, eps_local)
    for eps in (0.0, 0.4, 1.5):
        bound = variation_ratio_delta(eps, *response(values, eps_local), n - 1, sound=True)
        assert worst_delta(table, data_sets(table, n - 1), eps) <= bound * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("p, beta", [(E, 0.2), (INF, 0.5)])
@pytest.mark.parametrize("ask", [variation_ratio_delta, variation_ratio_epsilon])
def test_residual_component_needs_a_choice(ask, p, beta):
    with pytest.raises(Infeasible, match=r"residual component.*sound=True"):
        ask(0.01, p, beta, 8.0, 500)
    plain, sound = (ask(0.01, p, beta, 8.0, 500, sound=s) for s in (False, True))
    assert sound >= plain > 0


# -- inversion, monotonicity, arguments -------------------------------------------------------------------------


def test_epsilon_at_its_ends():
    assert variation_ratio_epsilon(0.3, E, 0.2, 3.0, 10, sound=True) == 0
    assert_allclose(variation_ratio_epsilon(1e-12, E, 0.2, 3.0, 0, sound=False), 1.0, rtol=1e-10)
    with pytest.raises(Infeasible, match="every finite eps"):
        variation_ratio_epsilon(1e-6, INF, 1.0, 10.0, 5)


@pytest.mark.parametrize(
    "arguments",
    [
        (0.1, 2.0, 0.34, 2.0, 5),
        (0.1, INF, 1.1, 4.0, 5),
    ],
)
def test_arguments_outside_their_range_are_rejected(arguments):
    with pytest.raises(ValueError, match="must be"):
        variation_ratio_delta(*arguments, sound=True)


def test_what_no_randomizer_has_is_refused():
    with pytest.raises(Infeasible, match="too small"):
        variation_ratio_delta(0.1, INF, 1.0, 1.5, 5)
    with pytest.raises(Infeasible, match="too many"):
        variation_ratio_delta(0.1, INF, 1.0, 4.0, 2**53)
