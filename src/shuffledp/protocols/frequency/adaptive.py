"""ADAPTIVE: the shuffler fills the reports up to a fixed number with dummies."""

from dataclasses import dataclass

from shuffledp.protocols._schedules import AdaptiveSchedule
from shuffledp.protocols.frequency._randomized_response import RandomizedResponse


@dataclass(frozen=True)
class Adaptive(AdaptiveSchedule, RandomizedResponse):
    """Randomized response with ``max(k - (N - 1), 0)`` dummies of input 0, added by the shuffler."""

    name = "adaptive"
    task_kind = "frequency"
