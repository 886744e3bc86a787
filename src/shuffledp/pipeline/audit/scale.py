"""Delta of calibrated protocols at any number of users and values, from the law of two counts of messages.

At the scale of an experiment the law of all messages has too many outcomes. User 1 therefore has one of two inputs, and
all other users hold a third input, or user 1's second input if there is no third. The view is reduced to two counts:
messages that are likelier under the first input, and messages that are likelier under the second. The number of users
is part of the view only if a law needs it. Each reduction can only decrease delta, so that an excess over a claim is
genuine. The computation uses the calibrated parameters but no accounting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from shuffledp.pipeline.audit.families import of_family
from shuffledp.pipeline.audit.measured import Measured, MissingProfileError, Profile
from shuffledp.pipeline.audit.scale_reports import PROFILES as REPORTS
from shuffledp.pipeline.audit.scale_sets import PROFILES as SETS
from shuffledp.pipeline.audit.scale_sums import PROFILES as SUMS
from shuffledp.pipeline.audit.scale_values import PROFILES as VALUES, presence
from shuffledp.populations.base import Law
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Neighbours


def at_scale(
    protocol: ProtocolBase,
    population: Law,
    levels: Sequence[float],
    neighbours: Neighbours = "replace_one",
) -> list[Measured]:
    """Return delta of a calibrated protocol at each claimed eps (nats, one per privacy level), without its accounting.

    If a first round changes the parameters, `protocol` has the parameters after the announcement. The neighboring
    relation `neighbours` is replacement of user 1's input, or add-remove of user 1. Raises `MissingProfileError` if no
    law of the protocol's messages is defined here, and `TooLargeError` if a law has too many outcomes.
    """
    if neighbours != "replace_one":
        present = of_family(protocol, PRESENCES)
        if present is None:
            raise MissingProfileError("users who are added or removed are not written down for this protocol")
        return [present(protocol, population, eps) for eps in levels]
    profile = of_family(protocol, PROFILES)
    if profile is None:
        raise MissingProfileError(
            f"the messages of {protocol.name} are not written down for any number of users"
        )
    return [profile(protocol, population, level, eps) for level, eps in enumerate(levels)]


#: Description of the messages, by the family of the protocol.
PROFILES: Mapping[str, Profile] = {**REPORTS, **SETS, **SUMS, **VALUES}
#: Description of the messages if users are added or removed, by the family of the protocol.
PRESENCES: Mapping[str, Callable[..., Measured]] = {
    "frequency._curator_noise.NoisyHistogram": presence,
    "frequency.skellam.Skellam": presence,
}
