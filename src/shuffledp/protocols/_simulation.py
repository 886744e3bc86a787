"""Simulation of a calibrated protocol: messages, aggregates, estimates and their expected errors."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, cast, final, get_args

import numpy as np
from numpy.random import Generator

from shuffledp.numerics.argument_ranges import check_choice, check_kind
from shuffledp.numerics.saddlepoint import ErrorLaw, normal_term, poisson_term
from shuffledp.protocols._calibration import Calibration
from shuffledp.protocols._inputs import check_participants, check_users, checked_inputs
from shuffledp.protocols.messages import Messages
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users, expected_metric

Expectation = Literal["variance", "squared_error", "absolute_error"]


@dataclass(frozen=True)
class Simulation(Calibration):
    """Local randomizer, shuffler and analyzer; the third layer of `shuffledp.protocols.ProtocolBase`."""

    #: True if the aggregate is additive over chunks of users.
    streamable: ClassVar[bool] = True
    #: True if the local randomizer also accepts real numbers between the values.
    real_inputs: ClassVar[bool] = False

    @property
    def capacity(self) -> int | None:
        """Largest number of participants whose sum the analyzer can decode; None if there is no such number."""
        return None

    @property
    def biased(self) -> bool:
        """True if estimates are biased, which may depend on the calibration. A class may set this to ``True``."""
        return False

    @property
    def joint_law(self) -> bool:
        """True if ``sample_aggregate`` draws all numbers of an aggregate from their joint law.

        If a class sets ``False``, each number has its exact marginal law: means and variances of single estimates are
        exact, and the dependence between estimates is not.
        """
        return True

    @property
    def alphabet_size(self) -> int:
        """Number of different messages that the default ``aggregate`` counts."""
        return 2

    @abstractmethod
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the messages of these users. For simulation only; deployments use `shuffledp.sampling`."""

    @abstractmethod
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return the analyzer's estimates, (R, *estimate_shape), from aggregates (R, A...)."""

    def announce(self, participants: Participants, rng: Generator) -> Public:
        """Return the public knowledge of R repeats before users send messages; by default the exact number of users."""
        return participants.public

    def refine(self, public: Public) -> Self:
        """Return the protocol after a public first round, for repeats with equal announcements; by default itself."""
        return self

    @final
    def after_first_round(self, public: Public) -> Iterator[tuple[Self, Ints]]:
        """Yield the protocols after the first round, each with the indices (r,) of its repeats."""
        if type(self).refine is Simulation.refine:
            yield self, np.arange(public.repeats)
            return
        alike: dict[bytes, list[int]] = {}  # announcements are often the same in all repeats
        for repeat in range(public.repeats):
            levels = b"" if public.level_counts is None else np.asarray(public.level_counts[repeat]).tobytes()
            alike.setdefault(np.asarray(public.n_users[repeat]).tobytes() + levels, []).append(repeat)
        groups: dict[Self, list[int]] = {}
        for repeats_alike in alike.values():
            groups.setdefault(self.refine(public.of_repeat(repeats_alike[0])), []).extend(repeats_alike)
        for protocol, repeats in groups.items():
            yield protocol, np.array(repeats)

    def dummies(self, public: Public, rng: Generator) -> Messages | None:
        """Return the messages that the shuffler or the server adds in one repeat; by default None."""
        return None

    def forward(self, messages: Messages, rng: Generator) -> Messages:
        """Return the messages that the shuffler passes on, by default all, each independently of other users."""
        return messages

    def shuffle(self, messages: Messages, public: Public, rng: Generator) -> Messages:
        """Return the shuffler's output in one repeat: passed messages and dummies, uniformly permuted."""
        passed, dummies = self.forward(messages, rng), self.dummies(public, rng)
        everything = passed if dummies is None else Messages.joined(passed, dummies)
        return Messages(rng.permutation(everything.payload, axis=0))

    def aggregate(self, messages: Messages) -> Array:
        """Return the analyzer's statistic of shuffled messages, by default the number of messages of each kind.

        Raises
        ------
        ValueError
            If a message is outside of 0..alphabet_size-1.
        """
        kinds = messages.payload.astype(np.int64)
        if kinds.size and kinds.min() < 0:
            raise ValueError(f"{self.name}: message {kinds.min()} is outside 0..{self.alphabet_size - 1}.")
        counts = np.bincount(kinds, minlength=self.alphabet_size)
        if len(counts) > self.alphabet_size:
            raise ValueError(
                f"{self.name}: message {len(counts) - 1} is outside 0..{self.alphabet_size - 1}; "
                "set alphabet_size or write aggregate."
            )
        return counts

    def merged(self, first: Array, second: Array) -> Array:
        """Return the aggregate (A...) of two parts of the messages from their aggregates, by default the sum.

        Only a ``streamable`` protocol uses it.
        """
        return first + second

    def simulate_messages(self, users: Users, public: Public, rng: Generator) -> Array:
        """Run one repeat message by message: encode, shuffle, aggregate."""
        check_users(self, users)
        return self.aggregate(self.shuffle(self.encode(users, rng), public, rng))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the aggregates of all repeats, (R, A...); by default at the message level, in parts for many users."""
        if participants.users is None:
            raise ValueError(
                f"{self.name}: the message level needs the users' raw inputs, which were not given."
            )
        from shuffledp.protocols.streaming import join_users, stream, users_at_once

        public, rows = participants.public, []
        for repeat in range(public.repeats):
            users = participants.users(repeat)
            if self.in_parts and public.n_users[repeat] > users_at_once(self.cost()):
                rows.append(stream(self, users, public.of_repeat(repeat), rng))
            else:
                rows.append(self.simulate_messages(join_users(list(users)), public.of_repeat(repeat), rng))
        return np.stack(rows)

    @final
    @property
    def in_parts(self) -> bool:
        """True if the message level can run for parts of the users in turn, see `shuffledp.protocols.stream`."""
        return self.streamable and type(self).shuffle is Simulation.shuffle

    @final
    def simulate(self, participants: Participants | Array, rng: Generator) -> Floats:
        """Draw the estimates of all repeats, (R, *estimate_shape).

        For frequencies, `participants` may be an array of the number of users per value.
        """
        users = (
            participants if isinstance(participants, Participants) else Participants.from_counts(participants)
        )
        check_kind(f"{self.name}.simulate: rng", rng, (Generator,))
        check_participants(self, users, whole=True)
        if (fewest := int(np.min(users.public.n_users))) < self.least_users:
            warnings.warn(
                f"{self.name}: the guarantee needs {self.least_users} users, and {fewest} take part.",
                stacklevel=2,
            )
        public = self.announce(users, rng)
        announced = users if public is users.public else replace(users, public=public)
        groups = list(self.after_first_round(public))
        if len(groups) == 1:
            protocol = groups[0][0]
            return protocol.estimate(protocol.sample_aggregate(announced, rng), public)
        estimates = np.empty(np.shape(users.truth))
        for protocol, repeats in groups:
            some = announced.of_repeats(repeats)
            estimates[repeats] = protocol.estimate(protocol.sample_aggregate(some, rng), some.public)
        return estimates

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats | None:
        """Return the variance of the estimate for these participants, (R, *estimate_shape), or None if unknown."""
        return None

    @checked_inputs
    def expected_squared_error(self, participants: Participants) -> Floats | None:
        """Return the mean squared error of each coordinate for these participants, (R, *estimate_shape), or None.

        The default is the variance, and None if the protocol is ``biased``. If estimates are unbiased only over the
        random assignment of privacy levels, it is the mean over this assignment.
        """
        return None if self.biased else self.expected_variance(participants)

    def error_law(self, participants: Participants) -> ErrorLaw | None:
        """Return the law of each estimate's error for these participants, (R, V), or None if unknown.

        Intervals are made from it. The default has the expected squared error, in steps of one user for frequencies and
        sets, and a normal law for sums and vectors.
        Noise with heavier tails, such as geometric noise, needs another law.
        """
        squared = self.expected_squared_error(participants)
        if squared is None:
            return None
        flat = np.reshape(squared, (len(squared), -1))
        if self.task_kind in ("summation", "vectors"):
            return ErrorLaw([normal_term(flat)])
        step = 1 / participants.public.users_column
        return ErrorLaw([poisson_term(flat, step)], step)

    @checked_inputs
    def expected_absolute_error(self, participants: Participants) -> Floats | None:
        """Return the mean absolute error of each coordinate for these participants, (R, *estimate_shape).

        None, the default, is for a nearly normal error, whose ``expected_variance`` determines it.
        """
        return None

    @final
    def expectation(self, what: Expectation, participants: Participants) -> Floats | None:
        """Return the expected error `what` after the first round, (R, *estimate_shape), or None if unknown."""
        check_choice("what", what, get_args(Expectation))
        check_kind(f"{self.name}.expectation: participants", participants, (Participants,))
        check_participants(self, participants, whole=False)
        result: Floats | None = None
        for protocol, repeats in self.after_first_round(participants.public):
            covers_all = len(repeats) == participants.public.repeats
            expected = getattr(protocol, f"expected_{what}")(
                participants if covers_all else participants.of_repeats(repeats)
            )
            if covers_all or expected is None:
                return cast(Floats | None, expected)
            if result is None:
                result = np.empty((participants.public.repeats, *expected.shape[1:]))
            result[repeats] = expected
        return result

    @final
    def expected_mse(self, counts: Array | Participants) -> float | Floats | None:
        """Return the expected squared error per coordinate: a number for (k,) counts, otherwise (R,)."""
        participants = counts if isinstance(counts, Participants) else Participants.from_counts(counts)
        squared = self.expectation("squared_error", participants)
        if squared is None:
            return None
        mse = expected_metric("mse", squared)
        return float(mse[0]) if not isinstance(counts, Participants) and np.ndim(counts) == 1 else mse
