"""NON-ADAPTIVE: randomized response with a fixed number of dummies, which permit a larger local budget."""

from dataclasses import dataclass

from shuffledp.protocols._schedules import NonAdaptiveSchedule
from shuffledp.protocols.frequency._randomized_response import RandomizedResponse


@dataclass(frozen=True)
class NonAdaptive(NonAdaptiveSchedule, RandomizedResponse):
    """Randomized response with k dummies of input 0, for any number of users."""

    name = "non_adaptive"
    task_kind = "frequency"
