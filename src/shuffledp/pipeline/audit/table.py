"""Table of the audit: every registered protocol, at the points of its experiments and at small scale.

A row compares one claim with a result that does not use its accounting. The column `part` names the method:

``grid``
    A point of an experiment, against two counts of messages (`shuffledp.pipeline.audit.scale`).
``enumerated``
    A random setting with a few users, against the law of the view (`shuffledp.pipeline.audit.auditor`).
``messages``
    Runs of such a setting: the messages against the enumerated law (`shuffledp.pipeline.audit.message_tests`).

The conformance checks bound delta from runs and compare the mean estimate with the truth.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import product
from typing import Any
from zlib import crc32

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.rounding import Side, round_to_digits
from shuffledp.pipeline.audit.auditor import (
    FAILED,
    INFEASIBLE,
    NOT_ENUMERATED,
    SOUND,
    UNDECIDED,
    AuditSetting,
    Row,
    audited,
    decided,
)
from shuffledp.pipeline.audit.combined_table import VIOLATION
from shuffledp.pipeline.audit.finite_laws import Bounds, TooLargeError
from shuffledp.pipeline.audit.measured import MissingProfileError
from shuffledp.pipeline.audit.message_tests import messages_fit
from shuffledp.pipeline.audit.random_settings import random_setting
from shuffledp.pipeline.audit.scale import at_scale
from shuffledp.pipeline.experiments.grid import cells_of, resolve
from shuffledp.pipeline.experiments.job_parts import budget_from, population_from, task_from
from shuffledp.pipeline.experiments.seeds import canonical_json
from shuffledp.pipeline.experiments.sources.item_sets import level_sizes
from shuffledp.populations.base import Law
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.registry import get
from shuffledp.tasks import Public

PARTS = ("grid", "enumerated", "messages")
HOLDS, ERRATUM, LABELED = "holds", "listed erratum", "exceeds as labeled"
NOT_AUDITED, REFUSED = "not audited", "infeasible"

#: Least delta of random settings, at which a few users can show an excess.
LEAST_DELTA = 1e-3
#: Probability that a right law is rejected.
RATE = 1e-6
#: p-value below which a law is rejected: p-values of large samples are not exact in the tails.
LEVEL = 1e-7
#: Largest number of drawn settings of a protocol, of tries per feasible setting of an accounting, and of other users.
_DRAWS, _TRIES, _MOST_OTHERS = 200, 3, 400
#: Rounding of bounds to the digits of the table.
_SIDES: dict[str, Side] = {
    "found_delta": "down",
    "error": "up",
    **dict.fromkeys(("eps", "claimed_delta", "confidence", "slack"), "nearest"),
}
_LEFT_OUT = "left out: no experiment of this quick run has the protocol"
_TOO_LITTLE = "no setting with few users could be audited"


@dataclass(frozen=True)
class Line:
    """Row of the table; `label` is the stated guarantee, and `eps` (nats) belongs to the level with the least slack.

    `found_delta` is rounded down and `error` up: delta exceeds `found_delta` by at most `error`. `side` is ``exact`` if
    the found delta is the true delta up to the error, and ``lower`` if it is a lower bound. `confidence` is 1 for a
    result without randomness, otherwise a lower bound. `slack` is the claimed delta over the found delta. `status` is
    ``holds`` (not above the claim, with its error), ``undecided`` (the claim lies within the error), ``violation``,
    ``listed erratum``, ``exceeds as labeled``, ``infeasible`` or ``not audited``. `note` has a reason or a p-value.
    """

    protocol: str
    task: str
    accounting: str
    part: str
    setting: str = ""
    eps: float = math.nan
    label: str = ""
    claimed_delta: float = math.nan
    found_delta: float = math.nan
    error: float = math.nan
    side: str = ""
    method: str = ""
    confidence: float = math.nan
    slack: float = math.nan
    status: str = NOT_AUDITED
    note: str = ""


COLUMNS = tuple(field.name for field in fields(Line))


def judged(label: str, bounds: Bounds, claimed: float) -> str:
    """Return the status of a claim, from its label and the found bounds."""
    holds = decided(bounds, claimed)
    if holds is not False:
        return HOLDS if holds else UNDECIDED
    if label in SOUND:
        return VIOLATION
    return ERRATUM if label == "violated" else LABELED


def _slack(claimed: float, delta: float) -> float:
    return claimed / delta if delta > 0 else math.inf


# -- at the points of experiments ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """Claim of an experiment: its setting, its place (experiment, method, point), and its split over privacy levels."""

    setting: AuditSetting
    where: str
    split: str = ""


def points_of(methods: Sequence[Mapping[str, Any]], most: int = 0) -> list[Point]:
    """Return all different claims of some methods, at most `most` per protocol and accounting (0 for no limit)."""
    points_by_key: dict[str, Point] = {}
    groups: dict[tuple[str, str, str], list[str]] = {}
    for method in methods:
        protocol = get(method["task"]["kind"], method["protocol"])
        for point, accounting in cells_of(method["grid"], method["accounting"]):
            if accounting not in protocol.accountings:
                continue
            parts = {part: method[part] for part in ("task", "split", "population", "budget", "options")}
            resolved = resolve(parts, point)
            key = canonical_json([protocol.task_kind, protocol.name, accounting, resolved])
            if key in points_by_key:
                continue
            population = population_from(resolved["population"])
            setting = AuditSetting(
                protocol,
                accounting,
                task_from(resolved["task"]),
                population,
                budget_from(resolved["budget"], population),
                tuple(resolved["options"].items()),
            )
            at = ", ".join(f"{name} = {value}" for name, value in point.items())
            points_by_key[key] = Point(setting, f"{method['name']}: {at}", resolved["split"])
            groups.setdefault((protocol.task_kind, protocol.name, accounting), []).append(key)
    if not most:
        return list(points_by_key.values())
    chosen_keys = [keys[i] for keys in groups.values() for i in _spread(len(keys), most)]
    return [points_by_key[key] for key in chosen_keys]


def _spread(count: int, most: int) -> list[int]:
    if count <= most:
        return list(range(count))
    return sorted({(2 * i + 1) * count // (2 * most) for i in range(most)})


def grid_line(point: Point) -> Line:
    """Return the line that compares a claim of an experiment with two counts of messages."""
    setting, protocol = point.setting, point.setting.protocol
    line = Line(protocol.name, protocol.task_kind, setting.accounting, "grid", point.where)
    try:
        calibrated = setting.calibrated()
        label = str(calibrated.guarantee)
        if not isinstance(setting.population, Law):
            raise MissingProfileError("the population is not a law")
        if point.split:
            n = round(setting.population.mean) + 1
            calibrated = calibrated.refine(
                Public(np.array([n]), np.array([level_sizes(point.split, n)], float))
            )
        levels = setting.budget.levels
        measured = at_scale(calibrated, setting.population, levels, setting.budget.neighbours)
    except Infeasible as reason:
        return replace(line, status=REFUSED, note=str(reason))
    except MissingProfileError as reason:
        return replace(line, label=label, note=str(reason))
    except TooLargeError as size:
        return replace(line, label=label, note=f"too many terms: {size}")
    except Exception as error:
        return replace(line, status=VIOLATION, note=f"{type(error).__name__}: {error}")
    eps, worst = max(zip(levels, measured, strict=True), key=lambda pair: pair[1].found)
    claimed = setting.budget.delta
    return replace(
        line,
        eps=eps,
        label=label,
        claimed_delta=claimed,
        found_delta=worst.delta,
        error=worst.found.high - worst.found.low,
        side=worst.side,
        method=worst.method,
        confidence=1.0,
        slack=_slack(claimed, worst.delta),
        status=judged(label, worst.found, claimed),
    )


# -- at small scale ------------------------------------------------------------------------------------------------


def small_lines(protocol: type[ProtocolBase], seed: int, count: int, runs: int) -> list[Line]:
    """Return the lines of `count` random settings of one protocol: enumerated laws, and messages of runs."""
    place = crc32(f"{protocol.task_kind}.{protocol.name}".encode())
    turn = [protocol.accountings[-1 - i % len(protocol.accountings)] for i in range(count)]
    remaining = {accounting: turn.count(accounting) for accounting in turn}
    looked = dict.fromkeys(turn, 0)
    lines: list[Line] = []
    reasons = {a: "left out of a quick run" for a in protocol.accountings if a not in remaining}
    for number in range(_DRAWS):
        open_ = [a for a in remaining if remaining[a] and looked[a] < _TRIES * turn.count(a)]
        if not open_:
            break
        try:
            setting = random_setting(protocol, np.random.default_rng([seed, place, number]))
        except KeyError as unknown:  # an option that `shuffledp.pipeline.audit.random_settings` does not know
            reasons |= dict.fromkeys(remaining, str(unknown))
            break
        accounting = setting.accounting
        if (
            accounting not in open_
            or setting.budget.delta < LEAST_DELTA
            or setting.population.mean > _MOST_OTHERS
        ):
            continue
        row = audited(setting)
        if row.status == INFEASIBLE:
            reasons.setdefault(accounting, f"infeasible: {row.note}")
            continue
        looked[accounting] += 1
        if row.status == FAILED:
            lines.append(_small(row, "enumerated", status=VIOLATION, note=row.note))
            continue
        if row.status == NOT_ENUMERATED:
            reasons[accounting] = row.note
            continue
        rng = np.random.default_rng([seed, place, number, 1])
        lines += [enumerated_line(row), *message_lines(row, rng, runs)]
        remaining[accounting] -= 1
    shown_accountings = {line.accounting for line in lines}
    missing = [a for a in protocol.accountings if a not in shown_accountings]
    name, kind = protocol.name, protocol.task_kind
    return lines + [Line(name, kind, a, "enumerated", note=reasons.get(a, _TOO_LITTLE)) for a in missing]


def _small(row: Row, part: str, **line_fields: Any) -> Line:
    setting = row.setting
    protocol = setting.protocol
    options = "".join(f", {name} = {value}" for name, value in setting.options)
    text = f"{setting.task}, {setting.population}, eps = {setting.budget.eps}{options}"
    line = Line(protocol.name, protocol.task_kind, setting.accounting, part, text, row.eps, row.label)
    return replace(line, claimed_delta=setting.budget.delta, **line_fields)


def enumerated_line(row: Row) -> Line:
    """Return the line of an enumerated setting."""
    return _small(
        row,
        "enumerated",
        eps=row.eps,
        found_delta=row.found,
        error=row.error,
        side="lower" if row.note else "exact",
        method="law of all messages that the analyzer receives, few users",
        confidence=1.0,
        slack=_slack(row.delta, row.found),
        status=judged(row.label, Bounds(row.found, row.found + row.error), row.delta),
        note=row.note,
    )


def message_lines(row: Row, rng: np.random.Generator, runs: int) -> list[Line]:
    """Return the line of a setting's messages; no line if there are too many messages to compare."""
    try:
        agreement = messages_fit(row.setting, runs, rng)
    except Exception as error:  # a calibrated protocol that cannot be run is a finding
        return [_small(row, "messages", status=VIOLATION, note=f"{type(error).__name__}: {error}")]
    if agreement is None:
        return []
    p_value = min(1.0, 2 * min(agreement.counts, agreement.order))
    return [
        _small(
            row,
            "messages",
            method="messages compared with the enumerated law (chi-square)",
            confidence=1 - RATE,
            status=VIOLATION if p_value < LEVEL else HOLDS,
            note=f"p = {p_value:.3g}",
        )
    ]


# -- a job ---------------------------------------------------------------------------------------------------------


def lines_of(job: Mapping[str, Any]) -> Iterator[Line]:
    """Yield the lines of the audit of some protocols.

    The keys of `job` are ``protocols``, task kinds and names; ``methods`` of their experiments, as
    `shuffledp.pipeline.experiments.audited.plan` returns them; ``seed``; ``every``, true if protocols without a method
    are also audited; ``points``, claims of experiments per protocol and accounting, 0 for all; ``settings``, random
    settings per protocol; and ``runs`` of each setting.
    """
    points = points_of(job["methods"], job["points"])
    used = {(method["task"]["kind"], method["protocol"]) for method in job["methods"]}
    for kind, name in job["protocols"]:
        protocol = get(kind, name)
        if not job["every"] and (kind, name) not in used:
            for accounting, part in product(protocol.accountings, PARTS[:2]):
                yield Line(name, kind, accounting, part, note=_LEFT_OUT)
            continue
        protocol_points = [p for p in points if p.setting.protocol is protocol]
        yield from (grid_line(point) for point in protocol_points)
        for accounting in protocol.accountings:
            if not any(p.setting.accounting == accounting for p in protocol_points):
                yield Line(name, kind, accounting, "grid", note="no experiment of this run has it")
        yield from small_lines(protocol, job["seed"], job["settings"], job["runs"])


def text_of(lines: Iterable[Line]) -> str:
    """Return the table as CSV."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for line in lines:
        table.writerow([_cell(name, value) for name, value in zip(COLUMNS, astuple(line), strict=True)])
    return out.getvalue()


def _cell(name: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    value = round_to_digits(value, _SIDES[name], 10)
    return "" if math.isnan(value) else f"{value:.10g}"
