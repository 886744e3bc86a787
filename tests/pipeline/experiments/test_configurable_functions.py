"""Functions that a configuration can name, and the labels of their numbers."""

import inspect
from importlib import import_module

import pytest

from scripts_by_file import script
from shuffledp.guarantees import GUARANTEES
from shuffledp.pipeline.experiments.configurable_functions import NAMED_FUNCTIONS
from shuffledp.populations import Poisson

script("tools/bad_arguments.py")  # puts the folder of valid calls on the path
from valid_calls import valid_calls  # noqa: E402


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
