"""Populations parsed from the command line, and answers as sentences. Conventions: eps in nats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from shuffledp.populations.base import Fixed, Population
from shuffledp.populations.bounds import MomentBounded, SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Poisson

if TYPE_CHECKING:
    from shuffledp.accountant.answers import Answer
    from shuffledp.accountant.rounds import RoundsAnswer

_ONE_ROUND = " (lower bound: one round alone)"
_FORMS = {
    "fixed": ("fixed:N", (int,)),
    "binomial": ("binomial:TRIALS:RATE", (int, float)),
    "poisson": ("poisson:MEAN", (float,)),
    "moments": ("moments:MEAN:VARIANCE", (float, float)),
    "subgaussian": ("subgaussian:MEAN:SCALE", (float, float)),
    "subexponential": ("subexponential:MEAN:A:B", (float, float, float)),
}
_MAKERS: dict[str, type[Population]] = {
    "fixed": Fixed,
    "binomial": Binomial,
    "poisson": Poisson,
    "moments": MomentBounded,
    "subgaussian": SubGaussian,
    "subexponential": SubExponential,
}


def population_named(text: str) -> Population:
    """Return the law of the number of other users from a text such as ``binomial:29999:0.3``, or raise ValueError."""
    name, *numbers = text.split(":")
    if name not in _FORMS:
        forms = ", ".join(form for form, _ in _FORMS.values())
        raise ValueError(f"population must be one of {forms}; got {text!r}.")
    form, kinds = _FORMS[name]
    try:
        values = [kind(number) for kind, number in zip(kinds, numbers, strict=True)]
    except ValueError:
        raise ValueError(f"population must be {form}, got {text!r}.") from None
    return _MAKERS[name](*values)


def arrivals_named(text: str | None) -> dict[str, Any]:
    """Return the arguments of `smallest_batch` written as ``poisson`` or ``binomial:0.3``; none for a fixed number.

    Other texts raise ValueError.
    """
    if text is None or text == "fixed":
        return {}
    if text == "poisson":
        return {"arrivals": "poisson"}
    name, _, rate = text.partition(":")
    try:
        if name == "binomial":
            return {"arrivals": "binomial", "rate": float(rate)}
    except ValueError:
        pass
    raise ValueError(
        f"population must be fixed, poisson or binomial:RATE if the number of users is computed; got {text!r}."
    )


def sentences(answer: Answer) -> list[str]:
    """Return an answer as lines of text, the requested number first."""
    users = f"{answer.users:,.0f} users" + ("" if "Fixed" in answer.population else " on average")
    local = (
        "reports without a local budget"
        if math.isinf(answer.eps_local)
        else f"a local budget of {answer.eps_local:.6g}"
    )
    first = {
        "amplification": f"eps = {answer.eps:.6g}: {users} with {local}",
        "budget": f"eps_local = {answer.eps_local:.6g}: {users} with this local budget have eps = {answer.eps:.6g}",
        "batch": f"users = {answer.users:,.6g}: with {local}, eps = {answer.eps:.6g}",
    }[answer.question]
    lines = [f"{first}, delta = {answer.delta:g}."]
    if answer.eps_lower is not None:
        lines.append(
            f"The smallest eps is between {answer.eps_lower:.6g} and {answer.eps:.6g}{_of_one(answer)}."
        )
    lines.append(
        f"Randomizer: {answer.randomizer}. Reduction: {answer.reduction}. Guarantee: {answer.guarantee}."
    )
    if answer.note:
        lines.append(f"Note: {answer.note}.")
    if answer.rounds > 1:
        lines.append(f"Rounds: {answer.rounds}, composed.")
    lines.append(f"Neighbors differ in one user's input (replaced). Honest others: {answer.population}.")
    lines.append(answer.trust)
    return lines


def rounds_sentences(answer: RoundsAnswer) -> list[str]:
    """Return the answer about several batches as lines of text."""
    lines = [f"eps = {answer.eps:.6g}: the following rounds together, delta = {answer.delta:g}."]
    for batch in answer.batches:
        times = f", {batch.count:,} times" if batch.count > 1 else ""
        lines.append(f"  {batch.users:,} users with a local budget of {batch.eps_local:.6g}{times}")
    if answer.eps_lower is not None:
        lines.append(f"The smallest eps is between {answer.eps_lower:.6g} and {answer.eps:.6g}{_ONE_ROUND}.")
    lines.append(
        f"Randomizer: {answer.randomizer}. Reduction: {answer.reduction}. Guarantee: {answer.guarantee}."
    )
    if answer.note:
        lines.append(f"Note: {answer.note}.")
    lines.append("Neighbors differ in one user's input (replaced), in all rounds.")
    lines.append(answer.trust)
    return lines


def _of_one(answer: Answer) -> str:
    return _ONE_ROUND if answer.rounds > 1 else ""
