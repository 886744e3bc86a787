"""Jobs of methods, and the objects that their parts describe: task, population and budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from shuffledp.pipeline.experiments.grid import cells_of, resolve
from shuffledp.populations.base import Fixed, Population
from shuffledp.populations.bounds import MomentBounded, SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Empirical, Poisson
from shuffledp.tasks import TASKS, Budget, Task


class TrainingPart(TypedDict):
    """Training run of a method: its name, its seeds, the variable over its rounds, and the reason for its omission."""

    run: str
    seeds: int
    round: str | None
    left_out: str


@dataclass(frozen=True)
class Job:
    """Job of one method in one experiment; a function's job needs no seed.

    Protocols share task, data, population and budget. These parts, options and arguments are as the file has them, with
    variables of the grid. At the values of variables in ``simulated_at``, ``spent_at`` and ``profile_at`` there are
    simulations, the spent eps, and delta at many eps.
    """

    paper: str
    experiment: str
    method: str
    accounting: list[str]
    protocol: str | None = None
    function: str | None = None
    returns: str = "value"
    repeats: int = 1
    seed: int | None = None
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    task: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    population: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)
    training: TrainingPart | None = None
    simulated_at: Mapping[str, list[Any]] = field(default_factory=dict)
    spent_at: Mapping[str, list[Any]] = field(default_factory=dict)
    profile_at: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name in lines of progress, ``paper.experiment.method``."""
        return f"{self.paper}.{self.experiment}.{self.method}"

    def plain(self) -> dict[str, Any]:
        """Return the job as plain data without the parts that it does not have; ``Job(**plain)`` is the job again."""
        return {key: value for key, value in vars(self).items() if value or key not in OPTIONAL}

    def cells(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield all pairs of a grid point and an accounting, in a fixed order."""
        return cells_of(self.grid, self.accounting)

    def resolve_point(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Return the `PARTS` with their values at a point of the grid."""
        plain = self.plain()
        resolved: dict[str, Any] = resolve({part: plain[part] for part in PARTS if part in plain}, point)
        return resolved


#: Parts that some jobs do not have.
OPTIONAL = ("task", "data", "population", "budget", "training", "simulated_at", "spent_at", "profile_at")
#: Parts of a job that may refer to variables of its grid.
PARTS = ("task", "data", "population", "budget", "options", "arguments")


#: Classes of populations by the name in a configuration.
LAWS: Mapping[str, Callable[..., Population]] = {
    "binomial": Binomial,
    "poisson": Poisson,
    "empirical": Empirical,
    "sub_gaussian": SubGaussian,
    "sub_exponential": SubExponential,
    "moment_bounded": MomentBounded,
}


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
