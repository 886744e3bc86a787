"""What `shuffledp check-baseline` looks at beyond the conformance checks: a stranger's class is trusted less.

Larger domains, more users and all inputs; many more reports of the encoder, so that rare messages are seen; what the
shuffler passes on rather than the aggregate; whether a user's messages depend on others or on the user's place; whether
the declared trust is what the class does; and variances to a few percent. Bounds are those of the conformance
checks, with the same rate of false alarms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.experiments.blame import said
from shuffledp.populations import Fixed
from shuffledp.protocols.base import Messages, ProtocolBase
from shuffledp.protocols.conformance.cases import Case, Protocol, SameNumbers, SameSets, SameVectors
from shuffledp.protocols.conformance.inputs import crowd, inputs, jumps, same, users_of
from shuffledp.protocols.conformance.judging import Verdict
from shuffledp.protocols.conformance.privacy import (
    SOUND,
    declared_budget,
    delta_bound,
    ratio_bound,
    reports,
    trials,
    views,
)
from shuffledp.protocols.conformance.running import calibrated, has_fast_law, sending
from shuffledp.protocols.conformance.statistics import (
    P_VALUE,
    contradicted,
    critical_gap,
    generator,
    largest_gap,
)
from shuffledp.tasks import Budget, Frequency, Public, Sets, Summation, Task, Users, Vectors

MOST_INPUTS = 12
"""Inputs that are compared with each other."""
REPORTS = 1_000_000
"""Reports drawn per input where there are two, fewer where there are more."""
RARE = 10_000
"""One in so many: how rare a message may be for an excess to go unseen, with `REPORTS` of them."""
VIEWED = 2_000
"""Runs of the shuffler per input where its messages are drawn one run after another."""
BINS = 16
"""Ranges in which real messages of a run are counted."""
CALLS = 1_500
"""Runs in which users are encoded together, and one after another."""
ERRORS = {True: 200_000, False: 10_000}
"""Repeats behind the variance, with a fast law and message by message."""
MANY = 200
"""Users of the largest setting that is seen end to end."""
GROUPS: tuple[tuple[Fixed, Budget], ...] = (
    (Fixed(1), Budget(1.0, 0.05)),
    (Fixed(9), Budget(1.0, 0.02)),
    (Fixed(MANY - 1), Budget(1.0, 0.05)),
)


# -- settings --------------------------------------------------------------------------------------------------


def further_cases(protocol_class: Protocol) -> tuple[Case, ...]:
    """More values, more items or coordinates, and more users than the default cases have, under every accounting."""
    return tuple(
        case for accounting in protocol_class.accountings for case in _cases(protocol_class, accounting)
    )


def _cases(protocol_class: Protocol, accounting: str) -> Iterator[Case]:
    budget, kind = Budget(1.0, 1e-3), protocol_class.task_kind
    if kind == "frequency":
        counts = (60, 0, 40, 30, 20, 20, 10, 10, 5, 3, 1, 1)
        yield Case(budget, Fixed(199), Frequency(12), accounting, counts)
        yield Case(Budget(0.5, 1e-5), Fixed(4999), Frequency(2), accounting, (3000, 2000))
    elif kind == "summation":
        numbers = SameNumbers(Summation(11), (60, 0, 40, 30, 20, 20, 10, 10, 5, 3, 1, 1))
        yield Case(budget, Fixed(199), numbers.task, accounting, participating=numbers)
        several = SameNumbers(Summation(1), (3000, 2000))
        yield Case(Budget(0.5, 1e-5), Fixed(4999), several.task, accounting, participating=several)
    elif kind == "sets":
        rows = ((0, 1, 2), (3, 4, 5), (11, 7, 0), (8, 1, 4), (9, 10, 2))
        held = SameSets(Sets(12, 3), rows, (40,))
        yield Case(budget, Fixed(199), held.task, accounting, participating=held)
    elif kind == "vectors":
        rows_of = generator(8).normal(0.5, 1.0, (200, 12))
        vectors = SameVectors(Vectors(12, 5.0, "l2"), tuple(map(tuple, rows_of.tolist())))
        yield Case(budget, Fixed(199), vectors.task, accounting, participating=vectors)


def more_inputs(task: Task) -> list[NDArray[Any]]:
    """Up to `MOST_INPUTS` of what a user may hold; of small domains everything."""
    if isinstance(task, Frequency):
        return [np.array(v) for v in range(min(task.domain_size, MOST_INPUTS))]
    if isinstance(task, Summation) and task.coordinates == 1:
        low = -task.max_value if task.signed else 0
        numbers = np.linspace(low, task.max_value, min(task.max_value - low + 1, MOST_INPUTS))
        return [np.array(int(v)) for v in numbers]
    if isinstance(task, Sets):
        drawn = [generator(9 + i).permutation(task.domain_size)[: task.set_size] for i in range(6)]
        different = {tuple(np.sort(row)): np.sort(row) for row in (*inputs(task), *drawn)}
        return list(different.values())
    if isinstance(task, Vectors):
        ends = np.eye(task.dimension)[: MOST_INPUTS // 2 - 1] * task.clip
        return [*ends, *-ends, np.zeros(task.dimension)]
    return inputs(task)


def neighbours(held: Sequence[NDArray[Any]]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Pairs of inputs in which each occurs: the first with every other one, and each with the next."""
    pairs = {(0, i) for i in range(1, len(held))} | set(pairwise(range(len(held))))
    return [(held[i], held[j]) for i, j in sorted(pairs)]


# -- the encoder -----------------------------------------------------------------------------------------------


def check_rare_reports(protocol_class: Protocol, cases: Iterable[Case]) -> tuple[str, ...]:
    """Reports of all inputs differ by no more than the declared ``eps_local``, also where a message is rare.

    Returns what was compared; raises an AssertionError where a loss is too large.
    """
    said: dict[str, None] = {}
    for case in _ends(protocol_class, cases):
        protocol = calibrated(protocol_class, case)
        if protocol is None:
            continue
        protocol = protocol.refine(case.participants(1).public)
        declared, held = declared_budget(protocol, case), more_inputs(case.task)
        if declared is None or len(held) < 2:
            continue
        draws = 2 * REPORTS // len(held)
        sent = [reports(protocol, case.task, one, draws, 60 + i) for i, one in enumerate(held)]
        drawn = [payload for payload in sent if payload is not None]
        if len(drawn) < len(sent):
            continue
        places = {id(one): i for i, one in enumerate(held)}
        for one, two in neighbours(held):
            found = ratio_bound(drawn[places[id(one)]], drawn[places[id(two)]])
            assert found <= declared * (1 + 1e-9), (
                f"{protocol_class.__name__}, {case}: the encoder's messages for {one.tolist()} and {two.tolist()} "
                f"differ by at least {found:.4g} nats, above the declared local budget {declared:.4g}"
            )
        said[
            f"the encoder with {len(held)} inputs, in messages down to one in {RARE * REPORTS // draws:,}"
        ] = None
    return tuple(said)


def _ends(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[Case]:
    """The first feasible case of the smallest and of the largest task, under every accounting."""
    groups: dict[object, list[Case]] = {}
    for case in cases:
        levels = isinstance(case.task, Sets) and case.task.levels > 1
        if not levels and calibrated(protocol_class, case) is not None:
            groups.setdefault((case.accounting, case.options), []).append(case)
    for group in groups.values():
        sizes = [len(more_inputs(case.task)) for case in group]
        yield group[sizes.index(min(sizes))]
        if max(sizes) > min(sizes):
            yield group[sizes.index(max(sizes))]


# -- what is seen ----------------------------------------------------------------------------------------------


def check_seen(protocol_class: Protocol, cases: Iterable[Case]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What those see whom users need not trust, end to end, for more inputs and more users than `check_claim` takes.

    In the local model all messages of one user; behind a shuffler every message that it passes on, not the aggregate
    alone. Returns what was compared, and what was not.
    """
    by: dict[str, None] = {}
    missing: dict[str, None] = {}
    for group in trials(cases):
        for law, budget in GROUPS:
            case = replace(group[0], population=law, budget=budget)
            protocol = calibrated(protocol_class, case)
            if protocol is None or protocol.guarantee not in SOUND:
                continue
            found = list(_compared(protocol, case, f"{protocol_class.__name__}, {case}"))
            by |= dict.fromkeys(found)
            if not found:
                missing[f"single messages of {1 + law.others} users (too many): the aggregate alone"] = None
    if not by and not missing:
        missing[
            "what is seen of more inputs and more users (infeasible for so few, or labeled as no sound claim)"
        ] = None
    return tuple(by), tuple(missing)


def _within(seen: tuple[NDArray[Any], NDArray[Any]], case: Case, where: str) -> None:
    found = delta_bound(*seen, case.budget.largest_eps)
    assert found <= case.budget.delta, (
        f"{where}: delta is at least {found:.4g} at the claimed eps, above {case.budget.delta}"
    )


def _compared(protocol: ProtocolBase, case: Case, where: str) -> Iterator[str]:
    held, users = more_inputs(case.task), 1 + int(case.population.mean)
    pairs = neighbours(held)
    seen_whole = protocol.trust in ("secure_sum", "central")  # nobody sees more than the aggregate
    if seen_whole or _drawn_at_once(protocol, case):
        few = users > GROUPS[1][0].others + 1 or (seen_whole and not has_fast_law(type(protocol)))
        for first, second in pairs[:1] if few else pairs:
            seen = views(protocol, case, first, second, second)
            if seen is None:
                return
            _within(seen, case, f"{where}: user 1 with {first.tolist()} or {second.tolist()}")
        yield f"delta end to end with {users} users" if few else f"delta end to end with {len(held)} inputs"
        return
    alone = protocol.trust == "local"
    if _calls(protocol, case) < VIEWED:
        return
    whole = True
    for first, second in (pairs[0], pairs[-1])[: len(pairs)]:
        sent = [
            _passed_on(protocol, case, one, second, 70 + i, alone) for i, one in enumerate((first, second))
        ]
        what = "all messages of a user" if alone else "the messages that the shuffler passes on"
        name = f"{where}: {what}, user 1 with {first.tolist()} or {second.tolist()}"
        counts, few_kinds = _counted(*sent)
        whole = whole and few_kinds
        _within(counts, case, name)
    yield ("all messages of a user" if alone else f"the shuffled messages of {users} users") + (
        "" if whole else ", real numbers in ranges"
    )


def _drawn_at_once(protocol: ProtocolBase, case: Case) -> bool:
    """Whether a report is one message of few kinds, so that thousands of runs are a single draw."""
    steps = ("forward", "shuffle", "dummies")
    if any(getattr(type(protocol), step) is not getattr(ProtocolBase, step) for step in steps):
        return False
    if protocol.trust not in ("shuffler", "local"):
        return False
    few = reports(protocol, case.task, inputs(case.task)[0], 2_000, 90)
    return few is not None and (protocol.trust == "local" or len(np.unique(few, axis=0)) <= BINS)


def _calls(protocol: ProtocolBase, case: Case) -> float:
    """Runs that cost no more than some millions of messages."""
    cost = protocol.cost()
    sent = cost.messages_per_user * (1 + case.population.mean) + cost.shuffler_messages
    return float(1_000_000 / (1 + sent))


def _passed_on(
    protocol: ProtocolBase, case: Case, held: NDArray[Any], rest: NDArray[Any], seed: int, alone: bool
) -> list[NDArray[Any]]:
    """The messages of every run: of user 1 alone, or of all as they leave the shuffler, rows of (M, width)."""
    rng, others = generator(seed), np.array([0 if alone else int(case.population.mean)])
    who = crowd(case.task, held, rest, others)
    public = who.public.of_repeat(0)
    protocol = protocol.refine(public)
    users = users_of(case.task, np.concatenate((held[None], same(rest, int(others[0])))))
    runs = []
    for _ in range(VIEWED):
        sent = protocol.encode(users, rng)
        payload = (sent if alone else protocol.shuffle(sent, public, rng)).payload
        runs.append(payload.reshape(len(payload), math.prod(payload.shape[1:])).astype(float))
    return runs


def _counted(
    one: list[NDArray[Any]], two: list[NDArray[Any]]
) -> tuple[tuple[NDArray[Any], NDArray[Any]], bool]:
    """Messages of each kind in every run; where there are many kinds, those in each range of every coordinate.

    The kinds and ranges come from the first half of the runs, as the events of `delta_bound` do. Also whether there
    are few kinds, so that nothing is left out.
    """
    first = np.concatenate([run for runs in (one, two) for run in runs[: len(runs) // 2]])
    kinds = np.unique(first, axis=0)
    places = {tuple(row): i for i, row in enumerate(kinds.tolist())}
    few = len(kinds) <= BINS
    cuts = [] if few else [np.unique(np.quantile(c, np.linspace(0, 1, BINS + 1)[1:-1])) for c in first.T]

    def count(run: NDArray[Any]) -> NDArray[Any]:
        if few:
            found = [places.get(tuple(row), len(kinds)) for row in run.tolist()]
            return np.bincount(np.array(found, np.int64), minlength=len(kinds) + 1)
        ranges = [
            np.bincount(np.searchsorted(cut, column), minlength=len(cut) + 1)
            for cut, column in zip(cuts, run.T, strict=True)
        ]
        # A single message far from all others is lost among those of a range.
        ends = (run.max(axis=0), run.min(axis=0)) if len(run) else (0 * first[0], 0 * first[0])
        return np.concatenate((*ranges, *ends))

    return (np.stack([count(run) for run in one]), np.stack([count(run) for run in two])), few


# -- trust, order, other users ---------------------------------------------------------------------------------


def check_trust(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """The declared ``trust`` allows what the class does: only some shufflers add messages, and all permute."""
    found = list(sending(protocol_class, cases))
    for case, protocol, where in found:
        added = protocol.dummies(case.participants(1).public, generator(80))
        assert protocol.trust not in ("local", "shuffler") or added is None or not len(added), (
            f"{where}: dummies() adds {len(added or ())} messages, but trust is {protocol.trust!r}: a shuffler that "
            "adds messages is 'shuffler_adds'"
        )
    # The larger the budget, the more a message tells about its sender.
    for case, protocol, where in sorted(found, key=lambda one: -one[0].budget.largest_eps)[:3]:
        if type(protocol).shuffle is not ProtocolBase.shuffle and protocol.trust in (
            "shuffler",
            "shuffler_adds",
        ):
            _permuted(protocol, case, where)


def _permuted(protocol: ProtocolBase, case: Case, where: str) -> None:
    """The first message that is passed on is no other if the same users come in the opposite order."""
    held = inputs(case.task)[:2]
    if len(held) < 2:
        return
    crowded = np.concatenate((held[0][None], same(held[1], 7)))
    public = Public(np.array([8]), np.array([[8.0]]) if isinstance(case.task, Sets) else None)
    firsts = []
    for i, values in enumerate((crowded, crowded[::-1])):
        rng, users = generator(81 + i), users_of(case.task, values)
        runs = [protocol.shuffle(protocol.encode(users, rng), public, rng).payload for _ in range(CALLS)]
        firsts.append(np.array([run[0] for run in runs if len(run)]))
    if min(map(len, firsts)) < 100:
        return
    found = ratio_bound(firsts[0], firsts[1])
    assert found <= 1e-9, (
        f"{where}: shuffle() does not permute: the first message that it passes on tells which user came first"
    )


def check_users_apart(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """A user's messages depend on nobody else's value and not on the user's place among those who are encoded.

    The aggregate of users who are encoded together has the law of that of users who are encoded one by one, and a
    report in the first place that of a report in the last.
    """
    looked: set[Task] = set()
    for case, protocol, where in sending(protocol_class, cases):
        if protocol.trust == "central" or case.task in looked or len(case.users()) < 10:
            continue  # whom users trust may look at all of them
        looked.add(case.task)
        _one_by_one(protocol, case, where)
        _places_alike(protocol, case, where)
        if len(looked) == 3:
            return


def _some(case: Case, n: int) -> Users:
    """Some users of a case who hold different things."""
    users = case.users()
    chosen = np.linspace(0, len(users) - 1, n).astype(int)
    return Users(users.values[chosen], None if users.levels is None else users.levels[chosen])


def _one_by_one(protocol: ProtocolBase, case: Case, where: str) -> None:
    users = _some(case, 8)
    rng = generator(84)

    def together() -> Messages:
        return protocol.encode(users, rng)

    def apart() -> Messages:
        levels = users.levels
        single = [
            Users(users.values[i : i + 1], None if levels is None else levels[i : i + 1], offset=i)
            for i in range(8)
        ]
        return Messages.joined(*(protocol.encode(user, rng) for user in single))

    def drawn(run: Callable[[], Messages], runs: int) -> list[NDArray[Any]]:
        return [np.ravel(protocol.aggregate(run())).astype(float) for _ in range(runs)]

    samples = drawn(together, CALLS), drawn(apart, CALLS // 2)
    if len({len(row) for sample in samples for row in sample}) != 1:
        return  # an aggregate that keeps single messages has no numbers to compare
    many, few = (np.stack(sample) for sample in samples)
    directions = generator(85).standard_normal((many.shape[1], 3))
    many, few = (np.column_stack((x, x @ directions)).round(9) for x in (many, few))
    gap, most = float(np.max(largest_gap(few, many))), critical_gap(len(few), len(many), P_VALUE)
    assert gap < most, (
        f"{where}: users who are encoded together send something else than the same users one by one (the laws of the "
        f"aggregate differ by {gap:.3g}): a message depends on other users, or on the place in the array; "
        "number users by users.offset if that is meant"
    )


def _places_alike(protocol: ProtocolBase, case: Case, where: str) -> None:
    cost = protocol.cost()
    if not (cost.messages_per_user == cost.own_messages == 1) or protocol.trust == "secure_sum":
        return
    rng, users = generator(86), users_of(case.task, same(case.users().values[0], 8))
    sent = [protocol.encode(users, rng).payload for _ in range(2 * CALLS)]
    if any(len(payload) != 8 for payload in sent):
        return
    for other in (1, 7):
        found = ratio_bound(np.array([p[0] for p in sent]), np.array([p[other] for p in sent]))
        assert found <= 1e-9, (
            f"{where}: reports of users who hold the same have other laws in places 0 and {other} of the array: "
            "a message tells who sent it"
        )


def check_seeded_crowds(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Many users with the same seed send the same, and with other seeds something else."""
    different = False
    where = protocol_class.__name__
    for case, protocol, where in sending(protocol_class, cases):
        users = case.users()
        chosen = np.resize(np.arange(len(users)), 10_000)
        many = Users(users.values[chosen], None if users.levels is None else users.levels[chosen])
        if protocol.cost().messages_per_user * len(many) > 1_000_000:
            continue
        runs = [protocol.encode(many, generator(87)).payload for _ in range(4)]
        for run in runs[1:]:
            assert np.array_equal(run, runs[0]), f"{where}: encode gives different messages for the same seed"
        who = case.participants(1)
        results = {protocol.simulate(who, generator(88 + i)).tobytes() for i in range(8)}
        different = different or len(results) > 1
        if different:
            return
    assert different, f"{where}: eight seeds give the same estimate: the generator is not used"


# -- variances -------------------------------------------------------------------------------------------------


def check_close_variance(protocol_class: Protocol, cases: Iterable[Case]) -> str:
    """``expected_variance`` within a few percent, by many more repeats of one setting; says how close."""
    repeats = ERRORS[has_fast_law(protocol_class)]
    for case, protocol, where in sending(protocol_class, cases):
        who = case.participants(repeats)
        variance = protocol.expected_variance(case.participants(2))
        cost = protocol.cost()
        sent = (cost.messages_per_user * len(case.users()) + cost.shuffler_messages) * repeats
        if (
            variance is None
            or protocol.biased
            or len(case.users()) < 10
            or math.prod(case.task.estimate_shape) > 16
        ):
            continue
        if not has_fast_law(protocol_class) and sent > 4_000_000:
            continue
        drawn = protocol.simulate(who, generator(89)).reshape(repeats, -1)
        truth, want = case.participants(1).truth[0].reshape(-1), variance[0].reshape(-1)
        jump = jumps(protocol, case)[1]
        if np.any(want <= 0):
            continue
        small, large = contradicted((drawn - truth) ** 2, want, jump)
        got = ((drawn - truth) ** 2).mean(axis=0)
        name = f"{where}: variance, simulated {repeats:,} times and expected: got {got}, expected {want}"
        assert not np.any(small), f"{name}, too small"
        assert not np.any(large), f"{name}, too large"
        slack = math.sqrt(-2 * math.log(P_VALUE) * (6 + jump**2 / float(want.min())) / repeats)
        return f"formulas that are {100 * slack / (1 - slack):.0f} % too large would pass"
    return "NOT checked closely: no setting is small enough, or there is no expected_variance"


def check_bits_used(protocol_class: Protocol, cases: Iterable[Case]) -> str:
    """How many messages were seen of those that the stated bits have room for; `check_cost` refuses too few bits."""
    said = ""
    most = 4.0  # times as many as needed are nothing to speak of
    for case, protocol, _ in sending(protocol_class, cases):
        sent = protocol.encode(case.users(), generator(91)).payload
        bits, kinds = protocol.cost().bits_per_message, len(np.unique(sent, axis=0))
        room = 2.0 ** min(bits, 1000.0) / kinds
        if kinds < len(sent) / 4 and room > most:
            most = room
            said = f"NOT checked: whether fewer than {bits:g} bits would do; {kinds} different messages were seen"
    return said


# -- verdicts --------------------------------------------------------------------------------------------------


def closer_verdicts(
    protocol_class: Protocol, cases: Iterable[Case], privacy: Verdict, file: str = ""
) -> list[Verdict]:
    """The verdicts beyond the conformance checks; the last takes the place of theirs about privacy.

    Parameters
    ----------
    protocol_class : type
        The baseline.
    cases : iterable of Case
        Those of the conformance checks and of `further_cases`.
    privacy : Verdict
        What the conformance checks found about privacy.
    file : str
        The file that an unexpected error is looked for in.
    """
    given = tuple(cases)
    found = [
        _verdict("trust", lambda: check_trust(protocol_class, given), file),
        _verdict("users apart", lambda: check_users_apart(protocol_class, given), file),
        _verdict("seeded crowds", lambda: check_seeded_crowds(protocol_class, given), file),
        _verdict("bits", lambda: check_bits_used(protocol_class, given), file),
        _verdict("close variance", lambda: check_close_variance(protocol_class, given), file),
    ]
    return [*found, _privacy(protocol_class, given, privacy, file)]


def _verdict(about: str, check: Callable[[], object], file: str) -> Verdict:
    try:
        note = check()
    except Exception as error:
        return Verdict(about, False, said(error, file))
    return Verdict(about, True, note if isinstance(note, str) else "")


def _privacy(protocol_class: Protocol, cases: tuple[Case, ...], privacy: Verdict, file: str) -> Verdict:
    if not privacy.passed:
        return privacy
    try:
        rare = check_rare_reports(protocol_class, cases)
        seen, unseen = check_seen(protocol_class, cases)
    except Exception as error:
        return Verdict("privacy", False, said(error, file))
    by, _, missing = privacy.note.partition(" / NOT checked: ")
    largest = f"more than {MANY} users, larger domains, and what happens less often than is said here"
    return Verdict(
        "privacy",
        True,
        f"{'; '.join((by, *rare, *seen))} / NOT checked: {'; '.join((missing, *unseen, largest))}",
    )
