"""Values outside of a declared range: each is rejected by name, for all arguments of public functions and classes."""

import inspect
import math
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from scripts_by_file import script
from shuffledp import accounting as a
from shuffledp.accounting.general.clone_pair import ClonePair
from shuffledp.designs import CoarseDesign
from shuffledp.numerics import argument_ranges as ranges
from shuffledp.numerics.argument_ranges import checks_of, format_value
from shuffledp.populations import Fixed

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
    if known is ranges.check_sequence:
        return tuple([bad] for bad in bad_values(ends["items"][0]))
    return BAD.get(known, ())


CALLS = {
    name: (call, valid, {argument: bad for argument in valid if (bad := bad_values(checks.get(argument)))})
    for name, (call, valid) in valid_calls().items()
    if not inspect.isclass(call)
    for checks in (checks_of(call),)
}


@pytest.mark.parametrize("name", [name for name, (_, _, bad) in CALLS.items() if bad])
def test_out_of_range_values_are_named(name):
    call, valid, arguments = CALLS[name]
    for argument, values in arguments.items():
        for bad in (*values, 3000 * "["):
            said = bad[0] if isinstance(bad, list) else bad
            with pytest.raises(ValueError, match=rf"^{argument} must be ") as caught:
                call(**{**valid, argument: bad})
            assert re.escape(format_value(said)[:40]) in re.escape(str(caught.value)), (argument, bad)
            assert len(str(caught.value)) < 400


def test_most_arguments_have_a_range():
    arguments = sum(len(bad) for _, _, bad in CALLS.values())
    assert arguments > 300, arguments


COARSE = CoarseDesign(1, 1.5, (4.0,), (2.0,), 2.0, 1e-2)


def noise_of(shapes):
    """Return noise of the messages 1 and 2 with the given shapes."""
    return a.NoiseDesign(2, 0.5, "star", (), (1, 2), shapes, (0.5, 0.5), 1.0, 1e-5)


#: Call, the last value that it accepts, a value beyond, and the start of the error for that value.
ENDS = [
    (
        lambda eps: a.counter_delta(eps, a.CounterNoise(0.5, 1.0, 1.0)),
        0.5,
        0.49,
        "eps must be a number >= eps_g",
    ),
    (
        lambda p: a.rappor_delta(9, p, 1.0),
        np.nextafter(0.5, 0),
        0.5,
        r"flip_probability must be in \(0, 1/2\)",
    ),
    (
        lambda p: a.rappor_count_variance(9, p),
        np.nextafter(0.5, 0),
        0.5,
        r"flip_probability must be in \(0, 1/2\)",
    ),
    (lambda order: a.ikos_distance(9, order, 3), 9, 8, r"group_order must be an integer in \[n"),
    (lambda dummies: a.printed_dump_mse(9, 3, dummies), 0.0, -5e-324, "dummies must be a finite number"),
    (lambda eps: ClonePair(eps), 300.0, np.nextafter(300.0, 400), "ClonePair: eps_local must be at most 300"),
    (
        lambda others: a.OtherReports(Fixed(9), 0).after(np.array([others])),
        0,
        -1,
        "others must be at least 0",
    ),
    (lambda eps: a.log_gaussian_delta(1.0, eps), 1.0, math.nan, "eps must be a number"),
    (lambda eps: a.hockey_stick([0.0], [0.0], [0.0, eps]), math.inf, math.nan, "eps must be numbers"),
    (lambda orders: a.profile_rdp(orders, 9, 3.0), [2], [], "orders must be a non-empty"),
    (lambda orders: a.profile_rdp(orders, 9, 3.0), [4096], [[2]], "orders must be a non-empty"),
    (
        lambda p: a.variation_ratio_delta(1.0, p, 1e-18, 1.0, 9, sound=True),
        np.nextafter(1.0, 2),
        1.0,
        "p must be above 1",
    ),
    (
        lambda q: a.variation_ratio_delta(1.0, 3.0, 0.3, q, 9, sound=True),
        1.0,
        np.nextafter(1.0, 0),
        "q must be at least 1",
    ),
    (lambda grid: a.optimal_dummies(Fixed(99), 0.5, 1e-3, grid=grid), [7], [[7]], "grid must be an integer"),
    (lambda n: a.discrete_gaussian_gap([n], 1.0), 1, 0, "n must be at least 1"),
    (lambda q: a.share_count(40, q), 2, 1, "group_order must be an integer >= 2"),
    (lambda n: a.share_count(40, 1024, n, form="balle"), 19, 18, "n must be at least 19"),
    (
        lambda held: a.user_level_delta(1.0, 0.5, 99, 9.0, 5, held),
        5,
        6,
        "set_size must be at most domain_size = 5",
    ),
    (lambda rdp: a.subsampled_rdp(rdp, 0.1), [0.0], [-5e-324], "rdp must be a non-empty list"),
    (
        lambda size: replace(COARSE, max_value=size, rates=(4.0,) * size, centers=(2.0,) * size),
        128,
        129,
        "max_value must",
    ),
    (
        lambda rate: COARSE.moved(rate=rate),
        -100.0,
        np.nextafter(-100.0, -200),
        r"rate must be in \[-100, 100\]",
    ),
    (noise_of, (1.0, 1.0), (1.0,), "indices, shapes and ratios must have one length"),
    (lambda center: a.jump_sizes(center), 0.5, np.nextafter(0.5, 0), r"center must be in \[1/2, 65536\]"),
    (lambda size: a.atom_indices(size), 2048, 2049, "max_value must be an integer in"),
]


@pytest.mark.parametrize("call, last, beyond, error", ENDS)
def test_dependent_ranges_hold_their_ends(call, last, beyond, error):
    call(last)
    with pytest.raises(ValueError, match=f"^{error}.*, got "):
        call(beyond)
