"""Calls of a calibration that type checkers refuse.

`make lint` runs mypy over this file. An ignored error that mypy does not find fails, as an unused comment.
"""

from shuffledp.populations import Fixed
from shuffledp.protocols.frequency.solh import Solh
from shuffledp.tasks import Budget, Frequency

budget, population, task = Budget(1.0, 1e-6), Fixed(999), Frequency(10)


def calls() -> None:
    """Call `Solh.calibrate` with one wrong argument each, and expect a wrong result."""
    Solh.calibrate(1.0, population, task)  # type: ignore[arg-type]
    Solh.calibrate(budget, 1000, task)  # type: ignore[arg-type]
    Solh.calibrate(budget, population, 10)  # type: ignore[arg-type]
    Solh.calibrate(budget, population, task, accounting=1)  # type: ignore[arg-type]
    Solh.calibrate(budget, population)  # type: ignore[call-arg]
    eps_local: float = Solh.calibrate(budget, population, task)  # type: ignore[assignment]
    assert eps_local
