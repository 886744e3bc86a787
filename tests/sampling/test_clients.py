"""Draws of clients: exact probabilities on the safe side, and the laws of their protocols."""

from fractions import Fraction

import mpmath
import pytest

from exact_laws import SeededBits, agrees, by_bits
from shuffledp.sampling import ValueResponse, counter_noise


@pytest.mark.parametrize("eps", [Fraction(1, 10**30), Fraction(0.1), Fraction(1), Fraction(3.3), 20, 999])
@pytest.mark.parametrize("bits", [1, 64])
def test_response_odds_are_near_budget(eps, bits):
    """The true value has the largest integer weight whose odds are permitted."""
    response = ValueResponse.within(eps, 5, bits)
    with mpmath.workprec(4000):
        allowed = mpmath.exp(mpmath.mpf(eps.numerator) / eps.denominator) * 2**bits
        assert response.other_weight == 2**bits
        assert response.true_weight <= allowed < response.true_weight + 1


@pytest.mark.parametrize("domain_size, bits", [(2, 1), (2, 3), (3, 1), (4, 2)])
def test_a_report_has_these_probabilities(domain_size, bits):
    response = ValueResponse.within(Fraction(1), domain_size, bits)
    assert response.keep + (domain_size - 1) * response.lie == 1
    assert response.keep / response.lie == response.odds
    for value in range(domain_size):
        found = by_bits(lambda source, value=value: response.report(value, source), 11)
        assert set(found[0]) == set(range(domain_size))
        assert agrees(found, lambda sent, value=value: response.keep if sent == value else response.lie, 0.25)


def test_zero_shape_omits_cancelling_noise():
    source = SeededBits(4)
    drawn = [counter_noise(1, Fraction(1, 2), 0, 1, source) for _ in range(300)]
    assert {plus == minus for plus, minus in drawn} == {True, False}


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: ValueResponse.within(1.0, 5), r"eps_local must be an integer or a Fraction .* got 1.0"),
        (lambda: ValueResponse.within(0, 5), r"eps_local must be .* > 0"),
        (lambda: ValueResponse.within(1001, 5), r"eps_local must be .* <= 1000, got 1001"),
        (lambda: ValueResponse.within(1, 1), r"domain_size must be an integer >= 2, got 1"),
        (lambda: ValueResponse.within(1, 5, 0), r"bits must be an integer >= 1, got 0"),
        (lambda: ValueResponse(5, 1, 2), r"true_weight must be an integer >= 2, got 1"),
        (lambda: ValueResponse(5, 1, 0), r"other_weight must be an integer >= 1, got 0"),
        (lambda: ValueResponse.within(1, 5).report(5), r"report: value must be in 0..4, got 5"),
        (lambda: ValueResponse.within(1, 5).report(-1), r"report: value must be an integer >= 0, got -1"),
        (lambda: counter_noise(0, 1, 1, 1), r"counter_noise: users must be an integer >= 1, got 0"),
        (lambda: counter_noise(9, 1, 1, 0), r"counter_noise: decay must be .* > 0"),
        (lambda: counter_noise(9, 0, 1, 1), r"counter_noise: eps_geometric must be .* > 0"),
        (lambda: counter_noise(9, 1, -1, 1), r"counter_noise: shape must be .* >= 0"),
    ],
)
def test_bad_parameters_are_one_sentence(call, said):
    with pytest.raises(ValueError, match=said):
        call()
