"""The table of numerical errors: every public name is in it, a sample of it holds, and errors are found."""

import pytest

from scripts_by_file import script
from shuffledp import accounting
from shuffledp.pipeline.doc_blocks import read_block


@pytest.fixture(scope="module")
def tool():
    return script("tools/numerical_errors.py")


#: What takes longest, by the measured table; the target goes through all settings.
SLOW = {
    "one_sided_noise",
    "flexible_dummy_delta",
    "budget",
    "smallest_batch",
    "blanket_epsilon",
    "SubsetSelection",
}


def test_every_public_name_has_a_reference_or_a_reason(tool):
    assert tool.missing() == []


def test_a_sample_holds(tool):
    """The third setting of every function: the first random one, or a mixed corner."""
    wrong = []
    for _, _, claims in tool.families():
        for claim in claims:
            if claim.public in SLOW:
                continue
            *_, setting = (s for s, _ in zip(claim.settings(), range(3), strict=False))
            error = tool.measured(claim, setting)
            if error is not None and not claim.holds(error):
                wrong.append(f"{claim.name}: {error} at {setting}")
    assert not wrong


def test_an_error_on_the_wrong_side_is_found(tool, monkeypatch):
    claim = next(c for _, _, claims in tool.families() for c in claims if c.name == "two_bins_delta")
    setting = {"eps": 0.5, "n": 200, "rate": 0.2}
    true = accounting.two_bins_delta(**setting)
    for factor, holds in ((1.0, True), (1 - 1e-11, False), (1 + 1e-9, False)):
        monkeypatch.setattr(accounting, "two_bins_delta", lambda *_, f=factor, **__: true * f)
        error = tool.measured(claim, setting)
        assert claim.holds(error) == holds
        found = tool.Found()
        found.add(claim, setting, error)
        assert bool(found.wrong) != holds


def test_the_page_has_the_table_of_these_functions(tool):
    text = read_block(tool.PAGE, "numerical errors")
    assert all(f"`{name}`" in text for name in tool.covered() | set(tool.REASONS))
