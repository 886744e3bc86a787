"""Default accountings: exact if available, otherwise the tightest proven one."""

import inspect

import pytest

from scripts_by_file import ROOT
from shuffledp import accountant, accounting, designs
from shuffledp.pipeline.config.config_files import read_yaml
from shuffledp.protocols import calibrations
from shuffledp.protocols.registry import get
from small_tasks import BUILT_INS

FUNCTIONS = {
    name: inspect.signature(getattr(door, name)).parameters
    for door in (accounting, accountant, calibrations, designs)
    for name in door.__all__
    if inspect.isfunction(getattr(door, name))
}
#: Generally proven forms of a bound; the default is one of them.
PROVEN_FORMS = {
    "population_lower_bound": "exact",
    "share_count": "any_n",
    "group_order": "safe",
    "subsampled_shuffle_gaussian_rdp": "convex",
    "subsampled_shuffle_gaussian_epsilon": "convex",
    "checkin_shuffle_gaussian_rdp": "convex",
    "checkin_shuffle_gaussian_epsilon": "convex",
}


@pytest.mark.parametrize(
    "name", [name for name, parameters in FUNCTIONS.items() if "accounting" in parameters]
)
def test_functions_are_exact_by_default(name):
    assert FUNCTIONS[name]["accounting"].default == "exact"


@pytest.mark.parametrize("name, form", PROVEN_FORMS.items())
def test_forms_are_proven_by_default(name, form):
    assert FUNCTIONS[name]["form"].default == form


def test_violated_calibrations_are_no_default():
    for name in ("rappor_delta", "rappor_flip_probability"):
        assert FUNCTIONS[name]["calibration"].default == "sound"


@pytest.mark.parametrize("kind, name", BUILT_INS)
def test_protocols_are_calibrated_exactly_by_default(kind, name):
    protocol = get(kind, name)
    default = protocol.options()["accounting"].default
    best = [a for a in ("exact", "corrected", "simplified", "printed") if a in protocol.accountings]
    assert default == best[0]


def test_experiments_name_form_of_bound():
    """If a default changes, no figure may change."""
    for path in (ROOT / "config/experiments").glob("*.yaml"):
        for experiment, about in read_yaml(path)["experiments"].items():
            for name, method in about["methods"].items():
                if (method or {}).get("function") in PROVEN_FORMS:
                    assert "form" in method["arguments"], f"{path.name}: {experiment}.{name}"
