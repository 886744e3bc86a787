"""Names of trust models and protocols in drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shuffledp.identities import Identity, identity_of

if TYPE_CHECKING:
    from shuffledp.pipeline.config import Experiment, Method

#: Trusted party by trust model, in the order of a leaderboard.
TRUST = {
    "shuffler": "shuffler permutes",
    "shuffler_adds": "shuffler adds or samples",
    "secure_sum": "secure summation",
    "central": "curator",
    "local": "nobody",
}


def protocol_name(method: Method) -> str:
    """Return the protocol of a method, or of a function with an argument ``protocol``; empty for other functions."""
    return str(method.protocol or method.given.get("protocol", ""))


def method_identity(experiment: Experiment, method: Method) -> Identity | None:
    """Return the identity of a method's protocol; None without one, and for protocols outside the library."""
    kind = experiment.task.kind if experiment.task else ""
    return identity_of(kind, protocol_name(method))


def method_label(experiment: Experiment, method: Method) -> str | None:
    """Return the name that a comparison gives a method; None if the results have its name."""
    identity = method_identity(experiment, method)
    return method.label or (identity.label if identity else None)
