"""A valid calibration of every built-in protocol, for tests with bad arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import available, get
from shuffledp.tasks import TASK_KINDS, Budget, Frequency, Sets, Summation, Vectors

Calls = dict[str, tuple[Callable[..., Any], dict[str, Any]]]

TASKS = {
    "frequency": Frequency(4),
    "summation": Summation(3),
    "sets": Sets(8, 2),
    "vectors": Vectors(5, 1.0, "l1"),
}
BITS = ("multi_exact", "multi_expected", "multi_union")
TASK_OF = {
    **{f"frequency.{name}": Frequency(2) for name in BITS},
    "summation.bit_sum": Summation(1),
    "summation.real_sum": Summation(3, real=True),
    "summation.sparse_sum": Summation(3, coordinates=4),
    "vectors.privunit": Vectors(5, 1.0, "l2"),
}
POPULATION_OF = {
    "frequency.public_coin": Fixed(99_999),
    "frequency.random_checkin": Binomial(1998, 0.5),
    "vectors.random_checkin": Binomial(1998, 0.5),
}


def valid_calibrations() -> Calls:
    """Return the protocol, its calibration, and valid keywords; options have their defaults."""
    found: Calls = {}
    for kind in TASK_KINDS:
        for name in available(kind):
            called = f"{kind}.{name}"
            protocol = get(kind, name)
            calibrate = protocol.calibrate
            options = {option: p.default for option, p in protocol.options().items()}
            found[f"{called}.calibrate"] = (
                calibrate,
                {
                    "budget": Budget(1.0, 1e-6),
                    "population": POPULATION_OF.get(called, Fixed(999)),
                    "task": TASK_OF.get(called, TASKS[kind]),
                    **options,
                },
            )
    return found
