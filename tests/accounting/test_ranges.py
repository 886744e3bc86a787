"""Values outside of a declared range: each is rejected by name, for all arguments of public functions and classes."""

import inspect
import math
import re
from functools import partial

import pytest

from scripts_by_file import script
from shuffledp.numerics import argument_ranges as ranges
from shuffledp.numerics.argument_ranges import checks_of, shown

script("tools/bad_arguments.py")  # puts the folder of valid calls on the path
from valid_calls import valid_calls  # noqa: E402

NO_NUMBERS = (math.nan, "1", True, 10**400)
BAD = {
    ranges.check_positive: (0, -1.0, math.inf, *NO_NUMBERS),
    ranges.check_nonnegative: (-1e-9, math.inf, *NO_NUMBERS),
    ranges.check_open_unit: (0, 1.0, *NO_NUMBERS),
    ranges.check_unit: (-1e-9, 1.5, *NO_NUMBERS),
    ranges.check_choice: ("no such", 1),
}


def bad_values(check):
    """Return values outside of a check's range, in sequences if it checks sequences; none if it only checks types."""
    known, inner, ends = (
        (check.func, check.args, check.keywords) if isinstance(check, partial) else (check, (), {})
    )
    if known is ranges.check_count:
        least, most = ends.get("least", 0), ends.get("most", ranges.MOST)
        return (least - 1, least + 0.5, most + 1, *NO_NUMBERS)
    if getattr(known, "__name__", "") == "_unless_none":
        return bad_values(inner[0])
    if getattr(known, "__name__", "") == "_each":
        return tuple([bad] for bad in bad_values(inner[1]))
    return BAD.get(known, ())


CALLS = {
    name: (call, valid, {argument: bad for argument in valid if (bad := bad_values(checks[argument]))})
    for name, (call, valid) in valid_calls().items()
    if not inspect.isclass(call)
    for checks in (checks_of(call),)
}


@pytest.mark.parametrize("name", [name for name, (_, _, bad) in CALLS.items() if bad])
def test_a_value_out_of_its_range_is_refused_by_name(name):
    call, valid, arguments = CALLS[name]
    for argument, values in arguments.items():
        for bad in values:
            said = bad[0] if isinstance(bad, list) else bad
            with pytest.raises(ValueError, match=rf"^{argument} must be ") as caught:
                call(**{**valid, argument: bad})
            assert re.escape(shown(said)[:40]) in re.escape(str(caught.value)), (argument, bad)


def test_most_arguments_have_a_range():
    arguments = sum(len(bad) for _, _, bad in CALLS.values())
    assert arguments > 300, arguments
