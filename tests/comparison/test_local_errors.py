"""Errors of one report per user in the local model, beside the formulas of the specification."""

import pytest

from shuffledp.comparison import local_report_error
from shuffledp.comparison.local_errors import _design


@pytest.mark.parametrize(
    "protocol, k, expected",
    [
        ("subset_selection", 1_024, 26.293),
        ("subset_selection", 22_000, 27.271),
        ("pgr", 1_024, 28.217),
        ("pgr", 22_000, 27.275),
        ("pi_rappor", 1_024, 28.293),
        ("hadamard_response", 22_000, 68.84),
        ("recursive_hadamard", 22_000, 68.97),
    ],
)
def test_errors_of_the_specification(protocol, k, expected):
    """The specification has 86.3 blocks of Hadamard responses in use, as if the last were as full as the others."""
    relative = 2e-3 if "hadamard" in protocol else 1e-4
    assert local_report_error(protocol, 1_000, k, 5.0) == pytest.approx(expected, rel=relative)


@pytest.mark.parametrize(
    "protocol, k, eps_local, sizes",
    [
        ("pgr", 10, 0.01, {"prime": 3}),
        ("pi_rappor", 10, 0.01, {"prime": 2}),
        ("hadamard_response", 10, 20.0, {"blocks": 16}),
        ("recursive_hadamard", 10, 20.0, {"blocks": 8}),
        ("recursive_hadamard", 10, 0.01, {"blocks": 1}),
    ],
)
def test_sizes_are_of_released_code(protocol, k, eps_local, sizes):
    design = _design(protocol, 1_000, k, eps_local)
    assert {name: getattr(design, name) for name in sizes} == sizes


def test_large_budgets_are_refused():
    with pytest.raises(ValueError, match="eps_local must be"):
        local_report_error("pgr", 100, 10, 20.5)
