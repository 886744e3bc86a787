"""Largest gain of fake users, who send the messages of their choice, and what must be enforced to bound it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Enforced = Literal[
    "unknown", "one report", "range of a row", "capped messages", "range of shares", "one value"
]

#: Sentence for each rule.
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
