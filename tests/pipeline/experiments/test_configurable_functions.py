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
from shuffledp.populations import Fixed, Poisson

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
