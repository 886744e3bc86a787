"""Relative errors of the public functions of the accounting, against references in more than 50 digits.

For every public name that returns a number, a curve or parameters, a claim states the largest relative error on either
side. The settings are the corners of the range, then random settings with a fixed seed. References follow the formulas
of the sources, a module per family, without the accounting. Inverse functions are checked by the reference of the
forward function. A name without a reference is in `elsewhere.py`, with the reason.
"""

import csv
from pathlib import Path

import mpmath
import pytest

from references import allocation, blankets, clones, counts, curves, elementary
from references.conftest import COLUMNS
from references.elsewhere import REASONS
from shuffledp import accountant, accounting, designs
from shuffledp.accounting import Infeasible
from shuffledp.protocols import calibrations

#: Packages whose public functions have references, or a reason for none.
DOORS = (accounting, accountant, calibrations, designs)
FAMILIES = (blankets, clones, counts, curves, elementary, allocation)
CLAIMS = {claim.name: claim for family in FAMILIES for claim in family.CLAIMS}
#: Digits of the references: 50 of them are wanted; the others may cancel.
DIGITS = 80
#: Largest change of an error by twice as many digits; slopes at roots and cut tails are less exact than sums.
STABLE = 1e-25
#: Slowest functions; `make -C tools numerical-errors` evaluates all functions.
SLOW = {
    *("one_sided_noise", "flexible_dummy_delta", "budget", "smallest_batch", "blanket_epsilon"),
    *("SubsetSelection", "mix_dummy_count", "flexible_dummies", "polya_mean_absolute"),
}
#: Errors of all functions in all settings, as measured by this command.
ERRORS = Path(__file__).with_name("errors.csv")


def measured(claim, setting, digits=DIGITS):
    """Return the signed relative error in one setting; None if the function raises an error."""
    with mpmath.workdps(digits):
        try:
            return claim.measure(**setting)
        except Infeasible:
            return None


def test_public_names_have_reference_or_reason():
    names = {name for door in DOORS for name in door.__all__}
    checked = {claim.public for claim in CLAIMS.values()}
    assert sorted(names ^ (checked | set(REASONS))) == [], (
        "Write a claim of a new name into CLAIMS of a module of tests/references/, or the reason for none into "
        "tests/references/elsewhere.py; delete those of a name that is gone."
    )
    assert sorted(checked & set(REASONS)) == []


@pytest.mark.parametrize("name", CLAIMS)
def test_errors_are_within_their_limits(name, pytestconfig, record_property):
    """Closed forms are tested in all settings; sums in the third, the first random one or a mixed corner."""
    claim = CLAIMS[name]
    settings = list(claim.settings())
    if not pytestconfig.getoption("--all-settings", False):
        if claim.public in SLOW:
            pytest.skip("slow: make -C tools numerical-errors")
        settings = settings if max(claim.below, claim.above) <= 1e-12 else settings[2:3]
    errors = [measured(claim, setting) for setting in settings]
    found = [float(error) for error in errors if error is not None]
    row = (
        name,
        len(found),
        errors.count(None),
        -min([*found, 0]),
        claim.below,
        max([*found, 0]),
        claim.above,
    )
    for column, value in zip(COLUMNS, row, strict=True):
        record_property(column, value)
    wrong = [pair for pair in zip(errors, settings, strict=True) if pair[0] and not claim.holds(pair[0])]
    assert not wrong
    if pytestconfig.getoption("--all-settings", False) and claim.public not in SLOW and found:
        with mpmath.workdps(2 * DIGITS):
            again = measured(claim, settings[2], 2 * DIGITS)
            assert again == errors[2] or abs(again - errors[2]) < STABLE


def test_error_on_wrong_side_is_found(monkeypatch):
    claim = CLAIMS["two_bins_delta"]
    setting = {"eps": 0.5, "n": 200, "rate": 0.2}
    true = accounting.two_bins_delta(**setting)
    for factor, holds in ((1.0, True), (1 - 1e-11, False), (1 + 1e-9, False)):
        monkeypatch.setattr(accounting, "two_bins_delta", lambda *_, f=factor, **__: true * f)
        assert claim.holds(measured(claim, setting)) == holds


def test_report_has_functions_and_limits():
    with ERRORS.open(encoding="utf-8") as file:
        rows = {row["function"]: row for row in csv.DictReader(file)}
    missing = sorted(set(CLAIMS) - set(rows))
    assert not missing, f"Write the row of the error: make -C tools numerical-errors ONLY={missing[0]}"
    assert set(rows) == set(CLAIMS)
    for name, row in rows.items():
        limits = (CLAIMS[name].below, CLAIMS[name].above)
        assert (float(row["limit_below"]), float(row["limit_above"])) == limits, name
        assert float(row["below"]) <= limits[0] and float(row["above"]) <= limits[1], name
