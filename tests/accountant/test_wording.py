"""Words of the command line."""

import pytest

from shuffledp.accountant.wording import arrivals_named, population_named
from shuffledp.populations import Binomial, Fixed, MomentBounded, Poisson, SubExponential, SubGaussian


def test_populations_are_named_by_words():
    assert population_named("fixed:99") == Fixed(99)
    assert population_named("binomial:29999:0.3") == Binomial(29999, 0.3)
    assert population_named("poisson:1e4") == Poisson(1e4)
    assert population_named("moments:100:25") == MomentBounded(100, 25)
    assert population_named("subgaussian:100:5") == SubGaussian(100, 5)
    assert population_named("subexponential:100:2:0.5") == SubExponential(100, 2, 0.5)
    assert arrivals_named(None) == arrivals_named("fixed") == {}
    assert arrivals_named("poisson") == {"arrivals": "poisson"}
    assert arrivals_named("binomial:0.3") == {"arrivals": "binomial", "rate": 0.3}


@pytest.mark.parametrize(
    "function, text, message",
    [
        (population_named, "uniform:3", "population must be one of fixed:N, binomial:TRIALS:RATE"),
        (population_named, "binomial:3", "population must be binomial:TRIALS:RATE, got 'binomial:3'"),
        (population_named, "fixed:few", "population must be fixed:N, got 'fixed:few'"),
        (population_named, "binomial:9:2", "rate must be in"),
        (arrivals_named, "binomial", "if the number of users is computed; got 'binomial'"),
        (arrivals_named, "poisson:9", "population must be fixed, poisson or binomial:RATE"),
    ],
)
def test_mistakes_are_named(function, text, message):
    with pytest.raises(ValueError, match=message):
        function(text)
