"""Further checks of privacy for `shuffledp check-baseline`, beyond the conformance checks.

The checks use all inputs, larger domains and more users, messages of probability down to 1 in 10,000, and users of
different privacy levels. They compare all messages from a shuffler, not only the aggregate, and all messages of a user
in the local model.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from shuffledp.populations.base import Fixed
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.cases import (
    Case,
    Protocol,
    SameNumbers,
    SameSets,
    SameVectors,
    crowd,
    inputs,
    same,
    users_of,
)
from shuffledp.protocols.conformance.privacy import (
    SOUND,
    Note,
    declared_budget,
    delta_bound,
    groups_of,
    only_reports,
    reports,
    trials,
    views,
    within_budget,
    within_delta,
)
from shuffledp.protocols.conformance.running import calibrated, has_fast_law
from shuffledp.protocols.conformance.statistics import generator
from shuffledp.tasks import Array, Budget, Frequency, Public, Sets, Summation, Task, Users, Vectors

#: Largest number of compared inputs.
MOST_INPUTS = 12
#: Reports drawn per input for two inputs, fewer for more inputs.
REPORTS = 1_000_000
#: Inverse of the largest probability of a message whose excess may be missed, with `REPORTS` messages.
RARE = 10_000
#: Runs of the shuffler per input if runs are drawn one by one.
VIEWED = 2_000
#: Number of ranges in which real-valued messages of a run are counted.
BINS = 16
#: Number of users of the largest setting whose final messages are compared.
MANY = 200
GROUPS: tuple[tuple[Fixed, Budget], ...] = (
    (Fixed(1), Budget(1.0, 0.05)),
    (Fixed(9), Budget(1.0, 0.02)),
    (Fixed(MANY - 1), Budget(1.0, 0.05)),
)


# -- settings --------------------------------------------------------------------------------------------------


def further_cases(protocol_class: Protocol) -> tuple[Case, ...]:
    """Return cases with more values, items, coordinates and users than the default cases, under every accounting."""
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
        participants = SameSets(Sets(12, 3), rows, (40,))
        yield Case(budget, Fixed(199), participants.task, accounting, participating=participants)
    elif kind == "vectors":
        rows_of = generator(8).normal(0.5, 1.0, (200, 12))
        vectors = SameVectors(Vectors(12, 5.0, "l2"), tuple(map(tuple, rows_of.tolist())))
        yield Case(budget, Fixed(199), vectors.task, accounting, participating=vectors)


def more_inputs(task: Task) -> list[Array]:
    """Return up to `MOST_INPUTS` possible inputs of a user; all inputs of small domains."""
    if isinstance(task, Frequency):
        return [np.array(v) for v in range(min(task.domain_size, MOST_INPUTS))]
    if isinstance(task, Summation) and task.coordinates == 1:
        low = -task.max_value if task.signed else 0
        numbers = np.linspace(low, task.max_value, min(task.max_value - low + 1, MOST_INPUTS))
        return [np.array(int(v)) for v in numbers]
    if isinstance(task, Sets):
        random_sets = [generator(9 + i).permutation(task.domain_size)[: task.set_size] for i in range(6)]
        different = {tuple(np.sort(row)): np.sort(row) for row in (*inputs(task), *random_sets)}
        return list(different.values())
    if isinstance(task, Vectors):
        ends = np.eye(task.dimension)[: MOST_INPUTS // 2 - 1] * task.clip
        return [*ends, *-ends, np.zeros(task.dimension)]
    return inputs(task)


def neighbours(inputs: int) -> list[tuple[int, int]]:
    """Return pairs of indices of inputs: the first input with every other input, and each input with the next."""
    return sorted({(0, i) for i in range(1, inputs)} | set(pairwise(range(inputs))))


# -- the encoder -----------------------------------------------------------------------------------------------


def close_notes(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[Note]:
    """Run the checks of this module, and yield a note for each comparison and for each missing comparison."""
    case_list = tuple(cases)
    yield from check_rare_reports(protocol_class, case_list)
    yield from check_seen(protocol_class, case_list)
    yield from check_levels(protocol_class, case_list)
    yield False, f"more than {MANY} users, larger domains, and rarer events than stated"


def check_rare_reports(protocol_class: Protocol, cases: Iterable[Case]) -> list[Note]:
    """Check that reports of all inputs differ by at most ``eps_local``, and return the comparisons."""
    notes: list[Note] = []
    for case in _ends(protocol_class, cases):
        protocol = calibrated(protocol_class, case)
        if protocol is None:
            continue
        protocol = protocol.refine(case.participants(1).public)
        declared, values = declared_budget(protocol, case), more_inputs(case.task)
        if declared is None or len(values) < 2:
            continue
        draws, where = 2 * REPORTS // len(values), f"{protocol_class.__name__}, {case}"
        if within_budget(protocol, declared, values, neighbours(len(values)), draws, 60, where, case.task):
            rare = RARE * REPORTS // draws
            notes.append(
                (True, f"the encoder with {len(values)} inputs, in messages down to one in {rare:,}")
            )
    return notes


def _ends(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[Case]:
    """Yield the first feasible case of the smallest and of the largest task, under every accounting."""
    for cases_alike in groups_of(cases):
        group = [case for case in cases_alike if calibrated(protocol_class, case) is not None]
        if not group:
            continue
        sizes = [len(more_inputs(case.task)) for case in group]
        yield group[sizes.index(min(sizes))]
        if max(sizes) > min(sizes):
            yield group[sizes.index(max(sizes))]


# -- what is seen ----------------------------------------------------------------------------------------------


def check_seen(protocol_class: Protocol, cases: Iterable[Case]) -> list[Note]:
    """Check the view of untrusted parties with more inputs and users than `check_claim`.

    The view is all messages of one user in the local model, otherwise all messages from the shuffler. Returns the
    comparisons, and the views without a comparison.
    """
    notes: list[Note] = []
    for group in trials(cases):
        for law, budget in GROUPS:
            case = replace(group[0], population=law, budget=budget)
            protocol = calibrated(protocol_class, case)
            if protocol is None or protocol.guarantee not in SOUND:
                continue
            comparisons = list(_compared(protocol, case, f"{protocol_class.__name__}, {case}"))
            notes += [(True, what) for what in comparisons] or [
                (False, f"single messages of {1 + law.others} users (too many): the aggregate alone")
            ]
    reasons = "infeasible for few users, or the claim is not labeled exact or upper"
    return notes or [(False, f"views of more inputs and users ({reasons})")]


def _compared(protocol: ProtocolBase, case: Case, where: str) -> Iterator[str]:
    values, users = more_inputs(case.task), 1 + int(case.population.mean)
    pairs = [(values[i], values[j]) for i, j in neighbours(len(values))]
    seen_whole = protocol.trust in ("secure_sum", "central")  # only the aggregate is visible
    if seen_whole or _drawn_at_once(protocol, case):
        few = users > GROUPS[1][0].others + 1 or (seen_whole and not has_fast_law(type(protocol)))
        for first, second in pairs[:1] if few else pairs:
            view = views(protocol, case, first, second, second)
            if view is None:
                return
            within_delta(view, case, f"{where}: user 1 with {first.tolist()} or {second.tolist()}:")
        yield f"delta end to end with {users} users" if few else f"delta end to end with {len(values)} inputs"
        return
    alone = protocol.trust == "local"
    if _calls(protocol, case) < VIEWED:
        return
    whole = True
    for first, second in (pairs[0], pairs[-1])[: len(pairs)]:
        sent = [
            _passed_on(protocol, case, value, second, 70 + i, alone)
            for i, value in enumerate((first, second))
        ]
        what = "all messages of a user" if alone else "the messages that the shuffler passes on"
        name = f"{where}: {what}, user 1 with {first.tolist()} or {second.tolist()}:"
        counts, few_kinds = _counted(*sent)
        whole = whole and few_kinds
        within_delta(counts, case, name)
    yield ("all messages of a user" if alone else f"the shuffled messages of {users} users") + (
        "" if whole else ", real numbers in ranges"
    )


def _drawn_at_once(protocol: ProtocolBase, case: Case) -> bool:
    """Return whether a report is one message of few kinds, so that one draw gives thousands of runs."""
    if not only_reports(protocol):
        return False
    few = reports(protocol, case.task, inputs(case.task)[0], 2_000, 90)
    return few is not None and (protocol.trust == "local" or len(np.unique(few, axis=0)) <= BINS)


def _calls(protocol: ProtocolBase, case: Case) -> float:
    """Return the number of runs with about a million messages in all."""
    cost = protocol.cost()
    sent = cost.messages_per_user * (1 + case.population.mean) + cost.shuffler_messages
    return float(1_000_000 / (1 + sent))


def check_levels(protocol_class: Protocol, cases: Iterable[Case]) -> list[Note]:
    """Check that users of each of two privacy levels lose at most their level's eps, and return the comparisons."""
    if not protocol_class.multi_level:
        return []
    notes: list[Note] = []
    task, law = Sets(5, 2, 2), Fixed(MANY - 1)
    for accounting in dict.fromkeys(case.accounting for case in cases if protocol_class.task_kind == "sets"):
        case = Case(Budget((0.5, 3.0), 0.05), law, task, accounting)
        protocol = calibrated(protocol_class, case)
        if protocol is None or protocol.guarantee not in SOUND or protocol.trust in ("secure_sum", "central"):
            continue
        alone = protocol.trust == "local"
        for level, eps in enumerate(case.budget.levels):
            values, rest = inputs(task)[:2], 0 if alone else law.others
            levels = np.array([level, *np.arange(rest) % 2])
            counts = np.bincount(np.array([level, *np.arange(law.others) % 2]), minlength=2)
            public = Public(np.array([MANY]), counts[None].astype(float))
            users = [Users(np.concatenate((value[None], same(values[1], rest))), levels) for value in values]
            runs = [_runs(protocol, sample, public, 92 + i, alone) for i, sample in enumerate(users)]
            delta = delta_bound(*_counted(*runs)[0], eps)
            assert delta <= case.budget.delta, (
                f"{protocol_class.__name__}, {case}: for a user of privacy level {level}, delta is at least "
                f"{delta:.4g} at this level's eps = {eps}, above {case.budget.delta}"
            )
        notes.append((True, "two privacy levels"))
    return notes or [(False, "several privacy levels")]


def _passed_on(
    protocol: ProtocolBase, case: Case, value: Array, rest: Array, seed: int, alone: bool
) -> list[Array]:
    """Return the messages of every run if user 1 has the input `value` and all other users have the input `rest`."""
    others = np.array([0 if alone else int(case.population.mean)])
    public = crowd(case.task, value, rest, others).public.of_repeat(0)
    users = users_of(case.task, np.concatenate((value[None], same(rest, int(others[0])))))
    return _runs(protocol, users, public, seed, alone)


def _runs(protocol: ProtocolBase, users: Users, public: Public, seed: int, alone: bool) -> list[Array]:
    """Return the messages of every run, arrays of (M, width): the users' if `alone`, otherwise the shuffler's."""
    rng, runs = generator(seed), []
    protocol = protocol.refine(public)
    for _ in range(VIEWED):
        sent = protocol.encode(users, rng)
        payload = (sent if alone else protocol.shuffle(sent, public, rng)).payload
        runs.append(payload.reshape(len(payload), math.prod(payload.shape[1:])).astype(float))
    return runs


def _counted(first_runs: list[Array], second_runs: list[Array]) -> tuple[tuple[Array, Array], bool]:
    """Return the messages of each kind or range in every run, and True if there are few kinds.

    Ranges are of each coordinate. The first half of the runs determines kinds and ranges, as it does the events of
    `delta_bound`.
    """
    first = np.concatenate([run for runs in (first_runs, second_runs) for run in runs[: len(runs) // 2]])
    kinds = np.unique(first, axis=0)
    places = {tuple(row): i for i, row in enumerate(kinds.tolist())}
    few = len(kinds) <= BINS
    cuts = [] if few else [np.unique(np.quantile(c, np.linspace(0, 1, BINS + 1)[1:-1])) for c in first.T]

    def count(run: Array) -> Array:
        if few:
            places_of_run = [places.get(tuple(row), len(kinds)) for row in run.tolist()]
            return np.bincount(np.array(places_of_run, np.int64), minlength=len(kinds) + 1)
        ranges = [
            np.bincount(np.searchsorted(cut, column), minlength=len(cut) + 1)
            for cut, column in zip(cuts, run.T, strict=True)
        ]
        # A single message far from all others is lost among those of a range.
        ends = (run.max(axis=0), run.min(axis=0)) if len(run) else (0 * first[0], 0 * first[0])
        return np.concatenate((*ranges, *ends))

    return (np.stack([count(run) for run in first_runs]), np.stack([count(run) for run in second_runs])), few
