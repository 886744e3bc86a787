"""Checks of the declared trust, and checks of `shuffledp check-baseline` for a user's class.

The latter test that a user's messages do not depend on other users or on the user's place, and variances to a few
percent. `leakage_checks` has further checks. Bounds have the false-alarm rate of the conformance
checks.
"""

import math
from collections.abc import Callable, Iterable

import numpy as np

from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.cases import Case, Protocol, inputs, jumps, same, users_of
from shuffledp.protocols.conformance.privacy import ratio_bound
from shuffledp.protocols.conformance.running import has_fast_law, inherits, sending
from shuffledp.protocols.conformance.statistics import (
    P_VALUE,
    contradicted,
    generator,
    laws_p_value,
)
from shuffledp.protocols.messages import Messages
from shuffledp.tasks import Array, Public, Sets, Task, Users

#: Runs in which users are encoded together, and as many in which users are encoded one by one.
CALLS = 1_500
#: Repeats for the variance, with a fast law and message by message.
ERRORS = {True: 200_000, False: 10_000}

# -- trust, order, other users ---------------------------------------------------------------------------------


def check_trust(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check the declared ``trust``: only shufflers that may add messages do so, and every shuffler permutes."""
    cases_sent = list(sending(protocol_class, cases))
    for case, protocol, where in cases_sent:
        dummies = protocol.dummies(case.participants(1).public, generator(80))
        assert protocol.trust not in ("local", "shuffler") or dummies is None or not len(dummies), (
            f"{where}: dummies() adds {len(dummies or ())} messages, but trust is {protocol.trust!r}: a shuffler that "
            "adds messages is 'shuffler_adds'"
        )
    # The larger the budget, the more a message tells about its sender.
    for case, protocol, where in sorted(cases_sent, key=lambda entry: -entry[0].budget.largest_eps)[:3]:
        if protocol.trust in ("shuffler", "shuffler_adds") and not inherits(type(protocol), "shuffle"):
            _permuted(protocol, case, where)


def _permuted(protocol: ProtocolBase, case: Case, where: str) -> None:
    """Check that the law of the first shuffled message does not depend on the order of the users."""
    input_pair = inputs(case.task)[:2]
    if len(input_pair) < 2:
        return
    crowded = np.concatenate((input_pair[0][None], same(input_pair[1], 7)))
    public = Public(np.array([8]), np.array([[8.0]]) if isinstance(case.task, Sets) else None)
    firsts = []
    for i, values in enumerate((crowded, crowded[::-1])):
        rng, users = generator(81 + i), users_of(case.task, values)
        runs = [protocol.shuffle(protocol.encode(users, rng), public, rng).payload for _ in range(CALLS)]
        firsts.append(np.array([run[0] for run in runs if len(run)]))
    if min(map(len, firsts)) < 100:
        return
    ratio = ratio_bound(firsts[0], firsts[1])
    assert ratio <= 1e-9, (
        f"{where}: shuffle() does not permute: the first message that it passes on reveals which user came first"
    )


def check_users_apart(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that a user's messages depend neither on other users' values nor on the user's place."""
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
    """Return n users of a case, evenly spread over the case's users."""
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

    def draw_aggregates(run: Callable[[], Messages], runs: int) -> list[Array]:
        return [np.ravel(protocol.aggregate(run())).astype(float) for _ in range(runs)]

    samples = draw_aggregates(together, CALLS), draw_aggregates(apart, CALLS // 2)
    if len({len(row) for sample in samples for row in sample}) != 1:
        return  # an aggregate that keeps single messages has no numbers to compare
    rows_together, rows_apart = (np.stack(sample) for sample in samples)
    directions = generator(85).standard_normal((rows_together.shape[1], 3))
    rows_together, rows_apart = (
        np.column_stack((x, x @ directions)).round(9) for x in (rows_together, rows_apart)
    )
    p_value = laws_p_value(rows_apart, rows_together)
    assert p_value > P_VALUE, (
        f"{where}: users encoded together send other messages than the same users encoded one by one (p-value of the "
        f"same law of the aggregate: {p_value:.2g}): a message depends on other users, or on the place in the array. "
        "If a user's number is meant, take it from users.offset"
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
        ratio = ratio_bound(np.array([p[0] for p in sent]), np.array([p[other] for p in sent]))
        assert ratio <= 1e-9, (
            f"{where}: reports of users with the same input have different laws at places 0 and {other} of the array: "
            "a message reveals its sender"
        )


def check_seeded_crowds(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that many users send the same messages for equal seeds, and that estimates differ between seeds."""
    different = False
    where = protocol_class.__name__
    for case, protocol, where in sending(protocol_class, cases):
        users = case.users()
        chosen = np.resize(np.arange(len(users)), 10_000)
        crowd = Users(users.values[chosen], None if users.levels is None else users.levels[chosen])
        if protocol.cost().messages_per_user * len(crowd) > 1_000_000:
            continue
        runs = [protocol.encode(crowd, generator(87)).payload for _ in range(4)]
        for run in runs[1:]:
            assert np.array_equal(run, runs[0]), f"{where}: encode gives different messages for the same seed"
        participants = case.participants(1)
        results = {protocol.simulate(participants, generator(88 + i)).tobytes() for i in range(8)}
        different = different or len(results) > 1
        if different:
            return
    assert different, f"{where}: eight seeds give the same estimate: the generator is not used"


# -- variances -------------------------------------------------------------------------------------------------


def check_close_variance(protocol_class: Protocol, cases: Iterable[Case]) -> str:
    """Check ``expected_variance`` to a few percent with many repeats of one setting, and return the precision."""
    repeats = ERRORS[has_fast_law(protocol_class)]
    for case, protocol, where in sending(protocol_class, cases):
        participants = case.participants(repeats)
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
        estimates = protocol.simulate(participants, generator(89)).reshape(repeats, -1)
        truth, want = case.participants(1).truth[0].reshape(-1), variance[0].reshape(-1)
        jump = jumps(protocol, case)[1]
        if np.any(want <= 0):
            continue
        small, large = contradicted((estimates - truth) ** 2, want, jump)
        got = ((estimates - truth) ** 2).mean(axis=0)
        name = f"{where}: variance, simulated {repeats:,} times and expected: got {got}, expected {want}"
        assert not np.any(small), f"{name}, too small"
        assert not np.any(large), f"{name}, too large"
        slack = math.sqrt(-2 * math.log(P_VALUE) * (6 + jump**2 / float(want.min())) / repeats)
        return f"formulas that are {100 * slack / (1 - slack):.0f} % too large would pass"
    return "NOT checked closely: no setting is small enough, or there is no expected_variance"


def check_bits(protocol_class: Protocol, cases: Iterable[Case]) -> str:
    """Return a note if the stated bits allow many more messages than were sent; `check_cost` rejects too few bits."""
    note = ""
    most = 4.0  # times as many as needed are nothing to speak of
    for case, protocol, _ in sending(protocol_class, cases):
        sent = protocol.encode(case.users(), generator(91)).payload
        bits, kinds = protocol.cost().bits_per_message, len(np.unique(sent, axis=0))
        room = 2.0 ** min(bits, 1000.0) / kinds
        if kinds < len(sent) / 4 and room > most:
            most = room
            note = f"NOT checked: whether fewer than {bits:g} bits would do; {kinds} different messages were seen"
    return note
