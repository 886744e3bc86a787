"""Populations parsed from the command line, and answers as sentences. Conventions: eps in nats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shuffledp.numerics.rounding import number_text
from shuffledp.populations.base import Fixed, Population
from shuffledp.populations.bounds import MomentBounded, SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Poisson

if TYPE_CHECKING:
    from shuffledp.accountant.answers import Answer
    from shuffledp.accountant.personalized import PersonalizedAnswer
    from shuffledp.accountant.rounds import RoundsAnswer

_ONE_ROUND = " (one round alone)"
_ROUNDS_WITH = {
    "fixed": "the number of users is known",
    "shared": "the number of users is random and the same in all rounds (shared crowd)",
    "fresh": "the number of users is drawn anew in every round (fresh crowd)",
}
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
    """Return an answer as lines of text, the requested number first and every bound rounded to its side."""
    eps, eps_local = number_text(answer.eps, "up"), number_text(answer.eps_local, "down")
    mean = "" if "Fixed" in answer.population else " on average"
    users = f"{_people(answer.users)} users{mean}"
    local = "reports without a local budget" if eps_local == "inf" else f"a local budget of {eps_local}"
    first = {
        "amplification": f"eps = {eps}: {users} with {local}",
        "budget": f"eps_local = {eps_local}: {users} with this local budget have eps = {eps}",
        "batch": f"users = {_people(answer.users)}{mean}: with {local}, eps = {eps}",
    }[answer.question]
    lines = [f"{first}, delta = {number_text(answer.delta, 'up')}.", *_least(answer)]
    lines.append(
        f"Randomizer: {answer.randomizer}. Reduction: {answer.reduction}. Guarantee: {answer.guarantee}."
    )
    if answer.note:
        lines.append(f"Note: {answer.note}.")
    if answer.rounds > 1:
        lines.append(f"Rounds: {answer.rounds:,}, composed; {_ROUNDS_WITH[answer.crowd]}.")
    lines.append(f"Neighbors differ in one user's input (replaced). Honest others: {answer.population}.")
    lines.append(answer.trust)
    return lines


def rounds_sentences(answer: RoundsAnswer) -> list[str]:
    """Return the answer about several batches as lines of text, every bound rounded to its side."""
    delta = number_text(answer.delta, "up")
    lines = [f"eps = {number_text(answer.eps, 'up')}: the following rounds together, delta = {delta}."]
    for batch in answer.batches:
        times = f", {batch.count:,} times" if batch.count > 1 else ""
        eps_local = number_text(batch.eps_local, "down")
        lines.append(f"  {batch.users:,} users with a local budget of {eps_local}{times}")
    lines += _least(answer)
    lines.append(
        f"Randomizer: {answer.randomizer}. Reduction: {answer.reduction}. Guarantee: {answer.guarantee}."
    )
    if answer.note:
        lines.append(f"Note: {answer.note}.")
    lines.append("Neighbors differ in one user's input (replaced), in all rounds.")
    lines.append(answer.trust)
    return lines


def personalized_sentences(answer: PersonalizedAnswer) -> list[str]:
    """Return the answer about one user as lines of text, every bound rounded to its side."""
    eps, eps_local = number_text(answer.eps, "up"), number_text(answer.eps_local, "down")
    delta = number_text(answer.delta, "up")
    lines = [f"eps = {eps}: a user with a local budget of {eps_local}, delta = {delta}."]
    lines.append(f"Reduction: {answer.reduction}. Guarantee: {answer.guarantee}.")
    if answer.note:
        lines.append(f"Note: {answer.note}.")
    return [*lines, "Neighbors differ in this user's input (replaced)."]


def bounds_sentence(eps: float, eps_lower: float, about: str = "") -> str:
    """Return the sentence on both bounds on eps, nats."""
    least = number_text(eps_lower, "down")
    return f"Proven: eps = {number_text(eps, 'up')} holds, and no eps below {least} does{about}."


def _least(answer: Answer | RoundsAnswer) -> list[str]:
    if answer.eps_lower is None:
        return []
    about = "" if getattr(answer, "rounds", 2) == 1 else _ONE_ROUND
    return [bounds_sentence(answer.eps, answer.eps_lower, about)]


def _people(users: float) -> str:
    """Return a number of users in full; a mean may have decimals."""
    return f"{users:,}" if isinstance(users, int) else f"{users:,.10g}"
