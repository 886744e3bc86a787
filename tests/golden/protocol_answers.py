"""Results of one protocol: declarations, calibrations, guarantees, messages, draws and estimates."""

import dataclasses
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from golden.settings import Setting, cases_of, has_profile, settings_of
from golden.values import Row, Rows, Value, answer
from shuffledp.protocols import ProtocolBase, get
from shuffledp.tasks import (
    Budget,
    Frequency,
    Participants,
    Public,
    Sets,
    Summation,
    Task,
    Users,
    Vectors,
)

REPEATS = 2
#: Number of participants of simulations, also for large populations.
USERS = 40
#: Largest number of messages in simulations message by message.
MOST_MESSAGES = 20_000
CLASS = ("label", "source", "trust", "accountings", "reduction", "streamable", "neighbours", "multi_level")
COST = ("messages_per_user", "bits_per_message", "own_messages", "shuffler_messages")
FLAGS = ("biased", "joint_law", "in_parts")
OTHER_TASK: dict[str, Task] = {"frequency": Frequency(3), "summation": Summation(2)}
REFUSED: dict[str, dict[str, Any]] = {
    "no budget": {"budget": 1.0},
    "no population": {"population": 1000},
    "no task": {"task": 4},
    "several levels": {"budget": Budget((0.5, 1.0), 1e-6)},
    "no delta": {"budget": Budget(1.0, 0.0)},
    "unknown accounting": {"accounting": "no such"},
    "unknown option": {"no_such": 1},
}


def answers(kind: str, name: str) -> Rows:
    """Return all rows of a protocol."""
    protocol = get(kind, name)
    signature = protocol.options().values()
    rows: Rows = {
        "class": {
            **answer(lambda: {one: getattr(protocol, one) for one in CLASS}),
            **answer(
                lambda: {p.name: repr(p.default) for p in signature if p.kind is p.KEYWORD_ONLY}, "options"
            ),
        }
    }
    usual = next(settings_of(protocol))
    given = {"budget": usual.budget, "population": usual.population, "task": usual.task}
    for why, wrong in REFUSED.items():
        rows[f"refused: {why}"] = answer(partial(protocol.calibrate, **{**given, **wrong}))
    other = OTHER_TASK["summation" if kind == "frequency" else "frequency"]
    rows["refused: another task"] = answer(partial(protocol.calibrate, **{**given, "task": other}))
    for case, setting, accounting in cases_of(protocol):
        rows[case] = calibration(protocol, case, setting, accounting)
    return rows


def parameters(calibrated: ProtocolBase) -> dict[str, float]:
    """Return the calibrated numbers."""
    return dict(calibrated.parameters())


def calibration(protocol: type[ProtocolBase], case: str, setting: Setting, accounting: str) -> Row:
    """Return the row of a calibration, or of its error."""
    found: list[ProtocolBase] = []

    def calibrated() -> dict[str, float]:
        found.append(
            protocol.calibrate(
                setting.budget, setting.population, setting.task, accounting=accounting, **setting.options
            )
        )
        return parameters(found[0])

    row = answer(calibrated, "parameters")
    if not found:
        return row
    for name, value in _calibrated_rows(found[0], setting):
        row |= answer(value, name)
    if has_profile(protocol, case, setting):
        row |= answer(lambda: _profile(found[0], setting.budget), "profile")
    row = {name: value for name, value in row.items() if value is not None}
    return {name: value for name, value in row.items() if not _as_expected(name, value, row)}


def _as_expected(name: str, value: Value, row: Row) -> bool:
    """Return whether a quantity repeats another; the mean squared error of an unbiased estimate is its variance."""
    return name.startswith("expected_squared_error") and value == row.get(
        name.replace("squared_error", "variance")
    )


def _calibrated_rows(one: ProtocolBase, setting: Setting) -> Iterator[tuple[str, Any]]:
    """Yield names of quantities and calls that return these quantities."""
    yield "is", lambda: _is(one)
    yield "note", lambda: one.guarantee_note or None
    yield "cost", lambda: _cost(one)
    who = participants(setting.task)
    alone = who.of_repeats(np.array([0]))  # expectations are the same in all repeats
    for name in ("variance", "squared_error", "absolute_error"):
        yield f"expected_{name}", partial(one.expectation, name, alone)
    yield "announce", lambda: _announced(one, alone)
    sampled = cache(partial(_sampled, one, who))
    yield "sample_aggregate", sampled
    if _has_law(one):
        yield "estimate", lambda: one.estimate(sampled(), who.public)
    if not _few_messages(one):
        return
    public = who.public.of_repeat(0)
    users = _users(who)
    yield "encode", lambda: one.encode(users, _rng(3)).payload
    yield "dummies", lambda: getattr(one.dummies(public, _rng(4)), "payload", None)
    yield "messages", lambda: one.simulate_messages(users, public, _rng(5))


def _profile(one: ProtocolBase, budget: Budget) -> dict[str, Any] | None:
    """Return the label and three deltas of the privacy profile."""
    profile = one.privacy_profile()
    if profile is None:
        return None
    eps = budget.largest_eps
    labels = "; ".join(str(getattr(profile, name)) for name in ("kind", "neighbours", "view", "source"))
    return {"is": labels, "delta": [float(profile.delta(part * eps)) for part in (0.5, 1.0, 1.5)]}


def _cost(one: ProtocolBase) -> dict[str, Any]:
    """Return the known fields in one list, and further fields by name."""
    cost = dataclasses.asdict(one.cost())
    return {"": [float(cost.pop(name)) for name in COST], **cost}


def _is(one: ProtocolBase) -> str:
    """Return the label of the guarantee and other entries with few values."""
    flags = [flag for flag in FLAGS if getattr(one, flag)]
    return " ".join([str(one.guarantee), *flags, f"alphabet {one.alphabet_size}"])


def _announced(one: ProtocolBase, who: Participants) -> Any:
    """Return the public knowledge after a first round if it differs from the participants' numbers."""
    public = one.announce(who, _rng(1))
    return None if public is who.public else {"n_users": public.n_users, "level_counts": public.level_counts}


def _few_messages(one: ProtocolBase) -> bool:
    cost = one.cost()
    return cost.messages_per_user * USERS + cost.shuffler_messages <= MOST_MESSAGES


def _has_law(one: ProtocolBase) -> bool:
    """Return whether aggregates can be drawn, by a fast law or from few messages."""
    return type(one).sample_aggregate is not ProtocolBase.sample_aggregate or _few_messages(one)


def _sampled(one: ProtocolBase, who: Participants) -> Any:
    """Draw the aggregates of all repeats."""
    return one.sample_aggregate(who, _rng(2)) if _has_law(one) else None


def _rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([20231123, seed]))


def _users(who: Participants) -> Users:
    assert who.users is not None
    (users,) = who.users(0)
    return users


def participants(task: Task) -> Participants:
    """Return repeats of the same participants, whose values are as different as the task permits."""
    raw, levels = _held(task)
    one, truth = _counted(task, raw, levels)
    n = np.full(REPEATS, len(raw))
    level_counts = (
        None if levels is None else np.tile(np.bincount(levels, minlength=task.levels) * 1.0, (REPEATS, 1))
    )

    def users(repeat: int) -> Iterator[Users]:
        yield Users(raw.copy(), None if levels is None else levels.copy())

    counts, truth = (np.tile(array, (REPEATS, *[1] * np.ndim(array))) for array in (one, truth))
    return Participants(Public(n, level_counts), counts, truth, users)


def _held(task: Task) -> tuple[Any, Any]:
    """Return raw inputs, and privacy levels for sets."""
    each = np.arange(USERS)
    if isinstance(task, Frequency):
        return each**2 % task.domain_size, None
    if isinstance(task, Summation):
        number = each % (task.max_value + 1) - (task.max_value if task.signed else 0) * (each % 2)
        return (number if task.coordinates == 1 else np.column_stack((each % task.coordinates, number))), None
    if isinstance(task, Sets):
        held = (each[:, None] * 3 + np.arange(task.set_size)) % task.domain_size
        return held, each * task.levels // USERS
    return np.cos(np.outer(1 + each, 1 + np.arange(task.dimension))) * 2 * task.clip, None


def _counted(task: Task, raw: Any, levels: Any) -> tuple[Any, Any]:
    """Return the sufficient statistic of the raw inputs, and the estimated quantity."""
    if isinstance(task, Vectors):
        norms = np.linalg.norm(raw, ord=1 if task.norm == "l1" else 2, axis=1, keepdims=True)
        total = (raw * (task.clip / np.maximum(norms, task.clip))).sum(axis=0)
        return total, total / len(raw)
    counts = np.zeros(task.counts_shape, np.int64)
    if isinstance(task, Frequency):
        np.add.at(counts, raw, 1)
        return counts, counts / len(raw)
    if isinstance(task, Sets):
        np.add.at(counts, (np.repeat(levels, task.set_size), raw.ravel()), 1)
        return counts, counts.sum(axis=0)[: task.estimate_shape[0]] / len(raw)
    shift = task.max_value if task.signed else 0
    np.add.at(counts, raw + shift if task.coordinates == 1 else tuple(np.add(raw, [0, shift]).T), 1)
    return counts, counts @ task.values
