"""Functions that a configuration can name, and the labels of their numbers."""

import inspect
from importlib import import_module

import pytest

from scripts_by_file import script
from shuffledp.comparison import best_levels, local_report_error, prefix_error, tree_error
from shuffledp.comparison.ranges import range_rows
from shuffledp.guarantees import GUARANTEES
from shuffledp.pipeline.experiments.configurable_functions import NAMED_FUNCTIONS
from shuffledp.populations import Poisson

script("tools/bad_arguments.py")  # puts the folder of valid calls on the path
from valid_calls import valid_calls  # noqa: E402

SETTING = {"users": 1_000, "domain_size": 10, "eps": 1.0, "delta": 1e-5}
CALIBRATED = {
    "prefix_error": (prefix_error, {"protocol": "correlated_noise", **SETTING}),
    "best_levels": (best_levels, {"protocol": "correlated_noise", **SETTING}),
    "tree_error": (tree_error, {"protocol": "correlated_noise", **SETTING, "domain_size": 16, "levels": 2}),
    "local_report_error": (
        local_report_error,
        {"protocol": "pgr", "users": 1_000, "domain_size": 10, "eps_local": 1.0},
    ),
}


def test_every_function_is_public_and_float():
    for name, named in NAMED_FUNCTIONS.items():
        assert name in import_module(named.package).__all__
        assert inspect.signature(named.function).return_annotation in ("float", float)
        assert named.quantity in ("eps", "eps_local", "delta", "error", "levels")


def test_all_rules_give_a_label():
    calls = {**valid_calls(), **CALIBRATED}
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


@pytest.mark.parametrize("name", ["correlated_noise", "jump_counts", "grr_blanket", "sageo"])
def test_errors_have_label_of_protocol(name):
    rows = range_rows(SETTING["users"], 10, 1.0, 1e-5, [name])
    flat = next(row for row in rows if row.parameters["fan_outs"] == [10])
    arguments = {"protocol": name, **SETTING}
    assert NAMED_FUNCTIONS["prefix_error"].standing(arguments).guarantee == flat.guarantee
    assert prefix_error(**arguments) == flat.cdf_mse
    if name == "correlated_noise":
        assert prefix_error(**arguments, tree=True) == min(row.cdf_mse for row in rows if row is not flat)
        assert best_levels(**arguments) == 1


@pytest.mark.parametrize(
    "change, message",
    [
        ({"users": 1}, "users must be"),
        ({"eps": 0}, "eps must be"),
        ({"protocol": "solh"}, "protocol must be"),
        ({"domain_size": 2, "tree": True}, "tree needs a domain_size of at least 3"),
        ({"protocol": "silent_users", "tree": True}, "protocol must be"),
    ],
)
def test_wrong_arguments_of_errors_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        prefix_error(**{"protocol": "correlated_noise", **SETTING, **change})
