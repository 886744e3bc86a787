"""The table of numerical errors has every public name, its claims hold, and errors are found."""

import pytest

from scripts_by_file import script
from shuffledp import accounting
from shuffledp.pipeline.doc_blocks import read_block

TOOL = script("tools/numerical_errors.py")
CLAIMS = {claim.name: claim for _, _, claims in TOOL.families() for claim in claims}
#: Slowest functions by the measured table; the make target evaluates all functions.
SLOW = {
    *("one_sided_noise", "flexible_dummy_delta", "budget", "smallest_batch", "blanket_epsilon"),
    *("SubsetSelection", "mix_dummy_count", "flexible_dummies", "polya_mean_absolute"),
}


def test_every_public_name_has_a_reference_or_a_reason():
    assert TOOL.missing() == []


@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.public not in SLOW])
def test_claims_hold(name):
    """Closed forms are tested in all settings; sums in the third, the first random one or a mixed corner."""
    claim = CLAIMS[name]
    settings = list(claim.settings())
    closed = max(claim.below, claim.above) <= 1e-12
    for setting in settings if closed else settings[2:3]:
        error = TOOL.measured(claim, setting)
        assert error is None or claim.holds(error), f"{error} at {setting}"


def test_an_error_on_the_wrong_side_is_found(monkeypatch):
    claim = CLAIMS["two_bins_delta"]
    setting = {"eps": 0.5, "n": 200, "rate": 0.2}
    true = accounting.two_bins_delta(**setting)
    for factor, holds in ((1.0, True), (1 - 1e-11, False), (1 + 1e-9, False)):
        monkeypatch.setattr(accounting, "two_bins_delta", lambda *_, f=factor, **__: true * f)
        error = TOOL.measured(claim, setting)
        assert claim.holds(error) == holds
        found = TOOL.Found()
        found.add(claim, setting, error)
        assert bool(found.wrong) != holds


def test_the_page_has_the_table_of_these_functions():
    text = read_block(TOOL.PAGE, "numerical errors")
    assert all(f"`{name}`" in text for name in TOOL.covered() | set(TOOL.REASONS))
