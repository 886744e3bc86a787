"""Claims of a calibrated protocol: its guarantee, whom users trust and rely on, and what fake users gain."""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import ClassVar, Literal, final

import numpy as np

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
from shuffledp.numerics.argument_ranges import check_count, check_unit
from shuffledp.populations.base import Fixed
from shuffledp.protocols.messages import Cost
from shuffledp.tasks import Budget, Task, TaskKind

Trust = Literal["shuffler", "shuffler_adds", "secure_sum", "local", "central"]


@dataclass(frozen=True)
class Claims(metaclass=ABCMeta):
    """What a calibrated protocol claims; the first layer of `shuffledp.protocols.ProtocolBase`."""

    calibrated_under: str = field(default="", kw_only=True)
    calibrated_for: Task | None = field(default=None, kw_only=True, repr=False, compare=False)

    #: Name, unique within its task; equal to the file's name for built-ins.
    name: ClassVar[str]
    task_kind: ClassVar[TaskKind]
    trust: ClassVar[Trust]
    #: Other users who must be honest, besides the trusted party, see `shuffledp.guarantees`.
    relies_on: ClassVar[Reliance] = "not stated"
    #: Module whose description has the proof, for a protocol that was derived for this project.
    proof: ClassVar[str] = ""
    #: Bound on the gain of fake users, see `shuffledp.guarantees`; not ``unknown`` with ``gain_per_fake``.
    poisoning: ClassVar[Enforced] = "unknown"
    #: Guarantee of the claim under each accounting, for all ``accountings`` or for none.
    guarantees: ClassVar[Mapping[str, Standing]] = {}
    #: Values of the profile in a composition: the excess of eps is about 2 divided by the squared number. More values
    #: suit profiles of less than a millisecond.
    profile_points: ClassVar[int] = 80
    #: True if the error is that of discrete Laplace noise, and the option ``share`` is the part of eps for other noise.
    laplace_error: ClassVar[bool] = False
    #: Attributes that ``parameters`` returns, such as ``"plan.blankets"``; if empty, all numeric fields.
    reported: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def cost(self) -> Cost:
        """Return the expected communication of one participant."""

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
        paths = self.reported or numbers
        return {path.rpartition(".")[2]: float(attrgetter(path)(self)) for path in paths}

    # -- what the claim is worth ----------------------------------------------------------------------------------

    @property
    def standing(self) -> Standing:
        """Label of the guarantee with its note, by accounting; by default the weakest of ``guarantees``."""
        if not self.guarantees:
            return UPPER
        chosen = self.guarantees.get(self.calibrated_under)
        return weakest(self.guarantees.values()) if chosen is None else chosen

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

    def if_shuffler_fails(self, rounds: int = 1) -> str:
        """Return a sentence on the messages of a user whom an adversary recognizes, in this number of releases."""
        return exposure_of(self.trust, self.local_epsilon(), rounds)

    def local_epsilon(self) -> float | None:
        """Return eps of one user's messages at delta 0, in nats, against an adversary who sees these messages.

        The result is the local budget if the protocol has one, and ``inf`` if no bound is known. It is None for a
        curator, who receives the users' data.
        """
        if self.trust == "central":
            return None
        eps_local = self.parameters().get("eps_local", getattr(self, "eps_local", None))
        return math.inf if eps_local is None else float(eps_local)

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
    def remaining_epsilon(self, share: float, budget: Budget, *, colluding: bool, rounds: int = 1) -> float:
        """Return the eps that remains at the delta of a budget if a share of the users hides no value.

        Parameters
        ----------
        share : float
            Share of all users, in [0, 1].
        budget : Budget
            The budget that the protocol was calibrated for.
        colluding : bool
            True for users who collude with the analyzer, False for users who drop out, see `profile_without`.
        rounds : int
            Number of releases with the same such users, which the budget covers together.

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
        from shuffledp.accounting.general.composition import ComposedProfile
        from shuffledp.accounting.general.spent import spent_epsilon

        local = self.local_epsilon() if budget.neighbours == "replace_one" else None
        most = math.inf if local is None else rounds * local
        try:
            profile = self.profile_without(check_unit("share", share), colluding=colluding)
            if profile is not None and profile.kind in ("exact", "upper"):
                profile.delta(budget.largest_eps)  # raises if it cannot be evaluated
                if rounds > 1 and budget.delta > 0:
                    composed = ComposedProfile([profile], [rounds], budget.delta, points=self.profile_points)
                    return min(composed.epsilon(budget.delta), most)
                return min(spent_epsilon(profile, budget) or math.inf, most)
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
