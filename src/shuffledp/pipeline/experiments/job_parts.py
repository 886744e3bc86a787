"""Objects that the plain data of a job describe: its task, population, budget and name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from shuffledp.pipeline.experiments.grid import resolve
from shuffledp.populations.base import Fixed, Population
from shuffledp.populations.bounds import MomentBounded, SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Empirical, Poisson
from shuffledp.tasks import TASKS, Budget, Task


class TrainingPart(TypedDict):
    """Training run of a method: its name, the variable over its rounds, and the reason for its omission."""

    run: str
    round: str | None
    left_out: str


class OptionalParts(TypedDict, total=False):
    """Optional parts of a job: task, data, population and budget, which protocols share, and parts of some methods."""

    task: dict[str, Any]
    data: dict[str, Any]
    population: dict[str, Any]
    budget: dict[str, Any]
    training: TrainingPart
    simulated_at: dict[str, list[Any]]
    spent_at: dict[str, list[Any]]
    profile_at: dict[str, list[Any]]


class Job(OptionalParts):
    """Plain data of the job of one method in one experiment; a function's job needs no seed."""

    paper: str
    experiment: str
    method: str
    protocol: str | None
    function: str | None
    returns: str | None
    accounting: list[str]
    repeats: int
    seed: int | None
    grid: dict[str, list[Any]]
    options: dict[str, Any]
    arguments: dict[str, Any]


PARTS = ("task", "data", "population", "budget", "options", "arguments")
"""Entries of a job that may refer to variables of its grid."""


def parts_at(job: Job, point: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `PARTS` of a job with the values at a point of its grid."""
    found: dict[str, Any] = resolve({part: value for part, value in job.items() if part in PARTS}, point)
    return found


LAWS: Mapping[str, Callable[..., Population]] = {
    "binomial": Binomial,
    "poisson": Poisson,
    "empirical": Empirical,
    "sub_gaussian": SubGaussian,
    "sub_exponential": SubExponential,
    "moment_bounded": MomentBounded,
}
"""Classes of populations by the name in a configuration."""


def population_from(config: Mapping[str, Any]) -> Population:
    """Return the population of a configuration; ``{users: n}`` means n participants, hence n - 1 others."""
    if "users" in config:
        return Fixed(config["users"] - 1)
    return LAWS[config["law"]](**{k: v for k, v in config.items() if k != "law"})


def task_from(config: Mapping[str, Any]) -> Task:
    """Return the task of a configuration; keys that only select the metric of errors are ignored."""
    return TASKS[config["kind"]](**{k: v for k, v in config.items() if k not in ("kind", "truth", "metrics")})


def budget_from(config: Mapping[str, Any], population: Population) -> Budget:
    """Return the budget of a configuration; ``delta_times_users`` is divided by the expected number of participants."""
    if ("delta" in config) == ("delta_times_users" in config):
        raise ValueError("A budget needs either delta or delta_times_users.")
    eps = config["eps"]
    delta = config["delta"] if "delta" in config else config["delta_times_users"] / (1 + population.mean)
    return Budget(
        tuple(eps) if isinstance(eps, list) else eps, delta, config.get("neighbours", "replace_one")
    )


def name_of(job: Job | Mapping[str, Any]) -> str:
    """Return ``paper.experiment.method``, the name of a job in lines of progress."""
    return f"{job['paper']}.{job['experiment']}.{job['method']}"
