"""ADAPTIVE: the shuffler fills the reports up to a fixed number with reports of the zero vector."""

from dataclasses import dataclass

from shuffledp.protocols._schedules import AdaptiveSchedule
from shuffledp.protocols.vectors._laplace import LaplaceNoise


@dataclass(frozen=True)
class Adaptive(AdaptiveSchedule, LaplaceNoise):
    """Laplace noise with ``max(k - (N - 1), 0)`` dummies of the zero vector, added by the shuffler."""

    name = "adaptive"
    task_kind = "vectors"
