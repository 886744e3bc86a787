"""NON-ADAPTIVE: a fixed number of dummy reports buys a larger local budget."""

from dataclasses import dataclass

from shuffledp.protocols._schedules import NonAdaptiveSchedule
from shuffledp.protocols.frequency._randomized_response import RandomizedResponse


@dataclass(frozen=True)
class NonAdaptive(NonAdaptiveSchedule, RandomizedResponse):
    """Randomized response with k dummies of input 0, however many users take part."""

    name = "non_adaptive"
    task_kind = "frequency"
