"""Conformance checks of protocols, built-in or plug-in.

All checks of a user's baseline::

    from shuffledp.protocols import get
    from shuffledp.protocols.conformance import check_protocol, default_cases

    mine = get("frequency", "my_baselines/mine.py:Mine")
    check_protocol(mine, default_cases(mine))

Each ``check_..`` takes a protocol class and cases, calibrates the protocol for each case and raises an
``AssertionError`` with the fault and the case. Infeasible cases are skipped; if no case is feasible, the check fails.

Statistical checks draw from a fixed seed, so that results can be repeated. A correct protocol exceeds their bounds with
a probability of about 1e-6 per comparison (five standard errors, or a p-value of 1e-6). Checks can show that a protocol
is wrong, not that it is right. Privacy is checked empirically: messages drawn from the encoder against the declared
local budget, the analyzer's view of a few users against the budget, and the protocol's profile. `check_protocol` prints
one line with the checks of privacy that applied and those that did not.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if not __debug__:  # otherwise `python -O` would let every protocol pass
    raise ImportError("The conformance checks are assertions: run Python without -O.")

if TYPE_CHECKING:
    from shuffledp.protocols.conformance.cases import (
        BUDGETS as BUDGETS,
        Case as Case,
        Participating as Participating,
        Protocol as Protocol,
        SameNumbers as SameNumbers,
        SameSets as SameSets,
        SameVectors as SameVectors,
        default_cases as default_cases,
    )
    from shuffledp.protocols.conformance.checks import (
        CHECKS as CHECKS,
        Check as Check,
        Evidence as Evidence,
        Verdict as Verdict,
        check_protocol as check_protocol,
        infeasible_cases as infeasible_cases,
        privacy_evidence as privacy_evidence,
        verdicts as verdicts,
    )
    from shuffledp.protocols.conformance.law_checks import (
        check_additive as check_additive,
        check_cost as check_cost,
        check_one_law as check_one_law,
        check_permutation_invariant as check_permutation_invariant,
        check_privacy as check_privacy,
        check_unbiased as check_unbiased,
        check_variance as check_variance,
    )
    from shuffledp.protocols.conformance.objects import (
        check_declarations as check_declarations,
        check_inputs_unchanged as check_inputs_unchanged,
        check_other_inputs as check_other_inputs,
        check_refusals as check_refusals,
        check_repeats_apart as check_repeats_apart,
        check_seeded as check_seeded,
        check_value_object as check_value_object,
    )
    from shuffledp.protocols.conformance.plugin_checks import check_trust as check_trust
    from shuffledp.protocols.conformance.privacy import (
        check_claim as check_claim,
        check_encoder as check_encoder,
    )
    from shuffledp.protocols.conformance.running import (
        FAST_REPEATS as FAST_REPEATS,
        MESSAGE_REPEATS as MESSAGE_REPEATS,
        MOST_MESSAGES as MOST_MESSAGES,
    )
    from shuffledp.protocols.conformance.statistics import P_VALUE as P_VALUE, SEED as SEED, SIGMAS as SIGMAS
else:
    __getattr__, __dir__ = door(__name__)
