"""Methods with a protocol: calibration, simulation, and the closed-form expectation if one exists."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.general.spent import spent_epsilon
from shuffledp.pipeline.experiments.bundle import ABSENT, COST, FAKES, PROFILE_METRICS, SPENT_METRICS
from shuffledp.pipeline.experiments.calibrations import calibrated
from shuffledp.pipeline.experiments.cell_work import Row, Work, value_row
from shuffledp.pipeline.experiments.job_parts import budget_from, population_from, task_from
from shuffledp.pipeline.experiments.participants import LastDraw, Typical, participants, typical
from shuffledp.pipeline.experiments.seeds import canonical_json, generator
from shuffledp.pipeline.experiments.sources import OWN, source_from, with_found_domain
from shuffledp.pipeline.experiments.sources.interface import Source, Truth
from shuffledp.populations.base import Law
from shuffledp.protocols.base import ProtocolBase, Summary
from shuffledp.protocols.registry import get
from shuffledp.tasks import (
    METRICS,
    WORST_METRIC,
    Budget,
    Participants,
    Public,
    Summation,
    Task,
    expected_metric,
    l1_error,
)


@dataclass
class Simulated(Work):
    """Simulation of a protocol; data are loaded once, and cells of the same point share its participants."""

    _sources: dict[str, Source] = field(default_factory=dict)
    _last: LastDraw = field(default_factory=LastDraw)
    _drawn: tuple[Source, str, Participants] | None = None

    @property
    def _protocol(self) -> type[ProtocolBase]:
        return get(self.job.task["kind"], str(self.job.protocol), root=self.root)

    @property
    def accountings(self) -> tuple[str, ...]:
        """Accountings that the protocol offers."""
        return self._protocol.accountings

    @property
    def data(self) -> tuple[str, str]:
        """Source of the first data in use, and the notes of all data in use."""
        used = next(iter(self._sources.values()), None)
        notes = dict.fromkeys(source.note for source in self._sources.values() if source.note)
        return (used.data_source, " ".join(notes)) if used else ("none", "")

    @property
    def details(self) -> dict[str, Any]:
        """Files of the user, each listed once."""
        listed = [s.details["file"] for s in self._sources.values() if "file" in s.details]
        files = [file for i, file in enumerate(listed) if file not in listed[:i]]
        return {"files": files} if files else {}

    def labels(self) -> Row:
        """Return the labels of the protocol and the data."""
        protocol = self._protocol
        return {
            "label": protocol.label,
            "protocol": protocol.name,
            "task": protocol.task_kind,
            "reduction": protocol.reduction,
            "trust": protocol.trust,
            "dataset": self.job.data["name"],
            "eps": None,
        }

    def _source(self, config: Mapping[str, Any], task: Task) -> Source:
        key = canonical_json([config, repr(task)])
        if key not in self._sources:
            self._sources[key] = source_from(config, task, self.prepared)
        return self._sources[key]

    def _participants(self, task: Task, source: Source, law: Law, **how: Any) -> Participants:
        key = canonical_json([repr(law), how])
        if self._drawn is None or self._drawn[0] is not source or self._drawn[1] != key:
            self._drawn = None  # the old ones are not needed any more
            self._drawn = (source, key, participants(task, source, law, **how, last=self._last))
        return self._drawn[2]

    def cell(
        self, point: Mapping[str, Any], accounting: str, resolved: Mapping[str, Any]
    ) -> tuple[Row, list[Row]]:
        """Calibrate, simulate all repeats, and add the closed-form expectation if one exists."""
        task_config, data = with_found_domain(resolved["task"], resolved["data"], self.prepared)
        task, law = task_from(task_config), population_from(resolved["population"])
        source = self._source(data, task)
        budget = budget_from(resolved["budget"], law)
        labels: Row = {
            "data_source": source.data_source,
            "dataset": data["path"].rpartition("/")[2] if data["name"] == OWN else data["name"],
            "users_expected": 1 + law.mean,
            "domain_size": float(task.counts_shape[-1]),
            "eps": budget.largest_eps,
            "delta": budget.delta,
        }
        try:
            protocol = calibrated(self._protocol, budget, law, task, accounting, resolved["options"])
        except Infeasible as error:
            return labels | {"status": "infeasible", "reason": error.reason}, []
        if not isinstance(law, Law):
            raise ValueError(
                f"{self.job.name}: {law!r} only bounds the number of users; a simulation needs a law."
            )
        truth = resolved["task"].get("truth", "participants")
        support = typical(task, source, law, truth=truth)
        usual = protocol if support is None else protocol.refine(_most_likely(support))
        labels |= _columns(usual.summary())
        asked_for = resolved["task"].get("metrics", [task.default_metric])
        metrics = [metric for metric in asked_for if metric != WORST_METRIC]
        rows = list(_expected(protocol, support, truth, metrics))
        if WORST_METRIC in asked_for and isinstance(task, Summation) and support is not None:
            rows += _worst(protocol, support, task)
        if source.drawable and _among(point, self.job.simulated_at):
            drawn_users = self._participants(
                task, source, law, repeats=self.job.repeats, seed=self.job.seed, truth=truth
            )
            # Neither method nor accounting: cells of one protocol share their draws, see "Seeds" in the architecture.
            named = [self.job.paper, self.job.experiment, self.job.protocol]
            rng = generator(self.job.seed, "mechanism", *named, point)
            estimate = protocol.simulate(drawn_users, rng)
            for metric in metrics:
                errors = METRICS[metric](estimate, drawn_users.truth)
                rows += [value_row(metric, "simulated", e, r) for r, e in enumerate(errors)]
        if self.job.spent_at and _among(point, self.job.spent_at):
            rows += _spent(usual, budget)
        if accounting == "exact" and self.job.profile_at and _among(point, self.job.profile_at):
            rows += _deltas(usual.privacy_profile(), budget)
        return labels, rows


work = Simulated


def _among(point: Mapping[str, Any], places: Mapping[str, list[Any]]) -> bool:
    """Return whether all listed variables of a point have a listed value."""
    return all(point[name] in values for name, values in places.items())


def _columns(summary: Summary) -> Row:
    """Return the columns of a calibrated protocol."""
    return {
        "eps_local": summary.eps_local,
        "guarantee": summary.guarantee,
        "guarantee_note": summary.guarantee_note,
        "parameters": canonical_json(summary.parameters),
        **{name: getattr(summary.cost, name) for name in COST},
    }


def _spent(protocol: Any, budget: Budget) -> list[Row]:
    """Return rows of the spent eps, eps with absent users, and the gain of fake users; unknown numbers have no row."""
    eps = spent_epsilon(protocol.privacy_profile(), budget)
    spent = math.nan if eps is None else eps
    absent_eps = [
        protocol.remaining_epsilon(ABSENT, budget, colluding=colluding) for colluding in (True, False)
    ]
    numbers_spent = (spent, budget.largest_eps - spent, *absent_eps, protocol.poisoning_gain(FAKES))
    numbers = zip(SPENT_METRICS, numbers_spent, strict=True)
    return [value_row(name, "computed", value) for name, value in numbers if not math.isnan(value)]


def _deltas(profile: PrivacyProfile | None, budget: Budget) -> list[Row]:
    """Return rows of delta at shares of the budget's eps; none without a proven profile."""
    if profile is None or profile.kind not in ("exact", "upper"):
        return []
    deltas = {
        name: float(np.max(profile.delta(share * budget.largest_eps)))
        for name, share in PROFILE_METRICS.items()
    }
    return [value_row(name, "computed", delta) for name, delta in deltas.items()]


def _worst(protocol: ProtocolBase, support: Typical, task: Summation) -> list[Row]:
    """Return a row of the largest error if all users have one input, over all inputs; no row without a closed form."""
    n, size = support.participants.public.n_users, int(np.prod(task.counts_shape))
    everybody = np.repeat(n, size)
    counts = (everybody[:, None] * np.tile(np.eye(size, dtype=np.int64), (len(n), 1))).reshape(
        -1, *task.counts_shape
    )
    equal_users = Participants(Public(everybody), counts, np.asarray(counts @ task.values, float))
    squared = protocol.expectation("squared_error", equal_users)
    if squared is None:
        return []
    errors = support.weights @ expected_metric("mse", squared).reshape(len(n), size)
    return [value_row(WORST_METRIC, "expected", np.max(errors))]


def _most_likely(support: Typical) -> Public:
    return support.participants.public.of_repeat(int(np.argmax(support.weights)))


def _expected(
    protocol: ProtocolBase, support: Typical | None, truth: Truth, metrics: list[str]
) -> Iterator[Row]:
    if support is None or (protocol.biased and truth != "participants"):
        return  # the bias and the error of sampling do not simply add up
    counts = support.participants.counts
    if protocol.biased and not np.all(counts == np.floor(counts)):
        return  # the error is no linear function of the counts: their expectation says nothing, nor do unknown ones
    variance = protocol.expectation("squared_error", support.participants)
    if variance is None:
        return
    absolute = protocol.expectation("absolute_error", support.participants)
    for metric in metrics:
        if METRICS[metric].expected is None:
            continue
        is_absolute = METRICS[metric].quantity == "absolute error"
        if protocol.biased and is_absolute and absolute is None:
            continue  # not normal around the truth: no closed form
        if absolute is None or not is_absolute:
            errors = expected_metric(metric, variance + support.sampling_variance, support.participants.truth)
        elif truth == "participants" and METRICS[metric].error is l1_error:
            errors = absolute.reshape(len(absolute), -1).sum(axis=1)
        else:
            continue  # neither normal nor alone: no closed form
        yield value_row(metric, "expected", np.dot(support.weights, errors))
