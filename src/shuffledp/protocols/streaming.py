"""Message level for large n, run in parts of the users, so that memory does not grow with n."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Protocol

import numpy as np

from shuffledp.numerics.argument_ranges import check_count
from shuffledp.protocols.messages import Cost, Messages
from shuffledp.tasks import Array, Public, Users

#: Largest number of numbers in the messages of a part: 32 MiB, and several times this memory during the draw.
_NUMBERS = 1 << 22
#: Bits per number for messages of more than 64 bits, as rows of bits are stored in bytes.
_BITS = 16


class Streamed(Protocol):
    """What a stream asks of a protocol; `shuffledp.protocols.ProtocolBase` has all of it."""

    name: ClassVar[str]

    @property
    def streamable(self) -> bool:
        """True if the aggregate is a sum over parts of the users."""

    @property
    def in_parts(self) -> bool:
        """True if the shuffler passes on each part by itself."""

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """Draw the messages of some users."""

    def forward(self, messages: Messages, rng: np.random.Generator) -> Messages:
        """Return what the shuffler passes on."""

    def dummies(self, public: Public, rng: np.random.Generator) -> Messages | None:
        """Draw the messages that the shuffler adds."""

    def aggregate(self, messages: Messages) -> Array:
        """Return the analyzer's statistic."""

    def merged(self, first: Array, second: Array) -> Array:
        """Return the statistic of two parts."""

    def cost(self) -> Cost:
        """Return the communication."""


def stream(
    protocol: Streamed,
    users: Iterable[Users],
    public: Public,
    rng: np.random.Generator,
    *,
    at_once: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Array:
    """Run one repeat message by message, in parts of the users; memory does not grow with the number of users.

    The law is exactly the law of ``protocol.simulate_messages``. An aggregate does not depend on the order of messages,
    so that the messages are not permuted. Every part is encoded, passed on by the shuffler (``forward``) and
    aggregated; dummies are added once, and the aggregates are ``merged``.

    Parameters
    ----------
    protocol : ProtocolBase
        Calibrated. After a public first round, ``protocol.refine(public)``.
    users : iterable of Users
        All users in order, in chunks of any size, which are divided into parts with new offsets.
    public : Public
        Public knowledge of one repeat, R = 1.
    rng : numpy.random.Generator
        The draws depend on `at_once`, and their law does not.
    at_once : int, optional
        Users of a part, at least 1; by default the number of users who send about four million numbers.
    progress : callable, optional
        Called after every part with the number of processed users and the number of all users.

    Returns
    -------
    (A...) ndarray
        The aggregate; ``protocol.estimate(aggregate[None], public)`` has the estimate, first axis 1.

    Raises
    ------
    ValueError
        If the protocol cannot be run in parts (``streamable`` is False, or it overrides ``shuffle``), `public` has
        several repeats, or the number of users differs from the number in `public`.

    Examples
    --------
    >>> import numpy as np
    >>> from shuffledp.populations import Fixed
    >>> from shuffledp.protocols import get, stream
    >>> from shuffledp.tasks import Budget, Frequency, Participants
    >>> who = Participants.from_counts(np.array([30_000, 70_000]))
    >>> protocol = get("frequency", "grr_blanket").calibrate(Budget(1.0, 1e-6), Fixed(99_999), Frequency(2))
    >>> seen = stream(protocol, who.users(0), who.public, np.random.default_rng(1), at_once=10_000)
    >>> int(seen.sum())
    100000
    """
    if not protocol.streamable:
        raise ValueError(
            f"{protocol.name} cannot be streamed: its aggregate is no sum over parts of the users."
        )
    if not protocol.in_parts:
        raise ValueError(
            f"{protocol.name} cannot be streamed: its class overrides shuffle. Override forward instead."
        )
    if public.repeats != 1:
        raise ValueError(f"stream: public must be of one repeat, got {public.repeats}.")
    size = users_at_once(protocol.cost()) if at_once is None else check_count("stream: at_once", at_once, 1)
    total, users_done = int(public.n_users[0]), 0
    dummies = protocol.dummies(public, rng)
    result = None if dummies is None else protocol.aggregate(dummies)
    for part in regrouped(users, size):
        users_done += len(part)
        if users_done > total:
            break
        part_aggregate = protocol.aggregate(protocol.forward(protocol.encode(part, rng), rng))
        result = part_aggregate if result is None else protocol.merged(result, part_aggregate)
        if progress is not None:
            progress(users_done, total)
    if result is None or users_done != total:
        number = f"{users_done} or more" if users_done > total else users_done
        raise ValueError(f"stream: users must be {total} in all, as public.n_users, got {number}.")
    return result


def users_at_once(cost: Cost) -> int:
    """Return the number of users of a part from the size of their messages, at least 1."""
    width = max(1.0, cost.bits_per_message / _BITS) if cost.bits_per_message > 64 else 1.0
    return max(1, math.floor(_NUMBERS / (max(1.0, cost.messages_per_user) * width)))


def join_users(chunks: list[Users]) -> Users:
    """Join the users of several chunks, with the first chunk's offset. Raise ValueError if only some have levels."""
    if len(chunks) == 1:
        return chunks[0]
    levels = [c.levels for c in chunks if c.levels is not None]
    if len(levels) not in (0, len(chunks)):
        raise ValueError("levels must be given for all chunks of users or for none.")
    return Users(
        np.concatenate([c.values for c in chunks]),
        np.concatenate(levels) if levels else None,
        chunks[0].offset,
    )


def regrouped(chunks: Iterable[Users], size: int) -> Iterator[Users]:
    """Yield the same users in parts of `size`, the last part possibly smaller, with offsets from 0."""
    offset, waiting, waiting_users = 0, list[Users](), 0
    for chunk in chunks:
        start = 0
        while waiting_users + len(chunk) - start >= size:
            stop = start + size - waiting_users
            yield _part([*waiting, _some(chunk, start, stop)], offset)
            offset, start, waiting, waiting_users = offset + size, stop, [], 0
        if start < len(chunk):
            waiting.append(_some(chunk, start, len(chunk)))
            waiting_users += len(chunk) - start
    if waiting_users:
        yield _part(waiting, offset)


def _some(users: Users, start: int, stop: int) -> Users:
    levels = None if users.levels is None else users.levels[start:stop]
    return Users(users.values[start:stop], levels)


def _part(chunks: list[Users], offset: int) -> Users:
    part = join_users([chunk for chunk in chunks if len(chunk)])
    return Users(part.values, part.levels, offset)
