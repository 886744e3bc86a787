"""Rule of thumb for histograms, checked against `shuffledp.compare` in 36 settings; one or two minutes.

The rule is for protocols whose shuffler only permutes, for replacement of one input and a mean number of messages per
user:

    1. one message: k-ary randomized response with its blanket;
    2. otherwise correlated noise, if its messages fit;
    3. otherwise designated coins, if their messages fit and randomized response is not better;
    4. otherwise randomized response.
    python tools/comparison_rule.py [--page]    # exits with 1 if an error ratio exceeds the stated one

With --page the counts are written into docs/measured/rule_of_thumb.md.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import shuffledp
from shuffledp.comparison import Compared

PAGE = Path(__file__).resolve().parents[1] / "docs/measured/rule_of_thumb.md"

USERS, DOMAINS, EPS, DELTA = (10_000, 100_000, 1_000_000), (2, 50, 500, 5_000), (0.2, 1.0, 2.0), 1e-6
BUDGETS = (1.0, 2.0, 10.0, math.inf)
#: Protocols that were compared when the rule was found.
KNOWN = (
    *("grr_blanket", "correlated_noise", "designated_coins", "pure_dump", "mix_dump", "balls_into_bins"),
    *("hashed_balls_into_bins", "fake_users", "flexible_pure_dump", "flexible_mix_dump", "private_coin"),
    *("solh", "unary_rows", "fragmented_rappor", "one_sided_noise", "amplified"),
)
#: Largest ratio of the rule's error to the least error: nine percent more, rounded.
MOST = 1.095
#: Relative rounding error of messages, which are sums of expectations and a user's own messages.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Checked:
    """Protocol of the rule, and the best protocol, for a setting and a budget of messages."""

    users: int
    domain_size: int
    eps: float
    messages: float
    picked: Compared
    best: Compared

    @property
    def ratio(self) -> float:
        """Ratio of the rule's error to the least error."""
        return float(self.picked.mse or math.nan) / float(self.best.mse or math.nan)


def picked(rows: Mapping[str, Compared], messages: float) -> Compared:
    """Return the protocol that the rule selects."""

    def fits(name: str) -> bool:
        return name in rows and float(rows[name].messages_per_user or math.inf) <= messages + ROUNDING

    response = rows["grr_blanket"]
    if messages <= 1:
        return response
    if fits("correlated_noise"):
        return rows["correlated_noise"]
    if fits("designated_coins") and float(rows["designated_coins"].mse or 0) < float(response.mse or 0):
        return rows["designated_coins"]
    return response


def checked(users: int, domain_size: int, eps: float) -> Iterator[Checked]:
    """Yield the checks of the rule in one setting, one for each budget of messages."""
    found = shuffledp.compare(users, domain_size=domain_size, eps=eps, delta=DELTA, protocols=KNOWN)
    rows = {row.protocol: row for row in found if row.status == "ok"}
    for messages in BUDGETS:
        fitting = [r for r in rows.values() if float(r.messages_per_user or math.inf) <= messages + ROUNDING]
        best = min(fitting, key=lambda row: float(row.mse or math.inf))
        yield Checked(users, domain_size, eps, messages, picked(rows, messages), best)


def summary(every: Sequence[Checked]) -> str:
    """Return the number of settings where the rule is right, and the other settings, as Markdown."""
    wrong = [one for one in every if one.ratio > 1]
    settings = (
        f"{_some(USERS)} users, {_some(DOMAINS)} values, eps {_some(EPS)}, and at most {_some(BUDGETS)} "
        f"messages per user on average, with delta {DELTA:g}"
    )
    right = (
        f"In {len(every) - len(wrong)} of {len(every)} cases, no protocol has less error than the choice of "
        "the rule."
    )
    lines = [f"{right} The cases have {settings}. The table has the other cases."]
    lines += ["", "| users | values | eps | messages | picked | better | error, times the least |"]
    lines += ["| --- " * 7 + "|"]
    lines += [
        f"| {one.users:,} | {one.domain_size:,} | {one.eps:g} | {one.messages:g} | `{one.picked.protocol}` "
        f"| `{one.best.protocol}` | {one.ratio:.3f} |"
        for one in wrong
    ]
    return "\n".join(lines)


def _some(numbers: Sequence[float]) -> str:
    told = ["any number of" if number == math.inf else f"{number:,.12g}" for number in numbers]
    return " or ".join(filter(None, [", ".join(told[:-1]), told[-1]]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Check all settings."""
    parser = argparse.ArgumentParser(description="Check a rule of thumb against shuffledp.compare.")
    parser.add_argument("--page", action="store_true", help="write the counts into docs/measured/")
    page = parser.parse_args(arguments).page
    every = [one for setting in product(USERS, DOMAINS, EPS) for one in checked(*setting)]
    text = summary(every)
    print(text)
    if page:
        PAGE.write_text(text + "\n", encoding="utf-8")
    worst = max(one.ratio for one in every)
    print(f"The error of the rule is at most {worst:.3f} times the least.")
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
