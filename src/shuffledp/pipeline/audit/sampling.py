"""Tests of a calibrated protocol by simulation: encoder, dummies, shuffler and analyzer, for a few users.

Each run is one repeat at the message level. One half of the runs chooses an event, and the other half gives a lower
bound on delta for this event with a stated confidence (Clopper and Pearson). The runs also test the messages against
the enumerated law, and the mean estimate against the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.audit.auditor import Setting, view_of
from shuffledp.pipeline.audit.finite_laws import TooLarge
from shuffledp.pipeline.audit.message_tests import agreement_of
from shuffledp.pipeline.audit.views import View
from shuffledp.populations.base import Law
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.cases import inputs, users_of
from shuffledp.protocols.conformance.privacy import delta_bound
from shuffledp.protocols.messages import Messages
from shuffledp.tasks import Frequency, Public, Sets, Summation, Task, Users, Vectors, even_sizes

#: Number of kinds of messages up to which each kind is counted separately.
_KINDS = 24
#: Approximate number of messages of all runs of one setting, and the cost of a run in messages.
_MESSAGES, _RUN = 400_000, 25

#: Effective number of runs behind a variance, (sum d^2)^2 / sum d^4, from which a mean is judged.
_RESTING = 20.0
#: Least number of runs; fewer runs can show no fault.
_LEAST_RUNS = 60


class Unseen(Exception):  # noqa: N818  (a reason, not an error)
    """Error for a setting that cannot be run, with the reason."""


@dataclass(frozen=True)
class Seen:
    """Results of the runs of one setting.

    `eps` is claimed for user 1, in nats. `delta` is a lower bound that exceeds the true delta with probability at most
    `rate`. `law` is the p-value of the messages against the enumerated law, `bias` the p-value of the mean estimate
    against the truth for all coordinates together, and `runs` the number of runs per input of user 1.
    """

    eps: float
    delta: float
    law: float | None
    bias: float | None
    bias_note: str
    runs: int


@dataclass(frozen=True)
class _Place:
    """Users with one of user 1's inputs, the protocol for their number, and the public parameters."""

    protocol: ProtocolBase
    users: Users
    public: Public


def seen(setting: Setting, rng: np.random.Generator, runs: int, rate: float) -> Seen:
    """Run a calibrated setting under two inputs of user 1.

    `rate` in (0, 1) is the largest probability that the bound on delta exceeds the truth. There are `runs` runs per
    input, and fewer if a run has many messages. Raises the errors of ``calibrate``, and `Unseen` if the setting cannot
    be run.
    """
    law = setting.population
    if not isinstance(law, Law):
        raise Unseen("the population is not a law")
    if dict(setting.options).get("threat") == "own_coin":
        raise Unseen("user 1's own coin counts as protection")
    protocol = setting.calibrated()
    view = _known(protocol, setting)
    held = _held(view, setting)
    made: dict[tuple[int, int], _Place] = {}

    def place(which: int, n: int) -> _Place:
        if (which, n) not in made:
            made[which, n] = _placed(protocol, setting.task, held(which, n), n, view)
        return made[which, n]

    alone = protocol.trust == "local"
    try:
        likely = place(0, 1 if alone else max(1, round(law.mean) + 1))
        once = _run(likely, rng)
    except Infeasible as reason:  # once the number of users is announced
        raise Unseen(f"infeasible for the likely number of users: {reason}") from reason
    runs = min(runs, math.ceil(_MESSAGES / (len(once) + _RUN)))
    if runs < _LEAST_RUNS:
        raise Unseen(f"{len(once)} messages in one run")
    numbers = np.ones(2 * runs, np.int64) if alone else np.asarray(law.sample(rng, 2 * runs), np.int64) + 1
    payloads: list[list[NDArray[Any]]] = [[], []]
    features: list[list[tuple[NDArray[Any], NDArray[Any]]]] = [[], []]
    for i, n in enumerate(numbers.tolist()):
        try:
            at = place(i % 2, n)
        except Infeasible:  # a round that is called off shows its number of users
            features[i % 2].append((np.array([-1.0]), np.array([float(n)])))
            payloads[i % 2].append(np.zeros((0, *np.shape(once)[1:])))
            continue
        payload = _run(at, rng)
        payloads[i % 2].append(payload)
        features[i % 2].append((_flat(at.protocol.aggregate(Messages(payload))), np.array([float(n)])))
    delta = _bound(protocol, payloads, features, setting.budget.levels[0], rate)
    law_fits = _fits(view, payloads, numbers, held, rng)
    bias, note = _bias(protocol, setting.task, place, numbers, payloads)
    return Seen(setting.budget.levels[0], delta, law_fits, bias, note, runs)


def _run(at: _Place, rng: np.random.Generator) -> NDArray[Any]:
    return at.protocol.shuffle(at.protocol.encode(at.users, rng), at.public, rng).payload


def _flat(values: Any) -> NDArray[np.float64]:
    return np.asarray(values, float).reshape(-1)


def _known(protocol: ProtocolBase, setting: Setting) -> View | None:
    try:
        found = view_of(protocol, setting.budget)
        return None if isinstance(found, str) else found.of_participants()
    except TooLarge:
        return None


Held = Callable[[int, int], Any]


def _held(view: View | None, setting: Setting) -> Held:
    """Return a function from n to n users' inputs: user 1 has the first or second input, all others the last."""
    if view is not None:
        count = len(view.inputs)
        if view.with_levels:
            levels = [level for level, _ in view.inputs]
            own = [i for i in range(count) if levels[i] == 0]

            def by_level(which: int, n: int) -> Any:
                sizes = even_sizes(n, max(levels) + 1)
                rest = [levels.index(level) for level, size in enumerate(sizes) for _ in range(size)]
                return (own[0] if which == 0 else own[-1], *rest[1:])

            return by_level
        return lambda which, n: (0 if which == 0 else 1, *[count - 1] * (n - 1))
    chosen = inputs(setting.task)
    return lambda which, n: [chosen[which], *[chosen[-1]] * (n - 1)]


def _placed(protocol: ProtocolBase, task: Task, held: Any, n: int, view: View | None) -> _Place:
    users = view.users(held) if view is not None else users_of(task, np.stack(held))
    levels = None
    if isinstance(task, Sets):
        of = np.zeros(n, np.int64) if users.levels is None else np.asarray(users.levels)
        levels = np.bincount(of, minlength=task.levels).astype(float)[None]
    public = Public(np.array([n]), levels)
    return _Place(protocol.refine(public), users, public)


def _bound(
    protocol: ProtocolBase,
    payloads: list[list[NDArray[Any]]],
    features: list[list[tuple[NDArray[Any], NDArray[Any]]]],
    eps: float,
    rate: float,
) -> float:
    """Return the larger of two lower bounds on delta, from the analyzer's counts and from the first message."""
    summed = protocol.trust in ("central", "secure_sum")
    flat = [payload for side in payloads for payload in side]
    rows = [_identities(payload) for payload in flat]
    filled = [row for row in rows if len(row)]
    kinds = np.unique(np.concatenate(filled), axis=0) if filled else np.zeros((0, 1))
    few = 0 < len(kinds) <= _KINDS and not summed
    numbers = {tuple(kind): i for i, kind in enumerate(kinds.tolist())} if few else {}
    rest = iter(rows)
    sides: list[NDArray[Any]] = []
    firsts: list[NDArray[Any]] = []
    for side in features:
        counts, first = [], []
        width = max(len(aggregate) for aggregate, _ in side)
        for (aggregate, n), row in zip(side, rest, strict=False):
            aggregate = aggregate if len(aggregate) == width else np.full(width, -1.0)
            if few:
                codes = [numbers[tuple(one)] for one in row.tolist()]
                aggregate = np.bincount(codes, minlength=len(kinds)).astype(float)
                first.append(np.array([codes[0] if codes else -1]))
            else:
                first.append(row[0] if len(row) else np.full(kinds.shape[1], -1.0))
            counts.append(np.concatenate((aggregate, n)))
        sides.append(np.array(counts))
        firsts.append(np.array(first))
    both = [sides] if summed else [sides, firsts]
    return max(delta_bound(one, two, eps, rate / len(both)) for one, two in both)


def _identities(payload: NDArray[Any]) -> NDArray[Any]:
    rows = np.asarray(payload)
    return rows.reshape(len(rows), math.prod(rows.shape[1:]))


def _fits(
    view: View | None, payloads: list[list[NDArray[Any]]], numbers: NDArray[np.int64], held: Held, rng: Any
) -> float | None:
    """Return the p-value of the first input's messages under the view's law, at the most frequent number of users."""
    if view is None:
        return None
    own = numbers[::2]
    n = int(np.bincount(own).argmax())
    of_them = [payload for payload, m in zip(payloads[0], own.tolist(), strict=True) if m == n]
    try:
        among = view.among(n)
        found = agreement_of(of_them, among, tuple(held(0, n)), rng)
    except (TooLarge, Infeasible):
        return None
    return min(1.0, 2 * min(found.counts, found.order))


def _truth(task: Task, users: Users) -> NDArray[np.float64]:
    values = np.asarray(users.values)
    n = len(values)
    if isinstance(task, Frequency):
        return np.asarray(np.bincount(values, minlength=task.domain_size) / n)
    if isinstance(task, Sets):
        held = np.bincount(values.ravel(), minlength=task.domain_size) / n
        return np.asarray(held[: task.estimate_shape[0]], float)
    if isinstance(task, Summation):
        scale = task.max_value if task.real else 1
        if task.coordinates == 1:
            return np.array([values.sum() / scale], float)
        sums = np.bincount(values[:, 0], weights=values[:, 1], minlength=task.coordinates)
        return np.asarray(sums / scale, float)
    if isinstance(task, Vectors):
        return np.asarray(values.mean(axis=0), float)
    raise TypeError(f"the true value is unknown for {task}")


def _bias(
    protocol: ProtocolBase,
    task: Task,
    place: Callable[[int, int], _Place],
    numbers: NDArray[np.int64],
    payloads: list[list[NDArray[Any]]],
) -> tuple[float | None, str]:
    """Return the p-value of Student's test of the mean errors, at the most frequent number of users, or a reason."""
    if protocol.biased:
        return None, "declared as biased"
    if isinstance(task, Sets) and task.levels > 1:
        return None, "unbiased over a random assignment of privacy levels only"
    own = numbers[::2]
    n = int(np.bincount(own).argmax())
    try:
        at = place(0, n)
    except Infeasible:
        return None, "infeasible for the likely number of users"
    if at.protocol.biased:
        return None, "declared as biased"
    aggregates = [
        at.protocol.aggregate(Messages(payload))
        for payload, m in zip(payloads[0], own.tolist(), strict=True)
        if m == n
    ]
    if len(aggregates) < 30:
        return None, "too few runs with one number of users"
    repeats = len(aggregates)
    levels = None if at.public.level_counts is None else np.repeat(at.public.level_counts, repeats, axis=0)
    estimates = at.protocol.estimate(np.stack(aggregates), Public(np.full(repeats, n), levels))
    errors = np.asarray(estimates, float).reshape(repeats, -1) - _truth(task, at.users)
    mean, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) / math.sqrt(repeats)
    squares = (errors - mean) ** 2
    fourth = np.sum(squares**2, axis=0)
    # Where few runs make up the variance, runs that did not happen may be what makes the mean right.
    resting = np.divide(np.sum(squares, axis=0) ** 2, fourth, out=np.zeros_like(fourth), where=fourth > 0)
    judged = (resting >= _RESTING) & (spread > 1e-9 * np.abs(errors).max(axis=0))
    if not np.any(judged):
        return None, "too few different runs to bound the error of the mean"
    ratio = np.abs(mean[judged]) / spread[judged]
    return min(1.0, float(2 * student.sf(ratio.max(), repeats - 1)) * errors.shape[1]), ""
