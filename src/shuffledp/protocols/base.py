"""Interface of a protocol: four required methods, and further methods with defaults.

A protocol is a calibrated frozen dataclass: its fields have the local budget, the number of dummies and so on. Its
state never changes, and every method that draws takes a ``numpy.random.Generator``.
"""

from __future__ import annotations

import math
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast, final, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import (
    ABSENCE,
    ENFORCED,
    RELIANCE,
    UPPER,
    Enforced,
    Guarantee,
    Reliance,
    Standing,
    exposure_of,
    weakest,
)
from shuffledp.numerics.argument_ranges import check_choice, check_count, check_unit, shown
from shuffledp.numerics.saddlepoint import ErrorLaw, normal_term, poisson_term
from shuffledp.populations.base import Fixed, Population
from shuffledp.protocols._checked_inputs import guard_inputs
from shuffledp.tasks import (
    Array,
    Budget,
    Floats,
    Ints,
    Neighbours,
    Participants,
    Public,
    Task,
    TaskKind,
    Users,
    expected_metric,
)

if TYPE_CHECKING:
    from shuffledp.protocols.client.description import Client


@dataclass(frozen=True)
class Messages:
    """Messages of one repeat: ``payload`` (M,) or (M, width) has one row per message, without its sender.

    After the shuffler, the order of messages carries no information.
    """

    payload: NDArray[np.generic]

    def __post_init__(self) -> None:
        if not isinstance(self.payload, np.ndarray) or self.payload.ndim == 0:
            raise ValueError(f"Messages: payload must be an array of messages, got {shown(self.payload)}.")

    def __len__(self) -> int:
        return len(self.payload)

    @staticmethod
    def joined(*parts: Messages) -> Messages:
        """Return the messages of several senders as one object."""
        return Messages(np.concatenate([part.payload for part in parts]))


@dataclass(frozen=True)
class Cost:
    """Expected communication.

    Parameters
    ----------
    messages_per_user : float
        Messages that one participant sends, its report included.
    bits_per_message : float
        Size of one message in bits.
    own_messages : float
        Messages per user for the user's report; the others count as extra messages.
    shuffler_messages : float
        Expected number of messages that the shuffler or the server adds, in all.
    most_messages : float, optional
        Largest number of messages of any user. If it is unbounded, the number that any user exceeds with a probability
        of at most `shuffledp.accounting.expected_errors.most_messages.RARE`. None if unknown.
    most_certain : bool
        True if ``most_messages`` is a bound, False if users may exceed it.
    """

    messages_per_user: float
    bits_per_message: float
    own_messages: float = 1.0
    shuffler_messages: float = 0.0
    most_messages: float | None = None
    most_certain: bool = True

    @property
    def extra_messages(self) -> float:
        """Messages per user beyond the user's report."""
        return self.messages_per_user - self.own_messages

    @property
    def bits_per_user(self) -> float:
        """Bits that one participant sends."""
        return self.messages_per_user * self.bits_per_message

    @property
    def most_bits(self) -> float | None:
        """Bits of ``most_messages``; None if this number is unknown."""
        return None if self.most_messages is None else self.most_messages * self.bits_per_message


def message_bits(kinds: int) -> float:
    """Return the bits of one of `kinds` >= 1 different messages, rounded up to whole bits, at least one."""
    return float(max((kinds - 1).bit_length(), 1))


Trust = Literal["shuffler", "shuffler_adds", "secure_sum", "local", "central"]
Expectation = Literal["variance", "squared_error", "absolute_error"]


def check_object(name: str, value: object, wanted: type, example: str = "") -> None:
    """Raise a ValueError that names the argument if its value is not of class `wanted`."""
    if not isinstance(value, wanted):
        such = f", such as {example}" * bool(example)
        raise ValueError(f"{name} must be a {wanted.__name__}{such}, got {shown(value)}.")


@dataclass(frozen=True)
class ProtocolBase(metaclass=ABCMeta):
    """Base class of every protocol, built-in or plug-in.

    Concrete protocols are frozen dataclasses that set the class variables and define ``calibrate``, ``encode``,
    ``estimate`` and ``cost``. If ``sample_aggregate`` draws from the exact law of the aggregate, the time of a
    simulation does not grow with the number of users. ``expected_variance`` adds the theory line to every figure
    (``expected_squared_error`` for biased estimates). The conformance checks compare ``privacy_profile`` with the
    claimed guarantee.

    The ``guarantee`` of a calibrated protocol is the label of its claim, see `shuffledp.guarantees`: ``exact``,
    ``upper``, ``approximate``, ``unproven`` or ``violated``. A protocol with one label for all claims sets a class
    variable, ``guarantee = "exact"``. Otherwise ``guarantees`` has a `Standing` per accounting, ``calibrate`` sets
    ``calibrated_under=accounting``, and the class overrides ``standing`` if options or calibrated numbers matter.
    Without either, the label is a proven upper bound.

    Parameters
    ----------
    calibrated_under : str
        The accounting that ``calibrate`` used.
    calibrated_for : Task, optional
        The task that ``calibrate`` used, None for a protocol that was made without it.

    Notes
    -----
    Inputs, counts and aggregates of another task raise ValueError in all methods, as do more users than the analyzer
    can decode (``capacity``). Otherwise all methods work for any number of users. The guarantee is for ``least_users``
    or more. `simulate` warns of fewer.
    """

    calibrated_under: str = field(default="", kw_only=True)
    calibrated_for: Task | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __init_subclass__(cls, **settings: Any) -> None:
        """Guard the inputs, and set ``accountings`` to the keys of ``guarantees`` if no class of the hierarchy does."""
        super().__init_subclass__(**settings)
        guard_inputs(cls)
        stated = any("accountings" in vars(base) for base in cls.__mro__ if base is not ProtocolBase)
        if cls.guarantees and not stated:
            cls.accountings = tuple(cls.guarantees)

    name: ClassVar[str]
    """Name, unique within its task; equal to the file's name for built-ins."""
    task_kind: ClassVar[TaskKind]
    label: ClassVar[str]
    """Name in legends."""
    source: ClassVar[str]
    """Citation with theorem or equation number."""
    trust: ClassVar[Trust]
    relies_on: ClassVar[Reliance] = "not stated"
    """Other users who must be honest, besides the trusted party, see `shuffledp.guarantees`."""
    poisoning: ClassVar[Enforced] = "unknown"
    """Bound on the gain of fake users, see `shuffledp.guarantees`; not ``unknown`` with ``gain_per_fake``."""
    accountings: ClassVar[tuple[str, ...]] = ("printed",)
    """Accountings that ``calibrate`` accepts, by default the keys of ``guarantees``; others are neither run nor drawn.
    """
    reduction: ClassVar[str] = "own"
    guarantees: ClassVar[Mapping[str, Standing]] = {}
    """Guarantee of the claim under each accounting, for all ``accountings`` or for none."""
    streamable: ClassVar[bool] = True
    """True if the aggregate is additive over chunks of users."""
    neighbours: ClassVar[tuple[Neighbours, ...]] = ("replace_one",)
    """Neighboring relations of the guarantee; a budget for another relation is infeasible."""
    multi_level: ClassVar[bool] = False
    """True if a budget may have several privacy levels."""

    real_inputs: ClassVar[bool] = False
    """True if the local randomizer also accepts real numbers between the values."""
    reported: ClassVar[tuple[str, ...]] = ()
    """Attributes that ``parameters`` returns, such as ``"plan.blankets"``; if empty, all numeric fields."""

    no_client: ClassVar[str] = "None is written for it."
    """Sentence with the reason why `client` raises an error."""

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

    @property
    def remark(self) -> str:
        """Remark on the calibration for readers of a comparison; empty for most protocols."""
        return ""

    # -- what the claim is worth ----------------------------------------------------------------------------------

    @property
    def standing(self) -> Standing:
        """Label of the guarantee with its note, by accounting; by default the weakest of ``guarantees``."""
        if not self.guarantees:
            return UPPER
        known = self.guarantees.get(self.calibrated_under)
        return weakest(self.guarantees.values()) if known is None else known

    @property
    def guarantee(self) -> Guarantee:
        """Label of the guarantee, see `shuffledp.guarantees`; a plain class variable may replace it."""
        return self.standing.guarantee

    @property
    def guarantee_note(self) -> str:
        """Unproven assumption behind an ``unproven`` label, or witness against a ``violated`` one."""
        # A class variable `guarantee` says nothing about the standing that it takes the place of.
        return self.standing.note if self.standing.guarantee == self.guarantee else ""

    # -- whom users trust -----------------------------------------------------------------------------------------

    def counted_on(self) -> str:
        """Name the users of ``relies_on``, with their number if the number is known."""
        return "all other users"

    def honest(self) -> str:
        """Return sentences that name the parties who must be honest, besides the trusted party."""
        return RELIANCE[self.relies_on].format(who=self.counted_on())

    @property
    def least_users(self) -> int:
        """Smallest number of participants, user 1 included, for which the guarantee is proven.

        It is 1 if the guarantee relies on no other user, and otherwise the fixed number of users of the calibration.
        For a law of the number it is 1, as the guarantee covers all numbers of the law.
        """
        population = getattr(self, "population", None)
        if self.relies_on == "no other user" or not isinstance(population, Fixed | None):
            return 1
        return int(getattr(self, "n_users", 1)) if population is None else population.others + 1

    @property
    def capacity(self) -> int | None:
        """Largest number of participants whose sum the analyzer can decode; None if there is no such number."""
        return None

    def if_shuffler_fails(self) -> str:
        """Return a sentence on the messages of a user whom an adversary recognizes."""
        return exposure_of(self.trust, self.local_epsilon())

    def local_epsilon(self) -> float | None:
        """Return eps of one user's messages at delta 0, in nats, against an adversary who sees these messages.

        The result is the local budget if the protocol has one, and ``inf`` if no bound is known. It is None for a
        curator, who receives the users' data.
        """
        if self.trust == "central":
            return None
        known = self.parameters().get("eps_local", getattr(self, "eps_local", None))
        return math.inf if known is None else float(known)

    # -- users who collude or drop out -----------------------------------------------------------------------------

    def profile_without(self, share: float, *, colluding: bool) -> PrivacyProfile | None:
        """Return a profile that holds if a share of the users hides no value.

        Parameters
        ----------
        share : float
            Share of all users, in [0, 1], rounded up to a number of users; user 1 is honest.
        colluding : bool
            True if these users tell the analyzer what they sent, and are chosen by anything that is public. False if
            they drop out: they are chosen at random, and send nothing.

        Returns
        -------
        PrivacyProfile or None
            By default the usual profile if privacy rests on no other user, and otherwise None, as no bound is known.
        """
        return self.privacy_profile() if share == 0 or self.relies_on == "no other user" else None

    @final
    def remaining_epsilon(self, share: float, budget: Budget, *, colluding: bool) -> float:
        """Return the eps that remains at the delta of a budget if a share of the users hides no value.

        Parameters
        ----------
        share : float
            Share of all users, in [0, 1].
        budget : Budget
            The budget that the protocol was calibrated for.
        colluding : bool
            True for users who collude with the analyzer, False for users who drop out, see `profile_without`.

        Returns
        -------
        float
            A proven upper bound, nats: of the profile, rounded up by at most a relative 1e-3, and at most the local eps
            of a user's own messages. ``inf`` if no finite eps is left, nan if no bound is known.

        Raises
        ------
        ValueError
            If the share is not in [0, 1].
        """
        from shuffledp.accounting.general.spent import spent_epsilon

        local = self.local_epsilon() if budget.neighbours == "replace_one" else None
        most = math.inf if local is None else local
        try:
            found = self.profile_without(check_unit("share", share), colluding=colluding)
            if found is not None and found.kind in ("exact", "upper"):
                found.delta(budget.largest_eps)  # raises if it cannot be evaluated
                return min(spent_epsilon(found, budget) or math.inf, most)
        except Infeasible:
            pass
        return math.nan if math.isinf(most) else most

    def when_absent(self) -> str:
        """Return a sentence on the users that `profile_without` relies on."""
        return ABSENCE[self.relies_on]

    # -- fake users ------------------------------------------------------------------------------------------------

    def gain_per_fake(self, most: float) -> float:
        """Return the largest increase of a target's count, or of the sum, by the messages of one further user.

        Parameters
        ----------
        most : float
            Number of messages that the shuffler admits per user.

        Returns
        -------
        float
            By default ``inf`` if nothing bounds the range of a share, and otherwise nan, as it is unknown.
        """
        return math.inf if self.poisoning == "range of shares" else math.nan

    @final
    def poisoning_gain(self, fakes: int, target: int = 0, *, cap: int | None = None) -> float:
        """Return the largest increase of an estimate by fake users who send the messages of their choice.

        Parameters
        ----------
        fakes : int
            Number of users, >= 0, that are added.
        target : int
            Value whose count the added users raise, in [0, k - 1]. It has no influence on sums, nor on protocols that
            treat all values alike, as all built-in ones do.
        cap : int, optional
            Number of messages that the shuffler admits per user, >= 1; by default the largest number of an honest user,
            ``cost().most_messages``.

        Returns
        -------
        float
            Expected increase of the target's estimated count (the frequency times the number of all users, fake ones
            included), or of the sum; ``inf`` if nothing bounds it, nan if it is unknown. No detection is assumed, and
            ``enforced`` states what the shuffler must enforce.

        Notes
        -----
        Cao, Jia and Gong (USENIX Security 2021), adapted. Estimators are linear, so that the gain does not depend on
        the honest users.
        """
        count, least = check_count("fakes", fakes), check_count("target", target)
        values = getattr(self, "domain_size", None)
        if values is not None and least >= values:
            raise ValueError(f"target must be in [0, {values - 1}], got {target!r}.")
        most = self.cost().most_messages if cap is None else check_count("cap", cap, least=1)
        if count == 0:
            return 0.0
        return count * self.gain_per_fake(math.nan if most is None else most)

    def enforced(self) -> str:
        """Return a sentence on the checks that bound the gain of fake users."""
        return ENFORCED[self.poisoning]

    # -- to write -----------------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def calibrate(
        cls, budget: Budget, population: Population, task: Task, *args: Any, **options: Any
    ) -> Self:
        """Find parameters that meet the budget.

        Implementations take the keyword ``accounting`` and the options of the protocol as further keywords. Built-in
        protocols use `from_request`.

        Parameters
        ----------
        budget : Budget
            One eps and delta > 0 for ``replace_one`` neighbors, unless the protocol's docstring states otherwise.
        population : Population
            Number of other users.
        task : Task
            Task of the protocol's kind.
        **options
            ``accounting``, one of ``accountings``, and the options of the protocol.

        Raises
        ------
        ValueError
            If the request does not fit the protocol.
        Infeasible
            With the reason, if no parameters meet the budget, for example because delta is 0.
        """

    @abstractmethod
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the messages of these users. For simulation only; deployments use `shuffledp.sampling`."""

    @abstractmethod
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return the analyzer's estimates, (R, *estimate_shape), from aggregates (R, A...)."""

    @abstractmethod
    def cost(self) -> Cost:
        """Return the expected communication of one participant."""

    # -- with defaults ------------------------------------------------------------------------------------------

    @final
    @classmethod
    def check_request(cls, budget: Budget, task: Task, accounting: str) -> None:
        """Raise an error for an unsupported request. Every ``calibrate`` calls this method first.

        Raises
        ------
        ValueError
            If the budget or task has a wrong type, the accounting is unknown, or the task has another kind.
        Infeasible
            If the guarantee does not cover the budget's neighboring relation, or the budget has several privacy levels
            and ``multi_level`` is not set (meeting only the weakest level would be unsafe).
        """
        check_object(f"{cls.name}: budget", budget, Budget, "Budget(1.0, 1e-6)")
        check_object(f"{cls.name}: task", task, Task, "Frequency(20)")
        check_choice(f"{cls.name}: accounting", accounting, cls.accountings)
        if task.kind != cls.task_kind:
            raise ValueError(f"{cls.name} solves {cls.task_kind!r} tasks, but the task is {task.kind!r}.")
        if len(budget.levels) > 1 and not cls.multi_level:
            raise Infeasible(
                f"{cls.name} takes one eps for all users, got the privacy levels {budget.eps!r}."
            )
        if budget.neighbours not in cls.neighbours:
            raise Infeasible(
                f"The guarantee is for {', '.join(cls.neighbours)}, not for {budget.neighbours}."
            )

    @classmethod
    def for_population(
        cls, fitted: Callable[[Budget, Population], Self], budget: Budget, population: Population
    ) -> Self:
        """Return the protocol that the calibration `fitted` finds; subclasses may limit or replace the population."""
        return fitted(budget, population)

    def announce(self, participants: Participants, rng: Generator) -> Public:
        """Return the public knowledge of R repeats before users send messages; by default the exact number of users."""
        return participants.public

    @classmethod  # noqa: B027  (to be overridden where there is something to check)
    def check_options(cls, options: Mapping[str, Any]) -> None:
        """Raise ValueError for options of ``calibrate`` that are wrong under every budget; by default no option is.

        The configuration's reader calls this method before any job runs.
        """

    def refine(self, public: Public) -> Self:
        """Return the protocol after a public first round, for repeats with equal announcements; by default itself."""
        return self

    @final
    def after_first_round(self, public: Public) -> Iterator[tuple[Self, Ints]]:
        """Yield the protocols after the first round, each with the indices (r,) of its repeats."""
        if type(self).refine is ProtocolBase.refine:
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
        passed, added = self.forward(messages, rng), self.dummies(public, rng)
        everything = passed if added is None else Messages.joined(passed, added)
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
        return self.aggregate(self.shuffle(self.encode(users, rng), public, rng))

    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the aggregates of all repeats, (R, A...); by default at the message level, in parts for many users."""
        if participants.users is None:
            raise ValueError(
                f"{self.name}: the message level needs the users' raw inputs, which were not given."
            )
        from shuffledp.protocols.streaming import joined, stream, users_at_once

        public, rows = participants.public, []
        for repeat in range(public.repeats):
            users = participants.users(repeat)
            if self.in_parts and public.n_users[repeat] > users_at_once(self.cost()):
                rows.append(stream(self, users, public.of_repeat(repeat), rng))
            else:
                rows.append(self.simulate_messages(joined(list(users)), public.of_repeat(repeat), rng))
        return np.stack(rows)

    @final
    @property
    def in_parts(self) -> bool:
        """True if the message level can run for parts of the users in turn, see `shuffledp.protocols.stream`."""
        return self.streamable and type(self).shuffle is ProtocolBase.shuffle

    @final
    def simulate(self, participants: Participants | Array, rng: Generator) -> Floats:
        """Draw the estimates of all repeats, (R, *estimate_shape).

        For frequencies, `participants` may be an array of the number of users per value.
        """
        who = (
            participants if isinstance(participants, Participants) else Participants.from_counts(participants)
        )
        check_object(f"{self.name}.simulate: rng", rng, Generator)
        if (fewest := int(np.min(who.public.n_users))) < self.least_users:
            warnings.warn(
                f"{self.name}: the guarantee needs {self.least_users} users, and {fewest} take part.",
                stacklevel=2,
            )
        public = self.announce(who, rng)
        known = who if public is who.public else replace(who, public=public)
        groups = list(self.after_first_round(public))
        if len(groups) == 1:
            protocol = groups[0][0]
            return protocol.estimate(protocol.sample_aggregate(known, rng), public)
        estimates = np.empty(np.shape(who.truth))
        for protocol, repeats in groups:
            some = known.of_repeats(repeats)
            estimates[repeats] = protocol.estimate(protocol.sample_aggregate(some, rng), some.public)
        return estimates

    def expected_variance(self, participants: Participants) -> Floats | None:
        """Return the variance of the estimate for these participants, (R, *estimate_shape), or None if unknown."""
        return None

    def expected_squared_error(self, participants: Participants) -> Floats | None:
        """Return the mean squared error of each coordinate for these participants, (R, *estimate_shape), or None.

        The default is the variance, and None if the protocol is ``biased``. If estimates are unbiased only over the
        random assignment of privacy levels, it is the mean over this assignment.
        """
        return None if self.biased else self.expected_variance(participants)

    def error_law(self, participants: Participants) -> ErrorLaw | None:
        """Return the law of each estimate's error for these participants, (R, V), or None if unknown.

        Intervals are made from it. The default has the expected squared error, in steps of one user for frequencies and
        sets, and a normal law for sums and vectors. Another law suits heavier tails, such as those of geometric noise.
        """
        squared = self.expected_squared_error(participants)
        if squared is None:
            return None
        flat = np.reshape(squared, (len(squared), -1))
        if self.task_kind in ("summation", "vectors"):
            return ErrorLaw([normal_term(flat)])
        step = 1 / participants.public.users_column
        return ErrorLaw([poisson_term(flat, step)], step)

    def expected_absolute_error(self, participants: Participants) -> Floats | None:
        """Return the mean absolute error of each coordinate for these participants, (R, *estimate_shape).

        None, the default, is for a nearly normal error, whose ``expected_variance`` determines it.
        """
        return None

    @final
    def expectation(self, what: Expectation, participants: Participants) -> Floats | None:
        """Return the expected error `what` after the first round, (R, *estimate_shape), or None if unknown."""
        check_choice("what", what, get_args(Expectation))
        check_object(f"{self.name}.expectation: participants", participants, Participants)
        result: Floats | None = None
        for protocol, repeats in self.after_first_round(participants.public):
            every = len(repeats) == participants.public.repeats
            found = getattr(protocol, f"expected_{what}")(
                participants if every else participants.of_repeats(repeats)
            )
            if every or found is None:
                return cast(Floats | None, found)
            if result is None:
                result = np.empty((participants.public.repeats, *found.shape[1:]))
            result[repeats] = found
        return result

    @final
    def expected_mse(self, counts: Array | Participants) -> float | Floats | None:
        """Return the expected squared error per coordinate: a number for (k,) counts, otherwise (R,)."""
        who = counts if isinstance(counts, Participants) else Participants.from_counts(counts)
        squared = self.expectation("squared_error", who)
        if squared is None:
            return None
        mse = expected_metric("mse", squared)
        return float(mse[0]) if not isinstance(counts, Participants) and np.ndim(counts) == 1 else mse

    def privacy_profile(self) -> PrivacyProfile | None:
        """Return a profile that bounds the privacy loss of the calibrated protocol, or None without one."""
        return None

    def parameters(self) -> dict[str, float]:
        """Return the calibrated numbers for the results table; by default every numeric field."""
        numbers = [
            f.name
            for f in fields(self)
            if isinstance(getattr(self, f.name), int | float | np.integer | np.floating)
        ]
        shown = self.reported or numbers
        return {path.rpartition(".")[2]: float(attrgetter(path)(self)) for path in shown}

    def client(self) -> Client:
        """Return the client, shuffler and analyzer of a deployment.

        Raises
        ------
        Infeasible
            With the reason, if no client is written for this protocol.
        """
        raise Infeasible(f"{self.name} has no client. {self.no_client}")

    @final
    def export_client(self, folder: str | Path, **about: Any) -> None:
        """Write the client, shuffler, analyzer, parameters and test vectors of a deployment into a new folder.

        Parameters
        ----------
        folder : str or Path
            New or empty folder.
        **about
            Further entries of ``parameters.json``, such as the budget.

        Raises
        ------
        Infeasible
            If no client is written for this protocol.
        ValueError
            If the folder has files, or its parent does not exist.
        """
        client, local = self.client(), self.local_epsilon()
        fixed = getattr(self, "population", None) is None
        stated = {
            "protocol": self.name,
            "task": self.task_kind,
            **about,
            "guarantee": self.guarantee,
            "guarantee_note": self.guarantee_note,
            "least_users": self.least_users,
            "places": client.users if fixed else None,
            "honest": self.honest(),
            "eps_local": local if local is not None and math.isfinite(local) else "inf",
            "if_shuffler_fails": self.if_shuffler_fails(),
            "calibrated": {
                name: number
                for name, number in self.parameters().items()
                if name not in ("n_users", "domain_size", "eps_local")
            },
        }
        # Jobs write no clients: a plain import would rerun all of them after an edit of a client's program.
        import_module(f"{__package__}.client.export").export(client, Path(folder), stated)


guard_inputs(ProtocolBase)
