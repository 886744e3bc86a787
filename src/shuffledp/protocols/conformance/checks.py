"""All checks in the order in which they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shuffledp.protocols.conformance.cases import Case, Protocol
from shuffledp.protocols.conformance.laws import (
    check_additive,
    check_cost,
    check_one_law,
    check_permutation_invariant,
    check_privacy,
    check_unbiased,
    check_variance,
)
from shuffledp.protocols.conformance.objects import (
    check_declarations,
    check_inputs_unchanged,
    check_refusals,
    check_repeats_apart,
    check_seeded,
    check_value_object,
)

Check = Callable[[Protocol, Iterable[Case]], None]
CHECKS: tuple[Check, ...] = (
    check_declarations,
    check_value_object,
    check_refusals,
    check_seeded,
    check_inputs_unchanged,
    check_repeats_apart,
    check_permutation_invariant,
    check_additive,
    check_cost,
    check_one_law,
    check_unbiased,
    check_variance,
    check_privacy,
)


def check_protocol(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Run every check; stops at the first that fails.

    Parameters
    ----------
    protocol_class : type
        As `shuffledp.protocols.get` returns it.
    cases : iterable of Case
        For example `default_cases(protocol_class)`.

    Raises
    ------
    AssertionError
        Naming the case and what is wrong.
    """
    given = tuple(cases)
    for check in CHECKS:
        check(protocol_class, given)
