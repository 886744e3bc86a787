"""Shipped noise designs: totals, certificates, the order of the file, and designs for other settings."""

import json

import pytest

from shuffledp.accounting import Infeasible, correlated_noise_delta
from shuffledp.accounting.summation.design_files import (
    good_atoms,
    quick_design,
    shipped_design,
    shipped_designs,
)
from shuffledp.accounting.summation.noise_design import NoiseDesign

SETTING = (1.0, 1e-6, 0.9)


@pytest.mark.parametrize("size, atoms", [(1, "star"), (3, "halving"), (5, "hub")])
def test_a_sample_is_certified_again(size, atoms):
    shipped = shipped_design(size, *SETTING, atoms=atoms)
    upper = correlated_noise_delta(shipped.design, 1.0)
    assert upper == pytest.approx(shipped.certified_delta, rel=1e-6)
    assert correlated_noise_delta(shipped.design, 1.0, bound="lower") > 0.99e-6
    # With a percent less noise it fails.
    assert correlated_noise_delta(shipped.design.moved(scale=-1e-2), 1.0, bound="lower") > 1e-6


def test_file_is_sorted_and_valid():
    shipped = shipped_designs()
    assert [s.design.max_value for s in shipped] == sorted(s.design.max_value for s in shipped)
    assert {s.design.max_value for s in shipped} == {1, 2, 3, 5, 10, 15, 20, 32, 64, 100}
    keys = [(s.design.max_value, s.design.atoms, s.design.hubs, s.design.law) for s in shipped]
    assert len(set(keys)) == len(keys)
    assert all(NoiseDesign.from_dict(json.loads(json.dumps(s.design.to_dict()))) == s.design for s in shipped)


def test_only_exact_setting_has_a_design():
    assert shipped_design(5, 1.0, 1e-6, 0.9 * (1 + 1e-12)) is not None
    for other in ((1.001, 1e-6, 0.9), (1.0, 1.01e-6, 0.9), (1.0, 1e-6, 0.91)):
        assert shipped_design(5, *other) is None
    assert shipped_design(7, *SETTING) is None
    assert shipped_design(10, *SETTING, atoms="hub", hubs=[4]).design.hubs == (4,)
    assert shipped_design(10, *SETTING, atoms="hub", hubs=[7]) is None


@pytest.mark.parametrize("size, kind", [(2, ("star", ())), (7, ("hub", (3,)))])
def test_quick_design_is_near_the_shipped(size, kind):
    design = quick_design(size, *SETTING)
    assert good_atoms(size) == kind == (design.atoms, design.hubs)
    assert correlated_noise_delta(design, 1.0) <= 1e-6
    shipped = shipped_design(size, *SETTING)
    if shipped is not None:
        assert 1 < design.messages / shipped.design.messages < 1.25


def test_refusals():
    shipped = {s.design.max_value for s in shipped_designs() if s.design.law == "negative_binomial"}
    sizes = ", ".join(map(str, sorted(shipped)))
    says = rf"No noise design is shipped for max_value = .*make designs.*Shipped are max_value {sizes} at eps = 1, "
    with pytest.raises(Infeasible, match=says):
        quick_design(21, *SETTING)
    with pytest.raises(Infeasible, match="eps_star"):
        quick_design(3, 1.0, 1e-6, 1.0)
    with pytest.raises(ValueError, match="hubs must be given"):
        quick_design(3, *SETTING, atoms="hub")
    with pytest.raises(ValueError, match="atoms"):
        shipped_design(3, *SETTING, atoms="ring")
    with pytest.raises(ValueError, match="hubs"):
        shipped_design(3, *SETTING, hubs=[2])
