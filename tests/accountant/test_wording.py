"""Words of the command line."""

import pytest

from shuffledp.accountant.wording import arrivals_named, population_named, sentences
from shuffledp.accounting import GaussianRandomizer, amplification, budget, smallest_batch
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
    ("function", "text", "message"),
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


def test_the_first_line_is_the_answer():
    assert sentences(amplification(4.0, 1000, 1e-6))[0].startswith("eps = ")
    assert sentences(budget(0.5, 1000, 1e-6))[0].startswith("eps_local = ")
    assert sentences(smallest_batch(4.0, 0.5, 1e-6))[0].startswith("users = 13,813: ")
    text = " ".join(sentences(amplification(1.0, None, 1e-6, population=Poisson(1000.0), rounds=4)))
    assert "1,001 users on average" in text
    assert "Rounds: 4" in text
    assert "(lower bound: one round alone)" in text
    text = " ".join(sentences(amplification(None, 1000, 1e-6, randomizer=GaussianRandomizer(2.0))))
    assert "without a local budget" in text
    assert "Guarantee: unproven. Note: the ends of the interval are not proven" in text
