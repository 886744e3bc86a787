"""Open questions of the papers, with searches that this run computes, and with proofs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from shuffledp.pipeline.claims.search_results import LIMIT, Found, Values, largest
from shuffledp.pipeline.formatters import listed
from shuffledp.pipeline.papers.segmented import residual_search
from shuffledp.pipeline.papers.shuffle_gaussian import unit_ball_search
from shuffledp.pipeline.papers.summation import rappor_search

#: Columns of the table; see results/README.md.
COLUMNS: Final = (
    "id",
    "paper",
    "question",
    "statement",
    "searched",
    "method",
    "seed",
    "settings",
    "measure",
    "extreme",
    "where",
    "violations",
    "verdict",
    "proof",
    "related",
    "effort",
)
#: Some setting violates the statement; no searched setting does; or two proven bounds enclose the answer.
VERDICTS: Final = ("violated", "no violation found", "bracketed")
Effort = Literal["full", "quick"]


@dataclass(frozen=True)
class Question:
    """Open question with the search for numbers about it."""

    id: str
    paper: str
    question: str
    statement: str
    searched: str
    method: str
    measure: str
    values: Callable[[], Values]
    proof: str
    limit: float = LIMIT
    floor: float = -math.inf
    seed: str = ""
    related: tuple[str, ...] = ()


_BALL = (
    "All records are in a ball of diameter 1, the others at any place. Then the divergence of order l is "
    "at most the divergence of Theorem 1, where all others are at the old place."
)
_BALL_MEASURE = "ratio of the divergence to Theorem 1 at distance 1; the pair of the theorem has ratio 1"
_OBTUSE = (
    "For two users and order 2, if the angle between old and new place at the other record is right or obtuse. This "
    "includes the other direction of the theorem's pair (the other record at the new place). 1 / cosh x <= (cosh x + "
    "cos(sqrt(3) x)) / 2, since the coefficients of cosh(x)^2 + cosh(x) cos(sqrt(3) x) - 2 in (2 x)^(2 j) / (2 j)! are "
    "1/2 + cos(2 pi j / 3) >= 0. The means of the right side are exponentials, which leaves an inequality between "
    "polynomials (shuffledp.pipeline.papers.shuffle_gaussian.unit_ball_search). For an acute angle: none."
)
_INTEGRAL = "trapezoidal rule over the differences of the reports, both directions"


def _small_balls(full: bool) -> Iterator[Question]:
    for key, users, dimension, orders, sigmas, draws, ascents in (
        ("OQ-1", 2, 2, (2, 4, 8), (0.5, 4.0), *((4000, 2000) if full else (60, 40))),
        ("OQ-2", 3, 1, (2, 4), (0.5, 4.0), *((2000, 500) if full else (40, 20))),
        ("OQ-3", 3, 2, (2,), (1.0, 4.0), *((120, 60) if full else (3, 1))),
    ):
        place = "on a line" if dimension == 1 else "in a plane"
        if dimension > 1 and users == 2:
            place += ", which contains any three places"
        seed = f"open questions, {key}"

        yield Question(
            id=key,
            paper="shuffle_gaussian",
            question=f"Is the pair of Theorem 1 the worst for {users} users with records {place}?",
            statement=_BALL,
            searched=f"{draws} random data sets, half of the points on the surface, order {listed(orders)}, sigma "
            f"{sigmas[0]:g} to {sigmas[1]:g} (logarithmic); then {ascents} ascending steps from the best data set",
            method=_INTEGRAL,
            measure=_BALL_MEASURE,
            values=partial(
                unit_ball_search.few_users, users, dimension, orders, sigmas, draws, ascents, seed
            ),
            proof=_OBTUSE if users == 2 else "none",
            seed=seed,
            related=("SG-4", "SG-N5"),
        )


def _gaussian(full: bool) -> Iterator[Question]:
    yield from _small_balls(full)
    numbers = (2, 3, 10, 100, 1000, 60_000) if full else (2, 1000)
    draws, seed = (40 if full else 2), "open questions, OQ-4"
    yield Question(
        id="OQ-4",
        paper="shuffle_gaussian",
        question="Is the pair of Theorem 1 the worst for any number of users if all others hold the same record?",
        statement=_BALL,
        searched=f"{draws} random places of old, new and common record in a plane for each of {listed(numbers)} users, "
        "order 2, sigma 0.5 to 5 (logarithmic)",
        method="two integrals of Laplace transforms, exact for any number of users",
        measure=_BALL_MEASURE,
        values=lambda: unit_ball_search.many_users(numbers, draws, seed),
        proof="none beyond two users; if the others are at the old place, it is the theorem.",
        seed=seed,
        related=("SG-4", "SG-N5"),
    )


_FLIPS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45)
_WORST = (
    "No data set of the others has a larger delta than the worst of three data sets. In these three, all "
    "others hold one of the victim's two values, all hold the other, or all hold a third value."
)
_RAPPOR_MEASURE = "ratio of delta of the worst data set to the largest of the three"
_COUNTEREXAMPLE = "The setting in the column `where` is a counterexample."
_ALL = "all data sets of the others, eps at five shares of the local budget"


def _many(full: bool) -> tuple[tuple[int, ...], tuple[float, ...], tuple[float, ...]]:
    """Return the ranges of a search: numbers of users, budgets of a bit (nats), and deltas."""
    return (100, 1000, 10_000, 100_000) if full else (1000,), (1.0, 3.0, 5.0, 7.0), (1e-3, 1e-6, 1e-9)


def _many_users(full: bool) -> str:
    numbers, budgets, targets = map(listed, _many(full))
    return f"{numbers} users, {budgets} nats per bit, eps at which the worst of the three has delta {targets}"


def _rappor(full: bool) -> Iterator[Question]:
    flips = _FLIPS if full else _FLIPS[1::3]
    several = f"flip probabilities {listed(flips)}"
    few = range(1, 25 if full else 7)
    yield Question(
        id="OQ-5",
        paper="summation",
        question="Which data set is the worst for fragmented RAPPOR with few users?",
        statement=_WORST,
        searched=f"{_ALL}: {few[0]} to {few[-1]} others, {several}",
        method="exact laws of both counts",
        measure=_RAPPOR_MEASURE,
        values=lambda: rappor_search.sums(few, flips),
        proof=_COUNTEREXAMPLE,
        related=("SUM-N4",),
    )
    yield Question(
        id="OQ-6",
        paper="summation",
        question="Which data set is the worst for sums of RAPPOR, fragmented or symmetric, with many users?",
        statement=_WORST,
        searched=f"{_many_users(full)}; all data sets in which at most {rappor_search.APART} of the others hold "
        "another value than the rest",
        method="exact laws of both counts",
        measure=_RAPPOR_MEASURE,
        values=lambda: rappor_search.beside(*_many(full)),
        proof=_COUNTEREXAMPLE,
        related=("SUM-N4",),
    )
    yield Question(
        id="OQ-7",
        paper="deployments",
        question="Which data set is the worst for sums of symmetric RAPPOR with two values and few users?",
        statement="No data set of the others has a larger delta than the data set with one of the two values only.",
        searched=f"{_ALL}: {few[0]} to {few[-1]} others, {several}",
        method="exact laws of both counts",
        measure="ratio of delta of the worst data set to delta with all others on one value",
        values=lambda: rappor_search.sums(few, flips, third=False),
        proof=_COUNTEREXAMPLE,
    )
    handful, domains = ((1, 2, 3, 4), (2, 3)) if full else ((1, 2), (2, 3))
    yield Question(
        id="OQ-8",
        paper="deployments",
        question="Which data set is the worst for whole vectors of symmetric RAPPOR with few users?",
        statement=_WORST,
        searched=f"{_ALL}: {listed(handful)} others, {listed(domains)} values, {several}",
        method="enumeration of all multisets of vectors",
        measure=_RAPPOR_MEASURE,
        values=lambda: rappor_search.vectors(handful, domains, flips),
        proof=_COUNTEREXAMPLE,
    )


_FAILS = (
    "It fails for every number N of others and k >= 3 values. Let all others hold the victim's value. Let "
    "eps be so close to the local budget e0 that only outcomes with the largest likelihood ratio e^e0 contribute. The "
    "responses have one such outcome, all N + 1 equal, with probability (E / (E + k - 1))^(N + 1) for E = e^e0. The "
    "pair of counts has one, (N + 1, 0), with probability E / (E + k - 1)^(N + 1). So the exact delta is e^(N e0) "
    "times the stated delta."
)
_STATED = (
    "The delta of shuffled k-ary randomized response is at most the delta of the pair of counts, for any k."
)


def _variation_ratio(full: bool) -> Iterator[Question]:
    budgets = (0.5, 1.0, 2.0, 4.0)
    handful, domains = ((1, 2, 3, 4), (3, 4, 5)) if full else ((1, 2), (3, 4))
    searched = f"{_ALL}: {listed(handful)} others, {listed(domains)} values, local budgets {listed(budgets)}"
    listing = "enumeration of all multisets of responses"
    yield Question(
        id="OQ-9",
        paper="segmented",
        question="How wrong is the variation-ratio theorem with a residual component and few users?",
        statement=_STATED,
        searched=searched,
        method=listing,
        measure="ratio of the exact delta of the worst data set to the stated delta",
        values=lambda: residual_search.few_users(handful, domains, budgets, "stated"),
        proof=_FAILS,
        related=("SEG-6.2",),
    )
    numbers = (10, 30, 100, 300, 1000) if full else (10, 100)
    larger_domains, targets = (3, 10, 50), (1e-2, 1e-4, 1e-6, 1e-8)
    yield Question(
        id="OQ-10",
        paper="segmented",
        question="How wrong is the variation-ratio theorem with a residual component and many users?",
        statement=_STATED,
        searched=f"all {listed(numbers)} others with the victim's value, {listed(larger_domains)} values, "
        "local budgets "
        f"{listed(budgets)}, eps at which the stated delta is {listed(targets)}",
        method="exact law of the two sufficient counts",
        measure="ratio of the exact delta to the stated delta",
        values=lambda: residual_search.many_users(numbers, larger_domains, budgets, targets),
        proof=_FAILS,
        related=("SEG-6.2",),
    )
    yield Question(
        id="OQ-11",
        paper="segmented",
        question="How small is the best bound that holds with a residual component?",
        statement="The replacement used here is an upper bound for every data set.",
        searched=searched,
        method=listing,
        measure="ratio of the exact delta of the worst data set to the replacement; at 1 the bound is tight",
        values=lambda: residual_search.few_users(handful, domains, budgets, "replacement"),
        proof="It holds: an adversary who knows whether the residual was used faces a randomizer without a residual "
        "(shuffledp.accounting.general.variation_ratio). No proof excludes a smaller bound.",
        related=("SEG-6.2",),
    )


def _bracket(full: bool) -> Iterator[Question]:
    yield Question(
        id="OQ-12",
        paper="summation",
        question="For sums of RAPPOR with many users, how far can a data set be above the worst of the three?",
        statement="The delta proven for every data set is slightly above the delta of the worst of three "
        "data sets. In these three, all others hold one of the victim's two values, all hold the other, or "
        "all hold a third value.",
        searched=_many_users(full),
        method="exact delta of the three data sets, and the bound proven for every data set",
        measure="ratio of the proven delta to the delta of the worst of the three; no data set has a larger ratio",
        limit=math.inf,
        floor=1 / LIMIT,
        values=lambda: rappor_search.many(*_many(full)),
        proof="The upper bound is proven (shuffledp.accounting.baselines.summed_bits): products preserve "
        "domination, and an adversary who learns some bits only gains. OQ-6 has data sets above the three.",
        related=("SUM-N4",),
    )


def questions(effort: Effort) -> tuple[Question, ...]:
    """Return the open questions."""
    if effort not in ("full", "quick"):
        raise ValueError(f"effort must be full or quick, got {effort!r}.")
    full = effort == "full"
    return (*_gaussian(full), *_rappor(full), *_variation_ratio(full), *_bracket(full))


def verdict(question: Question, result: Found) -> str:
    """Return the verdict on a question from the result of its search, one of `VERDICTS`."""
    if result.beyond:
        return "violated"
    return "bracketed" if math.isinf(question.limit) else "no violation found"


def row(question: Question, effort: Effort) -> dict[str, str]:
    """Run the search of a question, and return the question's row in the table."""
    result = largest(question.values(), question.limit, question.floor)
    fields = ("id", "paper", "question", "statement", "searched", "method", "measure", "proof")
    return {
        **{name: getattr(question, name) for name in fields},
        "seed": question.seed or "-",
        "settings": str(result.settings),
        "extreme": f"{result.extreme:.7g}",
        "where": result.where,
        "violations": str(result.beyond),
        "verdict": verdict(question, result),
        "related": " ".join(question.related),
        "effort": effort,
    }


def table(effort: Effort) -> list[dict[str, str]]:
    """Return the table of texts, with one row per question and the columns `COLUMNS`."""
    return [row(question, effort) for question in questions(effort)]
