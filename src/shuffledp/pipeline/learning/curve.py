"""Results of training: points of the learning curve, and the progress of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """Evaluation after `round` rounds: accuracy in [0, 1], mean cross-entropy in nats, participants in this round."""

    round: int
    accuracy: float
    loss: float
    participants: int


@dataclass(frozen=True)
class TrainingCurve:
    """Points of one run in the order of rounds; eps, a function of the round, is computed elsewhere."""

    points: tuple[Point, ...]

    @property
    def best(self) -> Point:
        """Earliest point of the highest accuracy."""
        return max(self.points, key=lambda point: (point.accuracy, -point.round))


@dataclass(frozen=True)
class Progress:
    """Progress of a run in one line; `seconds_left` is None until the speed is known."""

    round: int
    rounds: int
    accuracy: float | None
    seconds_left: float | None

    def __str__(self) -> str:
        parts = [f"round {self.round:,} of {self.rounds:,}"]
        if self.accuracy is not None:
            parts.append(f"accuracy {100 * self.accuracy:.1f} %")
        if self.seconds_left is not None:
            parts.append(f"about {self.seconds_left:.0f} s left")
        return ", ".join(parts)
