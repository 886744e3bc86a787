"""List of all checks in their order, and their verdicts."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from shuffledp.accounting.errors import Infeasible
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
    check_other_inputs,
    check_refusals,
    check_repeats_apart,
    check_seeded,
    check_value_object,
)
from shuffledp.protocols.conformance.privacy import Evidence, check_claim, check_encoder, privacy_evidence
from shuffledp.protocols.plugin_errors import said

Check = Callable[[Protocol, Iterable[Case]], str | None]
CHECKS: tuple[Check, ...] = (
    check_declarations,
    check_value_object,
    check_refusals,
    check_seeded,
    check_inputs_unchanged,
    check_repeats_apart,
    check_other_inputs,
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

    Calls `say` with this evidence in one line, ``privacy: checked by .. / NOT checked: ..``.
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


@dataclass(frozen=True)
class Verdict:
    """Verdict on the property ``about``, the name of its check; ``note`` is the fault, or the method of the check."""

    about: str
    passed: bool
    note: str = ""

    def __str__(self) -> str:
        """Return the property, the outcome and the note in one line."""
        return (
            f"{self.about:22} {'passed' if self.passed else 'FAILED'}{f': {self.note}' if self.note else ''}"
        )


def verdicts(protocol_class: Protocol, cases: Iterable[Case]) -> list[Verdict]:
    """Run every check; an error counts against the check's property. The last verdict is about privacy."""
    given = tuple(cases)
    found = [verdict(check, protocol_class, given) for check in CHECKS if check not in ABOUT_PRIVACY]

    def check_privacy(protocol_class: Protocol, cases: Iterable[Case]) -> str:
        return str(privacy_evidence(protocol_class, cases)).removeprefix("privacy: ")

    return [*found, verdict(check_privacy, protocol_class, given)]


def verdict(
    check: Check,
    protocol_class: Protocol,
    cases: tuple[Case, ...],
    file: str = "",
) -> Verdict:
    """Run one check. The note is the check's return value, or the reason for no comparison."""
    about = check.__name__.removeprefix("check_").replace("_", " ")
    try:
        note = check(protocol_class, cases)
    except Exception as error:
        return Verdict(about, False, said(error, file))
    return Verdict(about, True, note or "")


def infeasible_cases(protocol_class: Protocol, cases: Iterable[Case]) -> list[tuple[str, int]]:
    """Return the reasons of infeasible cases, each with its number of cases, the most frequent reason first."""
    reasons: Counter[str] = Counter()
    for case in cases:
        try:
            case.calibrate(protocol_class)
        except Infeasible as error:
            reasons[error.reason] += 1
        except Exception:  # a check has said so
            continue
    return reasons.most_common()
