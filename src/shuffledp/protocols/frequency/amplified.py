"""AMPLIFIED: randomized response with the local budget that amplification by shuffling allows."""

from dataclasses import dataclass

from shuffledp.protocols._schedules import AmplifiedSchedule
from shuffledp.protocols.frequency._randomized_response import RandomizedResponse


@dataclass(frozen=True)
class Amplified(AmplifiedSchedule, RandomizedResponse):
    """Randomized response over k values without dummies, amplified by clones among a random number of other users."""

    name = "amplified"
    task_kind = "frequency"
