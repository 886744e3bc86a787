"""Training on shuffled batches: settings parsed from the command line, and the guarantee as sentences."""

from __future__ import annotations

from typing import Any

from shuffledp.accountant.answers import bounds_lines
from shuffledp.accounting.training.shuffled_batches import shuffled_batches_epsilon
from shuffledp.guarantees import NULL_CLONES
from shuffledp.numerics.argument_ranges import checked
from shuffledp.numerics.rounding import number_text

_NEIGHBORS = "Neighbors differ in one item, which becomes a zero that keeps its place (zero-out)."
_FRESH = "Every epoch has a fresh permutation, and batch membership is not released."
_NOT_COVERED = (
    "Not covered: a permutation kept for all epochs, replacement of an item, a dropped last batch, "
    "floating-point noise."
)


def training_named(text: str) -> dict[str, Any]:
    """Return steps, sigma and epochs written as ``1000:2`` or ``1000:2:10``.

    Raises
    ------
    ValueError
        If the text names no setting.
    """
    words = text.split(":")
    try:
        steps, sigma, epochs = (*words, "1")[:3]
        if len(words) > 3:
            raise ValueError
        return {"steps": int(steps), "sigma": float(sigma), "epochs": int(epochs)}
    except ValueError:
        raise ValueError(
            f"batches must be STEPS:SIGMA or STEPS:SIGMA:EPOCHS, an integer, a number and an integer, got {text!r}."
        ) from None


def training_answer(steps: int, sigma: float, epochs: int, delta: float) -> dict[str, Any]:
    """Return both bounds on eps, nats, with the setting and the guarantee, as plain data."""
    epsilon = checked(shuffled_batches_epsilon)
    epsilons = {side: epsilon(steps, sigma, delta, epochs, side) for side in ("upper", "lower")}
    return {
        "eps": epsilons["upper"],
        "eps_lower": epsilons["lower"],
        "delta": delta,
        "steps": steps,
        "sigma": sigma,
        "epochs": epochs,
        "neighbours": "zero_out",
        "guarantee": NULL_CLONES.guarantee,
        "note": f"{NULL_CLONES.note}. {_FRESH} {_NOT_COVERED}",
    }


def _setting(answer: dict[str, Any]) -> str:
    sigma = number_text(answer["sigma"], "up")
    return f"{answer['steps']:,} shuffled batches with noise {sigma}, epochs: {answer['epochs']:,}"


def training_sentences(answer: dict[str, Any]) -> list[str]:
    """Return an answer as lines of text."""
    eps, delta = number_text(answer["eps"], "up"), number_text(answer["delta"], "up")
    return [
        f"eps = {eps}: delta = {delta}, {_setting(answer)}.",
        *bounds_lines(answer["eps"], answer["eps_lower"]),
        f"Guarantee: {answer['guarantee']}. Note: {NULL_CLONES.note}.",
        _NEIGHBORS,
        _FRESH,
        _NOT_COVERED,
    ]
