"""Populations parsed from the command line."""

from __future__ import annotations

from typing import Any

from shuffledp.populations.base import Fixed, Population
from shuffledp.populations.bounds import MomentBounded, SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Poisson

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
