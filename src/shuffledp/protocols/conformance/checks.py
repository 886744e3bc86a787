"""List of all checks, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shuffledp.protocols.conformance.cases import Case, Protocol
from shuffledp.protocols.conformance.law_checks import (
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
from shuffledp.protocols.conformance.privacy import Evidence, check_claim, check_encoder, privacy_evidence

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
    check_encoder,
    check_claim,
)
ABOUT_PRIVACY: tuple[Check, ...] = (check_privacy, check_encoder, check_claim)


def check_protocol(
    protocol_class: Protocol, cases: Iterable[Case], *, say: Callable[[str], object] = print
) -> Evidence:
    """Run every check up to the first failure, an AssertionError, and return the evidence about privacy.

    `say` is called with this evidence in one line, ``privacy: checked by .. / NOT checked: ..``.
    """
    given = tuple(cases)
    for check in CHECKS:
        if check not in ABOUT_PRIVACY:
            check(protocol_class, given)
    try:
        evidence = privacy_evidence(protocol_class, given)
    except AssertionError as error:
        say(f"privacy: REJECTED, {error}")
        raise
    say(str(evidence))
    return evidence
