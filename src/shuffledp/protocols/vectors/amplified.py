"""AMPLIFIED: Laplace noise with the local budget that amplification by shuffling allows."""

from dataclasses import dataclass

from shuffledp.protocols._schedules import AmplifiedSchedule
from shuffledp.protocols.vectors._laplace import LaplaceNoise


@dataclass(frozen=True)
class Amplified(AmplifiedSchedule, LaplaceNoise):
    """Laplace noise without dummies, amplified by the reports of a random number of other users."""

    name = "amplified"
    task_kind = "vectors"
