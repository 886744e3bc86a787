"""Choice of a protocol's feasible cases, and their simulation by the fast law or message by message."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.cases import Case, Protocol
from shuffledp.protocols.conformance.statistics import generator
from shuffledp.protocols.messages import Messages
from shuffledp.tasks import Array, Floats, Public, Users

#: Repeats message by message.
MESSAGE_REPEATS = 600
#: Largest number of messages of one repeat in simulations message by message; if all cases exceed it, only the smallest
#: case is simulated.
MOST_MESSAGES = 20_000
#: Number of messages of all repeats together, beyond which there are fewer repeats message by message.
MOST_DRAWN = 3_000_000
#: Least number of repeats message by message, for any number of messages.
LEAST_REPEATS = 100
#: Repeats of `sample_aggregate` for a protocol with a fast law.
FAST_REPEATS = 10_000


@lru_cache(maxsize=4096)  # searching for the best number of dummies takes longer than most checks
def calibrated(protocol_class: Protocol, case: Case) -> ProtocolBase | None:
    """Return the protocol calibrated for a case, from a cache; None if the case is infeasible."""
    try:
        return case.calibrate(protocol_class)
    except Infeasible as error:
        assert str(error).strip(), f"{protocol_class.__name__}, {case}: Infeasible gives no reason"
        return None


def feasible(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[tuple[Case, ProtocolBase, str]]:
    """Yield each feasible case, its protocol after a public first round, and its name for error messages."""
    is_feasible = False
    for case in cases:
        protocol = calibrated(protocol_class, case)
        if protocol is not None:
            is_feasible = True
            protocol = protocol.refine(case.participants(1).public)
            yield case, protocol, f"{protocol_class.__name__}, {case}"
    assert is_feasible, f"{protocol_class.__name__}: no case is feasible, so nothing was checked"


def sending(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[tuple[Case, ProtocolBase, str]]:
    """Yield the feasible cases with few enough messages to simulate, or the case with the fewest messages."""
    possible = list(feasible(protocol_class, cases))
    sent = [_messages(protocol, case) for case, protocol, _ in possible]
    limit = max(MOST_MESSAGES, min(sent))
    yield from (entry for entry, messages in zip(possible, sent, strict=True) if messages <= limit)


def how_checked(protocol_class: Protocol, case: Case) -> str:
    """Return, in words, how a case is checked, or why it is infeasible."""
    try:
        protocol = case.calibrate(protocol_class)
    except Infeasible as error:
        return f"infeasible, {error}"
    messages = _messages(protocol.refine(case.participants(1).public), case)
    if messages <= MOST_MESSAGES:
        return "checked"
    law = "sample_aggregate alone" if has_fast_law(protocol_class) else "nothing but calibrate and cost"
    return f"checked by {law}, as its {messages:,.0f} messages are more than {MOST_MESSAGES:,}"


def _messages(protocol: ProtocolBase, case: Case) -> float:
    """Return the expected number of messages of one repeat, dummies included."""
    cost = protocol.cost()
    return cost.messages_per_user * len(case.users()) + cost.shuffler_messages


def simulated(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[tuple[Case, ProtocolBase, str]]:
    """Yield the feasible cases; without a fast law, only cases that can be simulated message by message."""
    return (feasible if has_fast_law(protocol_class) else sending)(protocol_class, cases)


def with_new_corners(
    protocol_class: Protocol, cases: Iterable[Case]
) -> Iterator[tuple[Case, ProtocolBase, str, bool]]:
    """Yield the cases of `feasible` with a flag that marks a new accounting, kind of law or budget, for slow checks."""
    known_parts: set[object] = set()
    for case, protocol, where in feasible(protocol_class, cases):
        parts = {case.accounting, type(case.population), case.budget}
        yield case, protocol, where, not parts <= known_parts
        known_parts |= parts


Running = Callable[[Protocol, Iterable[Case]], Iterator[tuple[Case, ProtocolBase, str]]]


def in_turn(
    protocol_class: Protocol, cases: Iterable[Case], chosen: Running, turn: int = 0
) -> Iterator[Case]:
    """Yield each setting of `chosen` once, with alternating accountings, and every accounting at least once."""
    alike: dict[Case, list[Case]] = {}
    first: dict[str, Case] = {}
    for case, _, _ in chosen(protocol_class, cases):
        alike.setdefault(replace(case, accounting=""), []).append(case)
        first.setdefault(case.accounting, case)
    for place, group in enumerate(alike.values()):
        case = group[(turn + place) % len(group)]
        first.pop(case.accounting, None)
        yield case
    yield from first.values()


def message_level(protocol: ProtocolBase, case: Case) -> Array:
    """Return aggregates of the message level, (R, A), without the default shuffler's permutation."""
    users, public, rng = case.users(), case.participants(1).public, generator(1)
    affordable = math.floor(MOST_DRAWN / max(protocol.cost().messages_per_user * len(users), 1))
    repeats = max(min(MESSAGE_REPEATS, affordable), LEAST_REPEATS)
    plain = inherits(type(protocol), "shuffle", "simulate_messages")
    run = partial(_unpermuted, protocol) if plain else protocol.simulate_messages
    rows = [run(users, public, rng) for _ in range(repeats)]
    assert len({np.shape(row) for row in rows}) == 1, "the aggregate changes its shape from run to run"
    return np.stack(rows).reshape(repeats, -1).astype(float)


def _unpermuted(protocol: ProtocolBase, users: Users, public: Public, rng: np.random.Generator) -> Array:
    """Return the aggregate of `ProtocolBase.simulate_messages` without the permutation, in half the time."""
    passed, dummies = protocol.forward(protocol.encode(users, rng), rng), protocol.dummies(public, rng)
    return protocol.aggregate(passed if dummies is None else Messages.joined(passed, dummies))


def inherits(protocol_class: Protocol, *steps: str) -> bool:
    """Return whether a class inherits these methods from `ProtocolBase` unchanged."""
    return all(getattr(protocol_class, step) is getattr(ProtocolBase, step) for step in steps)


def has_fast_law(protocol_class: Protocol) -> bool:
    """Return whether a protocol draws its aggregate from a law, without every message."""
    return not inherits(protocol_class, "sample_aggregate")


def repeats_of(protocol_class: Protocol) -> int:
    """Return the number of simulated repeats of a protocol."""
    return FAST_REPEATS if has_fast_law(protocol_class) else MESSAGE_REPEATS


@lru_cache(maxsize=64)  # those of a protocol, whose checks run one after the other
def estimates(protocol_class: Protocol, case: Case) -> Floats:
    """Return simulated estimates of a feasible case, (R, d) and read-only, from a cache."""
    protocol, repeats = calibrated(protocol_class, case), repeats_of(protocol_class)
    assert protocol is not None, f"{protocol_class.__name__}, {case}: infeasible"
    protocol = protocol.refine(case.participants(1).public)
    table = protocol.simulate(case.participants(repeats), generator(5)).reshape(repeats, -1)
    table.setflags(write=False)
    return table
