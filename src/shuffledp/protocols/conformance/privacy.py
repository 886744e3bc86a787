"""Empirical tests of user 1's privacy: many draws of messages against the declared and the claimed budget.

The tests use messages and aggregates only, no formula of the protocol. Bounds are one-sided Clopper-Pearson bounds, at
the rate `P_VALUE` for all comparisons of one pair of samples together, so that a sound protocol is rejected about once
in a million pairs. The tests can detect too large a loss; they prove no guarantee.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from shuffledp.populations.base import Fixed, Law
from shuffledp.populations.laws import Binomial
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.cases import Case, Protocol, crowd, inputs, same, users_of
from shuffledp.protocols.conformance.running import calibrated, has_fast_law, inherits
from shuffledp.protocols.conformance.statistics import (
    P_VALUE,
    generator,
    kinds,
    least_probable,
    most_probable,
)
from shuffledp.tasks import Array, Budget, Ints, Sets, Task

#: Reports drawn per input.
REPORTS = 40_000
#: Views drawn per input if a view is cheap.
VIEWS = 20_000
#: Messages of all views together if runs are drawn one by one.
SLOW_MESSAGES = 400_000
#: Largest number of different outcomes that are separate events; more outcomes are grouped into ranges.
MOST_KINDS = 256
#: Labels that promise that delta does not exceed the claim.
SOUND = ("exact", "upper")
#: Settings with few users and large budgets, in which few draws show a loss beyond the claim. A setting from the fourth
#: on is tried only if no earlier setting is feasible.
TRIALS: tuple[tuple[Law, Budget], ...] = (
    (Fixed(0), Budget(1.0, 0.01)),
    (Fixed(1), Budget(1.0, 0.05)),
    (Fixed(9), Budget(1.0, 0.02)),
    (Binomial(24, 0.5), Budget(1.0, 0.02)),
    (Fixed(59), Budget(3.0, 0.05)),
)
ALWAYS = 3


#: Largest number of kinds of messages whose counts are the view.
MOST_LETTERS = 16
#: True if a property was checked, and its description.
Note = tuple[bool, str]


# -- samples against bounds ------------------------------------------------------------------------------------


def _labels(*samples: Array) -> list[Ints]:
    """Return the index of each row's outcome, or of its range along the difference of means for many outcomes."""
    rows = np.concatenate([sample.reshape(len(sample), -1) for sample in samples])
    labels = kinds(rows, MOST_KINDS)
    if labels is None:
        values = rows.astype(float)
        ends = np.cumsum([len(sample) for sample in samples])
        # The first half decides where the ranges are, see `delta_bound`; the direction comes from there too.
        first = values[: ends[0]][: ends[0] // 2].mean(axis=0)
        second = values[ends[0] :][: (ends[1] - ends[0]) // 2].mean(axis=0)
        line = values @ ((first - second) / np.maximum(values.var(axis=0), 1e-12))
        cuts = np.unique(np.quantile(line, np.linspace(0, 1, 33)[1:-1]))
        labels = np.searchsorted(cuts, line)
    return list(np.split(labels, np.cumsum([len(sample) for sample in samples])[:-1]))


def ratio_bound(first: Array, second: Array) -> float:
    """Return a lower confidence bound on the largest log ratio (nats) of an event's probabilities, in either direction.

    The bound exceeds the true value with a probability of at most `P_VALUE`. With many outcomes, events are ranges.
    """
    a, b = _labels(first, second)
    events = int(max(a.max(), b.max())) + 1
    hits = [np.bincount(x, minlength=events) for x in (a, b)]
    rate = P_VALUE / (4 * events)
    low = [least_probable(h, len(x), rate) for h, x in zip(hits, (a, b), strict=True)]
    high = [most_probable(h, len(x), rate) for h, x in zip(hits, (a, b), strict=True)]
    best = max(float(np.max(low[0] / high[1])), float(np.max(low[1] / high[0])))
    return math.log(best) if best > 0 else -math.inf


def delta_bound(first: Array, second: Array, eps: float, rate: float = P_VALUE) -> float:
    """Return a lower confidence bound on delta at eps between two laws; it is too large with probability <= `rate`.

    The first half of both samples determines an event S, the second half gives ``low(P(S)) - e^eps high(Q(S))``.
    """
    halves = [(x[: len(x) // 2], x[len(x) // 2 :]) for x in _labels(first, second)]
    events = int(max(part.max() for half in halves for part in half)) + 1
    (p, p_test), (q, q_test) = halves
    best = 0.0
    for train_p, train_q, test_p, test_q in ((p, q, p_test, q_test), (q, p, q_test, p_test)):
        share_p = np.bincount(train_p, minlength=events) / len(train_p)
        share_q = np.bincount(train_q, minlength=events) / len(train_q)
        event = share_p > math.exp(eps) * share_q
        low = least_probable(np.count_nonzero(event[test_p]), len(test_p), rate / 4)
        high = most_probable(np.count_nonzero(event[test_q]), len(test_q), rate / 4)
        best = max(best, float(low - math.exp(eps) * high))
    return best


# -- the local randomizer --------------------------------------------------------------------------------------


def reports(protocol: ProtocolBase, task: Task, value: Array, draws: int, seed: int) -> Array | None:
    """Draw independent reports of users with the same input; None if a report is not one message."""
    cost = protocol.cost()
    if not (cost.messages_per_user == cost.own_messages == 1):
        return None
    sent = protocol.encode(users_of(task, same(value, draws)), generator(seed)).payload
    return sent if len(sent) == draws else None


def declared_budget(protocol: ProtocolBase, case: Case) -> float | None:
    """Return the declared bound on the log ratio of two reports, in nats; None without one."""
    declared = protocol.parameters().get("eps_local")
    if declared is not None and protocol.trust != "local":
        return float(declared)
    if protocol.trust == "local" and case.budget.delta == 0:
        return case.budget.largest_eps
    return None if declared is None else float(declared)


def check_encoder(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that reports of two inputs differ by at most the declared ``eps_local``.

    Every message, or range of messages, is an event with Clopper-Pearson bounds on its probability under either input.
    Protocols with several messages per user or without a local budget are not checked.
    """
    for _ in encoder_notes(protocol_class, cases):
        pass


def encoder_notes(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[Note]:
    """Run `check_encoder`, and yield a note for each setting."""
    settings: set[object] = set()
    for case in cases:
        protocol = calibrated(protocol_class, case)
        if protocol is None:
            continue
        protocol = protocol.refine(case.participants(1).public)
        key = (repr(case.task), tuple(sorted(protocol.parameters().items())))
        if key not in settings:  # several settings often have the same local budget
            settings.add(key)
            yield _encoder(protocol, case, f"{protocol_class.__name__}, {case}")


def _encoder(protocol: ProtocolBase, case: Case, where: str) -> Note:
    declared, values = declared_budget(protocol, case), inputs(case.task)
    if declared is None:
        return False, "the encoder against a local budget (parameters() has no eps_local)"
    if not within_budget(
        protocol, declared, values, combinations(range(len(values)), 2), REPORTS, 20, where, case.task
    ):
        return False, "the encoder against a local budget (a report is more than one message)"
    return True, "the encoder against the declared eps_local"


def within_budget(
    protocol: ProtocolBase,
    declared: float,
    values: Sequence[Array],
    pairs: Iterable[tuple[int, int]],
    draws: int,
    seed: int,
    where: str,
    task: Task,
) -> bool:
    """Check reports of pairs of the inputs `values` against a local budget; False if a report is not one message."""
    sent = [reports(protocol, task, value, draws, seed + i) for i, value in enumerate(values)]
    payloads = [payload for payload in sent if payload is not None]
    if len(payloads) < len(sent):
        return False
    for i, j in pairs:
        ratio = ratio_bound(payloads[i], payloads[j])
        assert ratio <= declared * (1 + 1e-9), (
            f"{where}: the encoder's messages for {values[i].tolist()} and {values[j].tolist()} differ by at least "
            f"{ratio:.4g} nats, above the declared local budget {declared:.4g}"
        )
    return True


# -- end to end ------------------------------------------------------------------------------------------------


def check_claim(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that the analyzer's view of a few users has no larger delta at eps than the budget.

    Protocols are calibrated for the settings of `TRIALS`; claims without a proof are skipped.
    """
    for _ in claim_notes(protocol_class, cases):
        pass


def groups_of(cases: Iterable[Case]) -> Iterable[list[Case]]:
    """Return the cases of one privacy level, grouped by accounting and options."""
    groups: dict[object, list[Case]] = {}
    for case in cases:
        if not (isinstance(case.task, Sets) and case.task.levels > 1):
            groups.setdefault((case.accounting, case.options), []).append(case)
    return groups.values()


def trials(cases: Iterable[Case]) -> Iterator[tuple[Case, ...]]:
    """Yield settings with few users, one group per accounting, options and task."""
    for group in groups_of(cases):
        by_size = sorted(group, key=lambda case: math.prod(case.task.counts_shape))
        for task in dict.fromkeys((by_size[0].task, by_size[-1].task)):
            yield tuple(
                replace(group[0], task=task, population=law, budget=budget, counts=(), participating=None)
                for law, budget in TRIALS
            )


def claim_notes(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[Note]:
    """Run `check_claim`, and yield a note for each setting."""
    for group in trials(cases):
        has_note = False
        for case in group:
            if not (
                has_note and not isinstance(case.population, Fixed)
            ):  # a random number where no fixed one does
                for note in _claim(protocol_class, case):
                    has_note = True
                    yield note
        if not has_note:
            yield False, f"delta end to end with {group[0].accounting} (infeasible for few users)"


def _claim(protocol_class: Protocol, case: Case) -> Iterator[Note]:
    protocol = calibrated(protocol_class, case)
    if protocol is None:
        return
    if protocol.guarantee not in SOUND:
        yield False, f"delta end to end (the claim is labeled {protocol.guarantee})"
        return
    values = inputs(case.task)
    first, second = values[:2]
    for rest in (second, values[-1]) if len(values) > 2 and case.population.mean else (second,):
        view = views(protocol, case, first, second, rest)
        if view is None:
            yield False, "delta end to end where it takes too many messages"
            return
        within_delta(view, case, f"{protocol_class.__name__}, {case}: end to end,")
    users = "1 to 10 users" if case.population.mean < 10 else f"about {1 + case.population.mean:g} users"
    yield True, f"delta end to end against the budget, with {users}"


def within_delta(view: tuple[Array, Array], case: Case, where: str) -> None:
    """Check two views against the budget of a case."""
    delta = delta_bound(*view, case.budget.largest_eps)
    assert delta <= case.budget.delta, (
        f"{where} delta is at least {delta:.4g} at the claimed eps, above {case.budget.delta}"
    )


def views(
    protocol: ProtocolBase, case: Case, first: Array, second: Array, rest: Array
) -> tuple[Array, Array] | None:
    """Return the analyzer's view for either input of user 1 among users with the input `rest`, one row per run.

    Rows are counts by kind, or the aggregate, which can only hide a loss. The result is None if the runs need too many
    messages.
    """
    if protocol.trust == "local":
        alone = [
            reports(protocol, case.task, value, VIEWS, 30 + i) for i, value in enumerate((first, second))
        ]
        if alone[0] is not None and alone[1] is not None:
            return alone[0], alone[1]
    if isinstance(case.population, Fixed) and only_reports(protocol):
        counts = _counted(protocol, case.task, first, second, rest, case.population.others)
        if counts is not None:
            return counts
    runs, users = VIEWS, 1 + case.population.mean
    if not has_fast_law(type(protocol)):
        cost = protocol.cost()
        messages = cost.messages_per_user * users + cost.shuffler_messages
        runs = math.floor(
            min(VIEWS, SLOW_MESSAGES / (messages + 50))
        )  # a run without a message takes time, too
    random = not isinstance(case.population, Fixed)
    if runs < 400 or (random and not inherits(type(protocol), "refine")):
        return None
    rows_of_inputs = []
    for i, value in enumerate((first, second)):
        rng = generator(40 + i)
        others = np.asarray(case.population.sample(rng, runs), np.int64)
        participants = crowd(case.task, value, rest, others)
        refined = protocol.refine(participants.public.of_repeat(0))
        rows = refined.sample_aggregate(participants, rng).reshape(runs, -1)
        rows_of_inputs.append(np.column_stack((rows, others)) if random else rows)
    return rows_of_inputs[0], rows_of_inputs[1]


def only_reports(protocol: ProtocolBase) -> bool:
    """Return whether the analyzer receives only the users' messages, without senders."""
    plain = inherits(type(protocol), "forward", "shuffle", "dummies")
    return plain and protocol.trust in ("shuffler", "local")


def _counted(
    protocol: ProtocolBase,
    task: Task,
    first: Array,
    second: Array,
    rest: Array,
    others: int,
) -> tuple[Array, Array] | None:
    """Return the number of messages of each kind in every run, (VIEWS, kinds) per input; None for too many kinds."""
    own_reports = [reports(protocol, task, value, VIEWS, 30 + i) for i, value in enumerate((first, second))]
    alone = [payload.reshape(len(payload), -1) for payload in own_reports if payload is not None]
    if len(alone) < 2 or kinds(np.concatenate(alone), MOST_LETTERS) is None:
        return None  # without the reports of all others
    crowds = [reports(protocol, task, rest, VIEWS * others, 32 + i) for i in range(2)] if others else []
    sent = [payload for payload in (*own_reports, *crowds) if payload is not None]
    if len(sent) < 2 + len(crowds):
        return None
    rows = np.concatenate([payload.reshape(len(payload), -1) for payload in sent])
    letters_sent = kinds(rows, MOST_LETTERS)
    if letters_sent is None:
        return None
    letters = int(letters_sent.max()) + 1
    parts = np.split(letters_sent, np.cumsum([len(payload) for payload in sent])[:-1])
    tables = []
    for i in range(2):
        table = np.zeros((VIEWS, letters), np.int64)
        table[np.arange(VIEWS), parts[i]] += 1
        if others:
            run = np.repeat(np.arange(VIEWS), others)
            table += np.bincount(run * letters + parts[2 + i], minlength=table.size).reshape(table.shape)
        tables.append(table)
    return tables[0], tables[1]
