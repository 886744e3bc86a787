"""Results of the accountant against sums over all outcomes in 50-digit arithmetic, on a grid; ten CPU minutes.

Every eps in a result is checked by the divergence. At the proven eps the divergence of the reduction is at most delta,
and just below it larger. At the lower bound on eps the divergence of a data set is at least delta, and just above it
smaller. The laws follow from the definitions of the randomizers, without the accounting. Each direction of random
allocation is checked in the same way: for pure steps by sums over the number of steps with the likelier outcome, for
one and two Gaussian steps by integrals.

    python tools/accountant_check.py                 # the grid; exits with 1 if an answer is on the wrong side
    python tools/accountant_check.py --only binary   # settings with this in their names
    python tools/accountant_check.py --page          # also writes the results into docs/measured/

Each finished setting is a line of a file with a digest of the code. An interrupted run is continued, several runs may
share the file, and a change of the code repeats all checks.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import mpmath

from shuffledp.accountant.shuffled_rounds import amplification
from shuffledp.accounting.training.random_allocation import allocation_delta, allocation_epsilon
from shuffledp.pipeline.code_keys import CodeKeys
from shuffledp.pipeline.resumable import Lines

DIGITS = 50
#: Largest relative distance of a result from the root, as documented.
SLACK = 5e-5
ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/measured/fifty_digits.md"
#: File with the finished settings.
LINES = ROOT / "logs" / "accountant_check.jsonl"

EPS_LOCAL = (0.01, 0.5, 2.0, 5.0, 12.0)
USERS = (1, 2, 7, 30)
DELTA = (1e-2, 1e-4, 1e-6, 1e-12, 1e-15)
Number = mpmath.mpf
Rows = list[tuple[Number, Number, Number]]
"""Outputs, each with its probability under one input, under the other input, and in a report of another user."""


@dataclass(frozen=True)
class Case:
    """Randomizer of a request to the accountant, and its laws at a local budget."""

    name: str
    asked: dict[str, object]

    def upper(self, eps_local: float) -> Rows:
        """Return the probabilities under both inputs, and the common part of all reports."""
        e = mpmath.exp(mpmath.mpf(eps_local))
        if self.name == "any":  # a clone of either input in a share e^-eps_local of the reports
            p = 1 / (2 * e)
            return [(e / (e + 1), 1 / (e + 1), p), (1 / (e + 1), e / (e + 1), p)]
        k = self.values
        total = e + k - 1
        return [
            (e / total, 1 / total, 1 / total),
            (1 / total, e / total, 1 / total),
            (*((k - 2) / total,) * 3,),
        ]

    def lower(self, eps_local: float) -> list[Rows]:
        """Return, for each value, the probabilities under both inputs and for other users who all hold this value."""
        e = mpmath.exp(mpmath.mpf(eps_local))
        k = 3 if self.name == "any" else self.values
        total = e + k - 1
        own, other = (e / total, 1 / total), (1 / total, e / total)
        rest = (k - 2) / total
        found = [
            [(*own, own[0]), (*other, other[0]), (rest, rest, rest)],
            [(*own, own[1]), (*other, other[1]), (rest, rest, rest)],
        ]
        if k > 2:
            more = (k - 3) / total
            third = (1 / total, 1 / total, e / total)
            found.append([(*own, 1 / total), (*other, 1 / total), third, (more, more, more)])
        return found

    @property
    def values(self) -> int:
        """Number of values of the randomizer."""
        return 2 if self.name == "binary" else int(str(self.asked["domain_size"]))


CASES = (
    Case("any", {"randomizer": "any"}),
    Case("binary", {"randomizer": "binary"}),
    Case("grr", {"randomizer": "grr", "domain_size": 3}),
    Case("grr", {"randomizer": "grr", "domain_size": 100}),
)


def divergence(rows: Rows, users: int, eps: Number) -> Number:
    """Return the hockey-stick divergence of one report among others, as the mean positive part of a sum."""
    factor = mpmath.exp(eps)
    rows = [row for row in rows if row[2] > 0]
    gains = [(own - factor * other) / blanket for own, other, blanket in rows]
    masses = [blanket for _, _, blanket in rows]
    rest = 1 - sum(masses)
    gains.append(mpmath.mpf(0))
    masses.append(rest if rest > mpmath.mpf(10) ** (10 - DIGITS) else mpmath.mpf(0))
    total = mpmath.mpf(0)
    for counts, mass in _multinomial(tuple(masses), users):
        value = sum(c * g for c, g in zip(counts, gains, strict=True) if c)
        if value > 0:
            total += mass * value
    return total / users


@lru_cache(maxsize=16)
def _multinomial(masses: tuple[Number, ...], copies: int) -> list[tuple[tuple[int, ...], Number]]:
    """Return all counts of the outcomes with their probabilities."""
    powers = [[mpmath.mpf(1)] for _ in masses]
    for row, mass in zip(powers, masses, strict=True):
        for _ in range(copies):
            row.append(row[-1] * mass)
    found: list[tuple[tuple[int, ...], Number]] = [((), mpmath.mpf(1))]
    for place, row in enumerate(powers):
        last = place == len(powers) - 1
        further = []
        for counts, mass in found:
            left = copies - sum(counts)
            for count in range(left if last else 0, left + 1):
                if row[count] > 0:
                    further.append(((*counts, count), mass * math.comb(left, count) * row[count]))
        found = further
    return found


def checked(case: Case, eps_local: float, users: int, delta: float) -> list[str]:
    """Return the errors of a result; empty if it is right."""
    answer = amplification(eps_local, users, delta, **case.asked)
    eps, wrong = mpmath.mpf(answer.eps), []
    rows = case.upper(eps_local)
    if divergence(rows, users, eps) > delta * (1 + mpmath.mpf(10) ** -12) and eps < eps_local:
        wrong.append(f"eps = {answer.eps!r} is too small")
    if divergence(rows, users, eps * (1 - SLACK)) <= delta and answer.eps > 1.01e-9:
        wrong.append(f"eps = {answer.eps!r} is larger than needed")
    if answer.eps_lower is None:
        return [*wrong, "no lower bound"]
    low = mpmath.mpf(answer.eps_lower)
    sets = case.lower(eps_local)
    if low > 0 and max(divergence(s, users, low) for s in sets) < delta * (1 - mpmath.mpf(10) ** -12):
        wrong.append(f"eps_lower = {answer.eps_lower!r} is lost by none of the data sets")
    above = low * (1 + SLACK)
    if above < eps_local and low > 1e-9 and max(divergence(s, users, above) for s in sets) > delta:
        wrong.append(f"eps_lower = {answer.eps_lower!r} is smaller than needed")
    return wrong


@dataclass(frozen=True)
class Steps:
    """Random allocation: steps with a local budget, or with normal noise."""

    steps: int
    eps_local: float | None = None
    sigma: float | None = None

    def delta(self, eps: Number, direction: str) -> Number:
        """Return the divergence from the laws of the outcomes."""
        find = self._pure if self.eps_local is not None else self._gaussian
        return find(mpmath.exp(eps), direction)

    def _pure(self, factor: Number, direction: str) -> Number:
        """Return delta of randomized response in every step; an absent user's likelier outcome has mass 1 / (E + 1)."""
        e = mpmath.exp(mpmath.mpf(self.eps_local))
        p, t = 1 / (e + 1), self.steps
        terms = []
        for ones in range(t + 1):
            ratio = (ones * e + (t - ones) / e) / t  # present over absent
            gain = ratio - factor if direction == "remove" else 1 - factor * ratio
            if gain > 0:
                terms.append(math.comb(t, ones) * p**ones * (1 - p) ** (t - ones) * gain)
        return mpmath.fsum(terms)

    def _gaussian(self, factor: Number, direction: str) -> Number:
        """Return delta of one step in closed form, or of two steps by an integral of a normal tail over the first."""
        s = mpmath.mpf(self.sigma)

        # L(y) = e^((2 y - 1) / (2 s^2)); absent y is N(0, s^2), and with the weight L it is N(1, s^2).
        def inverse(ratio: Number) -> Number:
            return s**2 * mpmath.log(ratio) + mpmath.mpf(1) / 2

        def tails(ratio: Number) -> tuple[Number, Number]:  # of L above it: absent, present
            if ratio <= 0:
                return mpmath.mpf(1), mpmath.mpf(1)
            at = inverse(ratio)
            return mpmath.ncdf(-at / s), mpmath.ncdf((1 - at) / s)

        if self.steps == 1:
            if direction == "remove":
                absent, present = tails(factor)
                return present - factor * absent
            absent, present = tails(1 / factor)
            return (1 - absent) - factor * (1 - present)

        def given(y: Number) -> Number:
            first = mpmath.exp((2 * y - 1) / (2 * s**2))
            if direction == "remove":  # ((first + L) / 2 - factor)^+
                absent, present = tails(2 * factor - first)
                value = present / 2 + (first / 2 - factor) * absent
            else:  # (1 - factor (first + L) / 2)^+
                if first >= 2 / factor:
                    return mpmath.mpf(0)
                absent, present = tails(2 / factor - first)
                value = (1 - factor * first / 2) * (1 - absent) - factor / 2 * (1 - present)
            return value * mpmath.npdf(y, 0, s)

        kink = inverse(2 * factor if direction == "remove" else 2 / factor)
        # Smooth on either side of the kink; behind 24 deviations there is less than 10^-120.
        points = sorted({kink, *(s * k for k in range(-24, 26, 3) if abs(s * k - kink) > s / 10)})
        points = [x for x in points if -24 * s <= x <= kink or direction == "remove"]
        return mpmath.quad(given, points, method="gauss-legendre", maxdegree=5)


ALLOCATIONS = (
    *(Steps(t, eps_local=e) for t in (1, 2, 10, 60, 400) for e in (0.01, 0.5, 2.0, 5.0, 12.0)),
    *(Steps(t, sigma=s) for t in (1, 2) for s in (0.3, 1.0, 4.0)),
)
#: Largest relative errors of `allocation_epsilon` and `allocation_delta`, as documented: of eps for eps_local-DP steps,
#: of eps for Gaussian steps, and of delta.
PURE_EPS, GAUSSIAN_EPS = 1e-5, 1e-3
PURE_DELTA, GAUSSIAN_DELTA = 1e-8, 0.1
#: Relative distance from a kink within which the first error is not stated.
BESIDE = 1e-6


def checked_allocation(case: Steps, delta: float, direction: str) -> list[str]:
    """Return the errors, on both sides, of eps at a delta and of delta at this eps."""
    options = {"eps_local": case.eps_local, "sigma": case.sigma, "direction": direction}
    slack, wide = (PURE_EPS, PURE_DELTA) if case.eps_local is not None else (GAUSSIAN_EPS, GAUSSIAN_DELTA)
    most = case.eps_local or 300.0
    wrong = []
    upper = mpmath.mpf(allocation_epsilon(delta, case.steps, **options, bound="upper"))
    lower = mpmath.mpf(allocation_epsilon(delta, case.steps, **options, bound="lower"))
    exact = mpmath.mpf(10) ** -12
    if upper < most and case.delta(upper, direction) > delta * (1 + exact):
        wrong.append(f"eps = {float(upper)!r} is too small")
    if upper > 1e-9 and case.delta(upper * (1 - slack), direction) <= delta:
        wrong.append(f"eps = {float(upper)!r} is larger than needed")
    if lower > 0 and case.delta(lower, direction) < delta * (1 - exact):
        wrong.append(f"eps = {float(lower)!r} as a lower bound is too large")
    if 1e-9 < lower * (1 + slack) < most and case.delta(lower * (1 + slack), direction) > delta:
        wrong.append(f"eps = {float(lower)!r} as a lower bound is smaller than needed")
    for eps in {float(upper), min(0.3, most / 2)}:
        true = case.delta(mpmath.mpf(eps), direction)
        low, high = (allocation_delta(eps, case.steps, **options, bound=side) for side in ("lower", "upper"))
        if true < 1e-290 or eps >= most:
            continue
        if not low * (1 - exact) <= true <= high * (1 + exact):
            wrong.append(f"delta = {mpmath.nstr(true, 8)} at {eps!r} is not between {low!r} and {high!r}")
        elif low < true * (1 - wide) or high > true * (1 + wide):
            if case.eps_local is not None and case.delta(eps * (1 - BESIDE), direction) > 1.5 * true:
                continue  # the last digit of eps counts
            wrong.append(f"delta = {mpmath.nstr(true, 8)} at {eps!r}: {low!r} or {high!r} is too far away")
    return wrong


@dataclass(frozen=True)
class Asked:
    """Setting of the grid: its part, its name, and the function that returns the errors of the results."""

    part: str
    name: str
    find: Callable[[], list[str]]


def settings() -> Iterator[Asked]:
    """Yield all settings of the grid."""
    for case, users, eps_local, delta in product(CASES, USERS, EPS_LOCAL, DELTA):
        asked = ", ".join(f"{key} {value}" for key, value in case.asked.items())
        name = f"{asked}, eps_local {eps_local:g}, n {users}, delta {delta:g}"
        yield Asked("answers", name, partial(checked, case, eps_local, users, delta))
    for steps, direction, delta in product(ALLOCATIONS, ("remove", "add"), DELTA):
        part = "pure steps" if steps.eps_local is not None else "Gaussian steps"
        size = f"eps_local {steps.eps_local:g}" if steps.eps_local is not None else f"sigma {steps.sigma:g}"
        name = f"{steps.steps} steps, {size}, {direction}, delta {delta:g}"
        yield Asked(part, name, partial(checked_allocation, steps, delta, direction))


def done(asked: Iterable[Asked], lines: Path, code: str) -> dict[str, list[str]]:
    """Return the results of all settings, by part and name; missing settings are computed and appended."""
    known, answers = Lines(lines), {}
    for one in asked:
        key = f"{one.part}: {one.name}"
        with mpmath.workdps(DIGITS):
            answers[key] = known.of(f"{code} {key}", one.find)
        for text in answers[key]:
            print(f"{key}: {text}", flush=True)
    return answers


def report(found: dict[str, list[str]]) -> str:
    """Return the results as Markdown for the documentation."""

    def counted(*parts: str) -> tuple[int, int]:
        rows = [wrong for key, wrong in found.items() if key.partition(":")[0] in parts]
        return len(rows), sum(map(len, rows))

    answers, failed = counted("answers")
    allocations, misses = counted("pure steps", "Gaussian steps")
    return (
        f"Of {answers} answers, {failed} are on the wrong side of the value in {DIGITS}-digit arithmetic, "
        f"or differ from it by more than {SLACK:g} relative.\n\n"
        f"For random allocation, {allocations} settings were checked: eps at a delta and delta at an eps, in each "
        f"direction, from above and below. Of these, {misses} are on the wrong side of the value in {DIGITS}-digit "
        f"arithmetic, or differ from it by more than the limit. The relative limits for eps and delta are "
        f"{PURE_EPS:g} and {PURE_DELTA:g} for eps_local-DP steps, and {GAUSSIAN_EPS:g} and {GAUSSIAN_DELTA:g} for "
        "Gaussian steps."
    )


def main() -> int:
    """Check the grid; return 1 if a result is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="write what was found into docs/measured/")
    parser.add_argument("--only", default="", metavar="TEXT", help="only settings with this in their name")
    given = parser.parse_args()
    if given.page and given.only:
        parser.error("--page is about the whole grid: leave out --only")
    asked = [one for one in settings() if given.only in f"{one.part}: {one.name}"]
    if not asked:
        parser.error(f"no setting has {given.only!r} in its name")
    keys = CodeKeys(ROOT).keys("results", "tools/accountant_check.py")
    found = done(asked, LINES, "".join(key[:6] for key in keys.values()))
    text = report(found)
    print(text)
    if given.page:
        PAGE.write_text(text + "\n", encoding="utf-8")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
