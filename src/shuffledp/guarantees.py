"""Labels of privacy guarantees, notes on unproven claims, other users whose honesty a guarantee needs, and fake users.

Conventions: a *claim* is that a mechanism is (eps, delta)-private for the eps (nats) and delta that a formula or a
calibration states. A label refers to the derivation of a claim, not to one setting. A formula with a known
counterexample is ``violated`` in all settings, unless it is proven for the range of the calibrated parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from shuffledp.numerics.rounding import number_text

#: Strength of the proof of a claim; `MEANING` has words for each label.
Guarantee = Literal["exact", "upper", "approximate", "unproven", "violated"]
#: Labels from the strongest to the weakest.
GUARANTEES: tuple[Guarantee, ...] = get_args(Guarantee)
#: Words for the stated delta under each label, in recommendations and on pages.
MEANING: Mapping[str, str] = MappingProxyType(
    {
        "exact": "delta of the worst case",
        "upper": "a proven bound on delta",
        "approximate": "close to delta, and neither an upper nor a lower bound is certified",
        "unproven": "delta of a pair that is not proven to be the worst, or of a theorem outside its proven range",
        "violated": "exceeded in a known setting, which the note names",
    }
)
#: Labels that need a reason.
NEED_A_NOTE: frozenset[str] = frozenset({"unproven", "violated"})


@dataclass(frozen=True)
class Standing:
    """Label of a guarantee and its reason.

    `note` is the unproven statement of an ``unproven`` claim, or the witness against a ``violated`` claim; both labels
    require a note. An unknown label or a missing note raises ValueError.
    """

    guarantee: Guarantee
    note: str = ""

    def __post_init__(self) -> None:
        if self.guarantee not in GUARANTEES:
            raise ValueError(f"guarantee must be one of {', '.join(GUARANTEES)}, got {self.guarantee!r}.")
        if self.guarantee in NEED_A_NOTE and not self.note.strip():
            raise ValueError(
                f"note must give the reason for the guarantee {self.guarantee!r}, got {self.note!r}."
            )


EXACT = Standing("exact")
UPPER = Standing("upper")

#: Lower bounds on delta or eps, which claim no guarantee.
FROM_BELOW = Standing("violated", "a lower bound: delta of the pair is larger")


def under(**standings: Standing) -> Mapping[str, Standing]:
    """Return the guarantees of a claim by accounting, from keyword arguments."""
    return MappingProxyType(standings)


def weakest(standings: Iterable[Standing]) -> Standing:
    """Return the weakest guarantee, the first of equally weak ones. Raise ValueError if there is none."""
    candidates = list(standings)
    if not candidates:
        raise ValueError("standings must hold at least one Standing, got none.")
    return max(candidates, key=lambda standing: GUARANTEES.index(standing.guarantee))


# -- claims without a valid proof, each with its open statement or its witness --

#: Guarantee of the simplified form.
SIMPLIFIED = Standing(
    "unproven",
    "the simplified form is used from 3 log(4/delta) expected clones on, and its theorem implies it from 14 "
    "log(4/delta) on (RP-E4)",
)

#: Guarantee of training on shuffled batches by null clones.
NULL_CLONES = Standing(
    "upper",
    "null clones: proven, manuscript unreviewed; for an item that becomes a zero in its place, not for replacing it",
)

#: Guarantee of random check-in if the coin of user 1 counts as protection.
OWN_COIN = Standing(
    "unproven",
    "user 1's own coin counts as protection, though the number of filled slots may show who takes part",
)

#: Guarantee of the pair of counts with binomial blanket messages if some items are not sent.
NUMBER_OF_MESSAGES = Standing(
    "violated",
    "the number of messages shows whether the victim reported (SEG-6.1): for 5 users, 3 items, 1 per user, m 2, eps "
    "0.45 and delta 0.001 the true delta is 24 times as large, and 9.8 times as large if the others' reports are "
    "unknown",
)

#: Guarantee of the printed theorem if the victim has a residual component.
FORGOTTEN_RESIDUAL = Standing(
    "violated",
    "the others' residuals may look different from the victim's (SEG-6.2): for 4 users who report one of 5 items, eps "
    "3 and delta 0.001 the true delta is 58 times as large",
)

#: Guarantee of each calibration.
RAPPOR_STANDINGS: Mapping[str, Standing] = MappingProxyType(
    {
        "sound": UPPER,
        "proven": UPPER,
        "worst_case": Standing(
            "violated",
            "the other users are assumed to hold one of the two values, and other data sets are worse (OQ-5, OQ-6): "
            "for 5 users, eps 1 and delta 0.01 the true delta is 1.24 times as large if 3 of the others hold one of "
            "the two and 1 a third value; for 3,000 users, eps 8 and delta 0.3 it is 1.32 times as large if all hold "
            "a third",
        ),
        "optimistic": Standing(
            "violated",
            "the other users are assumed to hold a third value (SUM-N4): with one of the two delta is larger",
        ),
    }
)


#: Other users whose honesty a guarantee needs.
Reliance = Literal[
    "not stated",
    "no other user",
    "others' reports",
    "others' dummies",
    "others' reports and dummies",
    "named users' dummies",
    "shares of the noise",
]

_HIDE = "Those of them who collude with the analyzer, send something else or drop out hide no value."

#: Sentence for each reliance: what protects a value if a share of the users colludes or drops out.
ABSENCE: Mapping[Reliance, str] = {
    "not stated": "No bound is known beyond the local eps.",
    "no other user": "Other users hide nothing, so that eps stays.",
    "others' reports": "The reports of the remaining users hide a value. Its own report has the local eps.",
    "others' dummies": "The dummies of the remaining users hide a value.",
    "others' reports and dummies": "The reports and the dummies of the remaining users hide a value.",
    "named users' dummies": "The dummies of the named users who remain hide a value.",
    "shares of the noise": "The shares of the remaining users are the noise that hides a value.",
}
#: Sentence about users whose place in a public list determines their messages.
NAMED = "A public list names the users who send most: they collude first. Users who drop out are random."

#: Sentence for each reliance; `who` names the users.
RELIANCE: Mapping[Reliance, str] = {
    "not stated": "The protocol does not state which other users must be honest.",
    "no other user": "No other user need be honest.",
    "others' reports": f"Privacy also rests on the random reports of {{who}}. {_HIDE}",
    "others' dummies": f"Privacy also rests on the dummies of {{who}}. {_HIDE}",
    "others' reports and dummies": (
        f"Privacy also rests on the random reports of all other users, and on the dummies of {{who}}. {_HIDE}"
    ),
    "named users' dummies": (
        f"Privacy also rests on the dummies of {{who}}. {_HIDE} No other user need be honest."
    ),
    "shares of the noise": (
        "Privacy also rests on the shares of the noise of {who}. A share that its user leaves out or shows to the "
        "analyzer is missing from the noise that protects every user."
    ),
}


Enforced = Literal[
    "unknown", "one report", "range of a row", "capped messages", "range of shares", "one value"
]

#: Sentence for each rule that the shuffler enforces.
ENFORCED: Mapping[Enforced, str] = {
    "unknown": "No bound on the gain of fake users is stated.",
    "one report": "The gain of fake users is bounded if the shuffler admits one report of fixed size per user.",
    "range of a row": "The gain of fake users is bounded if the secure sum verifies that users add 0 or 1 to a count.",
    "capped messages": (
        "The shuffler must admit at most as many messages of a user as an honest user sends: fake users who send more "
        "distort estimates more. The analyzer cannot check this."
    ),
    "range of shares": "The gain of fake users is unbounded unless users prove the range of the sum of their shares.",
    "one value": "A fake user counts as one user: the trusted party admits one value per user and adds the noise.",
}


#: Words in the source of a protocol that no paper has.
OURS = "this project"


def is_derived(source: str) -> bool:
    """Return whether a protocol was derived for this project, by the first part of its source."""
    return OURS in source.split(";")[0]


#: Event in which an adversary sees the messages of a user, by the trust model.
_EXPOSED = {
    "shuffler": "If the shuffler fails or shows who sent a message",
    "shuffler_adds": "If the shuffler fails or shows who sent a message",
    "secure_sum": "If the secure summation shows the messages of a user",
}


def exposure_of(trust: str, eps_local: float | None, rounds: int = 1) -> str:
    """Return a sentence on the privacy of a user whose messages an adversary recognizes.

    `eps_local` is for one of the `rounds` releases, in nats.
    """
    if eps_local is None:
        return "A curator receives the values of all users."
    if trust == "local":
        return "A user trusts no other party: the guarantee is for the user's own messages."
    if math.isinf(eps_local):
        return f"{_EXPOSED[trust]}, values are in the clear: the local eps is inf."
    once = f"{_EXPOSED[trust]}, a value has only the local eps, {number_text(eps_local, 'up', 4)}"
    if rounds == 1:
        return f"{once}."
    total_eps = number_text(rounds * eps_local, "up", 4)
    return (
        f"{once} in one release. In {rounds} releases, all values of a user have the local eps {total_eps}."
    )
