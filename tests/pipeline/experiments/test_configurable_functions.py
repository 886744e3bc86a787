"""Functions that a configuration can name, and the labels of their numbers."""

import inspect
import math
from importlib import import_module

import numpy as np
import pytest

from scripts_by_file import script
from shuffledp.accounting import multi_expected_delta, multi_expected_scale
from shuffledp.guarantees import GUARANTEES
from shuffledp.pipeline.experiments.configurable_functions import NAMED_FUNCTIONS
from shuffledp.populations import Binomial, Fixed, MomentBounded, Poisson, SubExponential, SubGaussian

script("tools/bad_arguments.py")  # puts the folder of valid calls on the path
from valid_calls import valid_calls  # noqa: E402


def label(name, **arguments):
    return NAMED_FUNCTIONS[name].standing(arguments).guarantee


def test_every_function_is_public_under_its_name_and_gives_a_float():
    for name, named in NAMED_FUNCTIONS.items():
        assert name in import_module(named.package).__all__
        assert inspect.signature(named.function).return_annotation in ("float", float)
        assert named.quantity in ("eps", "eps_local", "delta")


def test_all_rules_give_a_label_for_valid_arguments():
    calls = valid_calls()
    for name, named in NAMED_FUNCTIONS.items():
        standing = named.standing(calls[name][1])
        assert standing.guarantee in GUARANTEES, name
        assert standing.note or standing.guarantee in ("exact", "upper"), name


def test_arguments_are_those_of_the_function():
    with pytest.raises(ValueError, match="clone_delta: missing a required argument: 'eps_central'"):
        NAMED_FUNCTIONS["clone_delta"].standing({"population": Poisson(9.0), "eps_local": 1.0})
    with pytest.raises(ValueError, match=r"clone_delta: .*unexpected keyword argument 'eps'"):
        NAMED_FUNCTIONS["clone_delta"].standing(
            {"population": Poisson(9.0), "eps_local": 1.0, "eps_central": 1.0, "eps": 1.0}
        )


def test_clones_depend_on_the_population_and_the_accounting():
    def clones(population, accounting, **more):
        return label(
            "amplified_epsilon", population=population, eps_local=0.5, delta=1e-3, accounting=accounting, **more
        )  # fmt: skip

    for population in (Binomial(5000, 0.5), Poisson(2500.0), MomentBounded(2500.0, 100.0)):
        for accounting in ("printed", "corrected", "exact"):
            assert clones(population, accounting) == "upper"
    assert clones(SubGaussian(2500.0, 50.0), "printed") == "violated"
    assert clones(SubGaussian(2500.0, 50.0), "corrected") == "upper"
    assert clones(SubExponential(2500.0, 2.0, 0.1), "printed") == "upper"
    assert clones(SubExponential(2500.0, 1e-4, 0.1), "printed") == "unproven"
    # The simplified form follows from the theorem from 14 log(4/delta) = 116 clones on.
    least = 14 * math.log(4 / 1e-3) * math.exp(0.5)
    assert clones(Binomial(math.ceil(2 * least) + 1, 0.5), "simplified") == "upper"
    assert clones(Binomial(math.floor(1.9 * least), 0.5), "simplified") == "unproven"
    assert clones(Binomial(10**6, 0.5), "simplified", dummies=5) == "unproven"


def test_labels_depend_on_what_is_evaluated():
    assert label("checkin_epsilon", slots=50, eps_local=0.5, delta=1e-3) == "upper"
    assert label("checkin_epsilon", slots=50, eps_local=0.5, delta=1e-3, rate=0.2) == "unproven"
    assert label("dummy_epsilon", domain_size=4, dummies=99, delta=1e-3, accounting="exact") == "exact"
    assert label("dummy_epsilon", domain_size=4, dummies=99, delta=1e-3, accounting="printed") == "upper"
    item = {"eps": 0.1, "n": 50, "blankets": 1.5, "domain_size": 6}
    assert label("segmented_delta", reporting_rate=0.5, **item) == "violated"
    assert label("segmented_delta", reporting_rate=1.0, **item) == "upper"
    assert label("segmented_delta", reporting_rate=0.5, blanket_law="poisson", **item) == "upper"
    pair = {"eps": 0.1, "p": 3.0, "q": 3.0, "candidates": 9}
    assert label("variation_ratio_delta", beta=0.3, sound=False, **pair) == "violated"
    assert label("variation_ratio_delta", beta=0.5, sound=False, **pair) == "upper"
    assert label("variation_ratio_delta", beta=0.3, sound=True, **pair) == "upper"


def test_integer_noise_taken_for_continuous_is_approximate():
    """For one user at half of delta 1e-5, the discrete noise exceeds the returned delta by some percent."""
    common = {"population": Fixed(0), "tau": 4.0, "eps": 1.0, "precision": 1}
    assert label("multi_expected_delta", accounting="printed", **common) == "upper"
    assert label("multi_expected_delta", accounting="exact", **common) == "approximate"
    scale = multi_expected_scale(Fixed(0), 1.0, 1e-5, 1, accounting="exact")
    x = np.arange(-200, 201)
    law = np.exp(-(x**2) / (2 * scale**2))
    law /= law.sum()
    shifted = np.append(0.0, law[:-1])
    truth = np.maximum(shifted - math.e * law, 0).sum()
    claimed = multi_expected_delta(Fixed(0), scale, 1.0, 1, accounting="exact")
    assert 1.01 * claimed < truth < 1.1 * claimed
