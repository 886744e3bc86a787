"""List of all checks in their order, and their verdicts."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

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
from shuffledp.protocols.conformance.leakage_checks import close_notes
from shuffledp.protocols.conformance.objects import (
    check_declarations,
    check_inputs_unchanged,
    check_other_inputs,
    check_refusals,
    check_repeats_apart,
    check_seeded,
    check_value_object,
)
from shuffledp.protocols.conformance.plugin_checks import (
    check_bits,
    check_close_variance,
    check_seeded_crowds,
    check_trust,
    check_users_apart,
)
from shuffledp.protocols.conformance.privacy import (
    Note,
    check_claim,
    check_encoder,
    claim_notes,
    encoder_notes,
)
from shuffledp.protocols.conformance.running import calibrated
from shuffledp.protocols.plugin_errors import format_error

Check = Callable[[Protocol, Iterable[Case]], str | None]
#: Checks of every protocol, and further checks of a user's class by `shuffledp check-baseline`.
Level = Literal["every", "close"]

_PRIVACY: Mapping[Check, Level] = dict.fromkeys((check_privacy, check_encoder, check_claim), "every")
#: All checks in their order, with their levels; `privacy_evidence` has further comparisons at the level ``close``.
LEVELS: Mapping[Check, Level] = {
    check_declarations: "every",
    check_value_object: "every",
    check_refusals: "every",
    check_seeded: "every",
    check_inputs_unchanged: "every",
    check_repeats_apart: "every",
    check_other_inputs: "every",
    check_permutation_invariant: "every",
    check_additive: "every",
    check_cost: "every",
    check_one_law: "every",
    check_unbiased: "every",
    check_variance: "every",
    check_trust: "every",
    check_users_apart: "close",
    check_seeded_crowds: "close",
    check_bits: "close",
    check_close_variance: "close",
    **_PRIVACY,
}
CHECKS: tuple[Check, ...] = tuple(check for check, level in LEVELS.items() if level == "every")


@dataclass(frozen=True)
class Evidence:
    """Evidence about the privacy of a protocol: comparisons, and the reasons for missing comparisons."""

    by: tuple[str, ...]
    missing: tuple[str, ...]

    def __str__(self) -> str:
        """Return the line ``privacy: checked by ..; NOT checked ..``."""
        by = f"checked by {'; '.join(self.by)}" if self.by else "checked by nothing"
        return f"privacy: {by} / NOT checked: {'; '.join(self.missing) or 'other settings than these'}"


def privacy_evidence(protocol_class: Protocol, cases: Iterable[Case], level: Level = "every") -> Evidence:
    """Check profile, encoder and claim, and return the comparisons and the reasons for missing comparisons."""
    case_list = tuple(cases)
    check_privacy(protocol_class, case_list)
    protocols = [p for p in (calibrated(protocol_class, case) for case in case_list) if p is not None]
    profiles = any(p.privacy_profile() is not None for p in protocols)
    notes: list[Note] = [
        *encoder_notes(protocol_class, case_list),
        *claim_notes(protocol_class, case_list),
        (profiles, "its own privacy profile against the budget" if profiles else "a privacy profile (none)"),
        *(close_notes(protocol_class, case_list) if level == "close" else ()),
    ]
    by = dict.fromkeys(what for checked, what in notes if checked)
    return Evidence(tuple(by), tuple(dict.fromkeys(what for checked, what in notes if not checked)))


def check_protocol(
    protocol_class: Protocol, cases: Iterable[Case], *, say: Callable[[str], object] = print
) -> Evidence:
    """Run every check up to the first failure, an AssertionError, and return the evidence about privacy.

    Calls `say` with this evidence in one line, ``privacy: checked by .. / NOT checked: ..``.
    """
    case_list = tuple(cases)
    for check in CHECKS:
        if check not in _PRIVACY:
            check(protocol_class, case_list)
    try:
        evidence = privacy_evidence(protocol_class, case_list)
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


def verdicts(
    protocol_class: Protocol, cases: Iterable[Case], level: Level = "every", file: str = ""
) -> list[Verdict]:
    """Run every check of a level; an error counts against the check's property. The last verdict is about privacy.

    `file` is the user's file, whose lines are named in errors.
    """
    case_list = tuple(cases)
    chosen = CHECKS if level == "every" else LEVELS

    def check_privacy(protocol_class: Protocol, cases: Iterable[Case]) -> str:
        return str(privacy_evidence(protocol_class, cases, level)).removeprefix("privacy: ")

    other_checks = [check for check in chosen if check not in _PRIVACY]
    return [verdict(check, protocol_class, case_list, file) for check in (*other_checks, check_privacy)]


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
        return Verdict(about, False, format_error(error, file))
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
