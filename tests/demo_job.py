"""Job of a small experiment: bits of some thousand users."""

from typing import Any

from shuffledp.pipeline.experiments.job_parts import Job


def demo_job(**changes: Any) -> Job:
    """Return the job, with changed parts."""
    parts: dict[str, Any] = {
        "paper": "demo",
        "experiment": "coins",
        "method": "amplified",
        "protocol": "amplified",
        "accounting": ["printed", "exact"],
        "repeats": 5,
        "seed": 7,
        "grid": {"eps": [0.5, 1.0]},
        "task": {"kind": "frequency", "domain_size": 2, "truth": "participants", "metrics": ["mse"]},
        "data": {"name": "categorical", "weights": [0.25, 0.75]},
        "population": {"law": "binomial", "trials": 2000, "rate": 0.5},
        "budget": {"eps": "$eps", "delta": 1.0e-5},
    }
    return Job(**parts | changes)
