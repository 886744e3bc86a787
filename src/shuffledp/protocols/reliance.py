"""Other users whose honesty a guarantee needs, and limits on the gain of fake users."""

from collections.abc import Mapping
from typing import Literal

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
        "The gain of fake users is for the most messages of an honest user and grows with the number that the shuffler "
        "admits per user; the analyzer cannot enforce it."
    ),
    "range of shares": "The gain of fake users is unbounded unless users prove the range of the sum of their shares.",
    "one value": "A fake user counts as one user: the trusted party admits one value per user and adds the noise.",
}
