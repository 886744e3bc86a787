"""NON-ADAPTIVE: Laplace noise with a fixed number of dummies, which permit a larger local budget."""

from dataclasses import dataclass

from shuffledp.protocols._schedules import NonAdaptiveSchedule
from shuffledp.protocols.vectors._laplace import LaplaceNoise


@dataclass(frozen=True)
class NonAdaptive(NonAdaptiveSchedule, LaplaceNoise):
    """Laplace noise with k dummies of the zero vector, for any number of users."""

    name = "non_adaptive"
    task_kind = "vectors"
