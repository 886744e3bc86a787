"""The checked configuration: experiments, drawings, and the data of each job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from shuffledp.pipeline.config import grammar
from shuffledp.pipeline.experiments.grid import points, resolve, variables
from shuffledp.pipeline.experiments.job_parts import Job, TrainingPart
from shuffledp.pipeline.experiments.sources import OWN
from shuffledp.pipeline.experiments.sources.interface import SYNTHETIC
from shuffledp.pipeline.experiments.sources.user_file import key_of, request
from shuffledp.pipeline.experiments.training_jobs import TrainingRun
from shuffledp.tasks import TASKS

#: Parts of an experiment that all its protocols share.
SHARED_PARTS = ("task", "data", "population", "budget")


class Method(grammar.Method):
    """One line of a comparison: a protocol, or a function of `shuffledp.accounting`.

    With ``training`` each cell of a function has the accuracy of this training run at the cell's round. ``joins`` has
    the drawings (``paper.name``) that a method from a file of baselines joins, or is ``"all"``.
    """

    id: str
    joins: Sequence[str] | None = None

    @property
    def added(self) -> bool:
        """True for a method from a file of baselines."""
        return self.joins is not None

    @property
    def given(self) -> dict[str, Any]:
        """Arguments of a function."""
        return self.arguments.plain() if self.arguments else {}


class Experiment(grammar.Experiment):
    """A grid of cells and the methods that are computed on it.

    ``rounds`` has the training run of each grid variable whose values are evaluated rounds; ``left_out`` is the reason
    why no model is trained, empty otherwise. ``study`` is True for the project's own experiments. ``override`` is the
    place of a merged override of the scale, for messages.
    """

    paper: str
    id: str
    methods: Mapping[str, Method]
    rounds: Mapping[str, TrainingRun] = {}
    left_out: str = ""
    study: bool = False
    override: str = ""

    @property
    def dataset(self) -> str | None:
        """Name of the published data set, or None."""
        return None if self.data is None or self.data.name in (*SYNTHETIC, OWN) else self.data.name

    @cached_property
    def own_requests(self) -> dict[str, dict[str, Any]]:
        """Requests for the user's files at all grid points, by the name of the prepared file."""
        if not self.task or not self.data or self.data.name != OWN:
            return {}
        both = {"task": self.task.plain(), "data": self.data.plain()}
        resolved = (resolve(both, point) for point in points(self.grid, variables(both)))
        requests = (request(part["task"], part["data"]) for part in resolved)
        return {key_of(part): part for part in requests}

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics of the errors: the named metrics, or the task's default."""
        return tuple(self.task.metrics or TASKS[self.task.kind].metrics[:1]) if self.task else ()

    def accountings(self, methods: Iterable[str]) -> list[str]:
        """Return the accountings of these methods, in the experiment's order."""
        used = [a for m in methods for a in self.methods[m].accounting or ()]
        return [a for a in dict.fromkeys([*self.accounting, *used]) if a in used]

    def variables(self, method: Method) -> set[str]:
        """Return the grid variables in a method's arguments or in the parts that all protocols share."""
        if method.id not in self._variables:
            shared = self.shared(method) if method.protocol else {}
            self._variables[method.id] = variables([method.options, method.given, shared])
        return set(self._variables[method.id])

    @cached_property
    def shared_parts(self) -> dict[str, dict[str, Any]]:
        """The given ones of the task, the data, the population and the budget, as the file has them."""
        parts = {name: getattr(self, name) for name in SHARED_PARTS}
        return {name: part.plain() for name, part in parts.items() if part}

    @cached_property
    def _variables(self) -> dict[str, set[str]]:
        return {}

    def round_of(self, method: Method) -> str | None:
        """Return the grid variable whose values are the evaluated rounds of a method's training run."""
        variables = (v for v, run in self.rounds.items() if run.id == method.training)
        return next((v for v in variables if v in self.variables(method)), None)

    def shared(self, method: Method) -> dict[str, dict[str, Any]]:
        """Return the task, the data, the population and the budget of this method."""
        budget_part = (
            {"budget": self.shared_parts.get("budget", {}) | method.budget.plain()} if method.budget else {}
        )
        return self.shared_parts | budget_part

    def job(self, method_id: str, seed: int) -> Job:
        """Return the data that a method's job depends on, and no other data."""
        method = self.methods[method_id]
        used = self.variables(method)
        training: TrainingPart | None = None
        if method.training:
            rounds = self.round_of(method)
            training = {
                "run": method.training,
                "seeds": self.rounds[rounds].seeds if rounds else 1,
                "round": rounds,
                "left_out": self.left_out,
            }
        job = Job(
            paper=self.paper,
            experiment=self.id,
            method=method.id,
            protocol=method.protocol,
            function=method.function,
            returns=method.returns,
            accounting=list(method.accounting or self.accounting),
            grid=_only(self.grid, used),
            options=method.options,
            arguments=method.given,
            training=training,
        )
        if not method.protocol:
            return job
        at = {part: _only(getattr(self, part), used) for part in ("simulated_at", "spent_at", "profile_at")}
        parts: dict[str, Any] = self.shared(method) | at
        return replace(job, repeats=self.repeats, seed=seed, **parts)


def _only(values: Mapping[str, list[Any]], used: set[str]) -> dict[str, list[Any]]:
    return {name: list(some) for name, some in values.items() if name in used}


@dataclass(frozen=True)
class Paper:
    """A paper or a study: its experiments, training runs, drawings and tables of claims.

    `shuffledp.pipeline.figures.selection` checks the selections of figures and tables and adds their ``methods``. A
    study has the project's own experiments and replicates no paper.
    """

    key: str
    title: str
    citation: str
    doi: str | None
    experiments: Mapping[str, Experiment]
    figures: Mapping[str, grammar.Figure]
    tables: Mapping[str, grammar.Table]
    claims: Mapping[str, grammar.ClaimTable] = field(default_factory=dict)
    training: Mapping[str, TrainingRun] = field(default_factory=dict)
    kind: Literal["paper", "study"] = "paper"
    file: str = ""


@dataclass(frozen=True)
class Settings:
    """The whole configuration, checked.

    ``shortened`` lists papers with a part at another scale. ``left_out`` is the reason why no model is trained, empty
    otherwise. ``idle`` lists files in config/experiments/ that do not run. ``effort`` (``full`` or ``quick``) is the
    extent of the searches that decide claims. ``links`` has the addresses that the site links to, by their labels.
    """

    seed: int
    results: str
    data_source: str
    formats: tuple[str, ...]
    shortened: frozenset[str]
    papers: Mapping[str, Paper]
    left_out: str = ""
    idle: tuple[str, ...] = ()
    effort: str = "full"
    links: Mapping[str, str] = field(default_factory=dict)
