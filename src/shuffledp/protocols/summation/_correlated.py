"""What the protocols with correlated noise share: messages, their exact law, the error and the guarantee."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import Kind, PrivacyProfile, View
from shuffledp.accounting.standing import UPPER, Standing
from shuffledp.accounting.summation.closed_designs import analytic_design, best_modular_design
from shuffledp.accounting.summation.joint_noise import correlated_noise_delta
from shuffledp.accounting.summation.noise_atoms import atom_messages
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.accounting.summation.shipped_designs import quick_design, shipped_design
from shuffledp.numerics.checks import check_choice, check_open_unit, check_positive
from shuffledp.numerics.remember import remember
from shuffledp.protocols._noise_shares import JumpShare, NegativeBinomialShare, Share
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols.base import Cost, Messages, message_bits
from shuffledp.protocols.summation._sums import Numbers, over_users
from shuffledp.tasks import Floats, Ints, Participants, Public, Users

#: Noise shares that are drawn at once.
_DRAWS = 2**20
ALPHABETS = ("paper", "used")


def chosen_design(
    max_value: int,
    eps: float,
    delta: float,
    *,
    accounting: str,
    atoms: str,
    hubs: Sequence[int] | None,
    gamma: float,
    eps_star: float | None = None,
    law: str = "negative_binomial",
) -> NoiseDesign:
    """The noise of one sum.

    Parameters
    ----------
    max_value : int
        Largest integer D that a user may add.
    eps, delta : float
        Budget of the sum, nats and in (0, 1).
    accounting : {"printed", "corrected", "exact"}
        ``printed``: the paper's parameters in closed form. ``corrected``: the smallest noises that its modular theorem
        allows. ``exact``: the shipped design if there is one, and otherwise, up to D = 20, one of the one-parameter
        family, both certified by the exact accountant.
    atoms : {"halving", "star", "hub", "best"}
        Other atoms than ``halving``, the paper's, are for ``exact`` only.
    hubs : sequence of int, optional
        For atoms ``hub``.
    gamma : float
        In (0, 1), for ``printed`` below 1/2: the error is that of discrete Laplace noise with ``(1 - gamma) eps``.
    eps_star : float, optional
        Nats; instead of ``(1 - gamma) eps``.
    law : {"negative_binomial", "jumps"}
        Of the numbers of atoms; ``jumps``, ours, needs fewer messages, and is for ``exact`` only.

    Raises
    ------
    ValueError
        If these atoms or this law have no such accounting.
    Infeasible
        If `eps_star` is not below `eps`, the theorem does not hold here, or no design is known.
    """
    gamma = check_open_unit("gamma", gamma)
    star = (1 - gamma) * eps if eps_star is None else check_positive("eps_star", eps_star)
    if star >= eps:
        raise Infeasible(
            f"eps_star must be below eps = {eps!r} to leave something for the noises, got {star!r}."
        )
    if accounting == "exact":
        found = shipped_design(max_value, eps, delta, star, atoms=atoms, hubs=hubs, law=law)
        if found:
            return found.design
        return quick_design(max_value, eps, delta, star, atoms=atoms, hubs=hubs, law=law)
    if law != "negative_binomial":
        raise ValueError(f"law must be 'negative_binomial' for the accounting {accounting!r}, got {law!r}.")
    if atoms != "halving":
        raise ValueError(f"atoms must be 'halving' for the accounting {accounting!r}, got {atoms!r}.")
    if accounting == "printed":
        return analytic_design(max_value, eps, delta, gamma if eps_star is None else 1 - star / eps)
    return _modular(max_value, float(eps), float(delta), float(star))


@remember(256)
def _modular(max_value: int, eps: float, delta: float, eps_star: float) -> NoiseDesign:
    return best_modular_design(max_value, eps, delta, eps_star)[0]


@dataclass(frozen=True)
class DesignProfile:
    """Profile of one or two sums that change, each with its own noise.

    Parameters
    ----------
    design : NoiseDesign
        Of each sum.
    touched : int
        Sums that a change of one input touches, 1 or 2; budgets add up.
    """

    design: NoiseDesign
    touched: int
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "losses of all noises, added on a grid and rounded up"

    def delta(self, eps: ArrayLike) -> Floats:
        """Return delta for each eps (nats, >= 0), shape of `eps`."""
        eps_ = np.asarray(eps, np.float64)
        values = [
            self.touched * correlated_noise_delta(self.design, float(e) / self.touched) for e in eps_.flat
        ]
        # What holds for an eps holds for larger ones; the allowance for rounding may grow.
        order = np.argsort(eps_, axis=None, kind="stable")
        found = np.empty(len(values))
        found[order] = np.minimum.accumulate(np.minimum(values, 1.0)[order])
        return found.reshape(eps_.shape)


@dataclass(frozen=True)
class CorrelatedNoiseSum(PlannedUsers):
    """Sums of rounded numbers; messages are integers, for several sums with a coordinate.

    A user sends the own number, rounded at random to a multiple of ``1 / D`` of the largest unless D is the largest,
    and does not if it is 0; and a share of the noise of every sum.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included; each sends its share of the noise.
    numbers : Numbers
        What users hold.
    design : NoiseDesign
        Of each sum; its ``max_value`` is D.
    alphabet : {"paper", "used"}
        How messages are counted in bits: ``paper`` for all of ``{-D, .., D}`` but 0, ``used`` for those that occur.
    """

    n_users: int
    numbers: Numbers
    design: NoiseDesign
    alphabet: str

    accountings = ("printed", "corrected", "exact")
    guarantees: ClassVar[Mapping[str, Standing]] = {"printed": UPPER, "corrected": UPPER, "exact": UPPER}
    reduction = "own"
    trust = "shuffler"
    noise_shares = True

    @property
    def levels(self) -> int:
        """D."""
        return self.design.max_value

    @property
    def _worth(self) -> float:
        """What one level is worth in the sum."""
        return self.numbers.step * self.numbers.max_value / self.levels

    @cached_property
    def _atoms(self) -> list[tuple[Share, list[tuple[int, int]]]]:
        """What draws a share of every noise, and its messages with multiplicities."""
        a = self.design.central_ratio
        found: list[tuple[Share, list[tuple[int, int]]]] = [
            (NegativeBinomialShare(1.0, 1 - a), [(sign, 1)]) for sign in (1, -1)
        ]
        d = self.design
        for index, shape, ratio in zip(d.indices, d.shapes, d.ratios, strict=True):
            content = atom_messages(index, d.max_value, atoms=d.atoms, hubs=d.hubs or None)
            share: Share = NegativeBinomialShare(shape, 1 - ratio)
            if d.law == "jumps":
                share = JumpShare(shape, ratio / (1 - ratio))
            found.append((share, list(content.items())))
        return found

    def cost(self) -> Cost:
        """The own number, counted as sent by everybody, and the user's share of the noise of all sums."""
        copies = self.numbers.coordinates
        extra = copies * self.design.messages / self.n_users
        symbols = 2 ** math.ceil(math.log2(2 * self.levels))
        if self.alphabet == "used":
            symbols = self.design.symbols
        return Cost(1 + extra, message_bits(copies * symbols))

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """The rounded numbers above 0, and everybody's share of every noise; time grows with users times sums."""
        where, number = self.numbers.inputs(users)
        level = self._rounded(number, rng)
        noise = self._noise_of(len(users), rng)
        copy, at = np.nonzero(noise)
        times = noise[copy, at]
        sent = level > 0
        return Messages(
            self.numbers.rows(
                np.concatenate((where[sent], np.repeat(copy, times))),
                np.concatenate((level[sent], np.repeat(at - self.levels, times))),
            )
        )

    def _rounded(self, number: Ints, rng: np.random.Generator) -> Ints:
        level, rest = np.divmod(number * self.levels, self.numbers.max_value)
        if self.levels == self.numbers.max_value:
            return np.asarray(level)
        return np.asarray(level + (rng.random(level.shape) * self.numbers.max_value < rest))

    def _noise_of(self, users: int, rng: np.random.Generator) -> Ints:
        """Noise messages of some users by sum and integer -D..D, share by share."""
        copies = self.numbers.coordinates
        total = np.zeros((copies, 2 * self.levels + 1), np.int64)
        step = max(1, _DRAWS // copies)
        for begin in range(0, users, step):
            size = (min(step, users - begin), copies)
            for share, content in self._atoms:
                drawn = share.draw(np.full(size, 1 / self.n_users), rng).sum(axis=0)
                for message, times in content:
                    total[:, message + self.levels] += times * drawn
        return total

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """Messages of each kind, (2 D + 1,) for -D..D, or (coordinates, 2 D + 1).

        Raises
        ------
        ValueError
            If a message is outside of the range.
        """
        where, number = self.numbers.read(messages.payload)
        width, copies = 2 * self.levels + 1, self.numbers.coordinates
        if number.size and np.abs(number).max() > self.levels:
            raise ValueError(f"{self.name}: messages must be integers in -{self.levels}..{self.levels}.")
        counts = np.bincount(where * width + number + self.levels, minlength=copies * width)
        return counts.reshape(*self.numbers.estimate_shape, width)

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the messages of each kind: shares of noise add up."""
        held = self.numbers.held(participants).astype(np.int64)
        counts = np.zeros((*held.shape[:-1], 2 * self.levels + 1), np.int64)
        counts[..., self.levels :] = self._levels_of(held, rng)
        counts[..., self.levels] = 0  # who holds 0 sends nothing
        part = np.broadcast_to(over_users(participants, self.n_users, self.numbers), held.shape[:-1])
        for share, content in self._atoms:
            drawn = share.draw(part, rng)
            for message, times in content:
                counts[..., message + self.levels] += times * drawn
        return counts

    def _levels_of(self, held: Ints, rng: np.random.Generator) -> Ints:
        """Users per level after rounding, (R, .., D + 1), from users per number."""
        if self.levels == self.numbers.max_value:
            return held
        down, chance = self._rounding
        up = rng.binomial(held, chance)
        counts = np.zeros((*held.shape[:-1], self.levels + 1), np.int64)
        for number, level in enumerate(down.tolist()):
            counts[..., level] += held[..., number] - up[..., number]
            if chance[number] > 0:
                counts[..., level + 1] += up[..., number]
        return counts

    @property
    def _rounding(self) -> tuple[Ints, Floats]:
        """Level below each number, and the probability of the next one."""
        level, rest = np.divmod(np.arange(self.numbers.max_value + 1) * self.levels, self.numbers.max_value)
        return level, rest / self.numbers.max_value

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased sums, (R, *estimate_shape): of all messages."""
        counts = np.asarray(aggregate)
        return np.asarray(counts @ np.arange(-self.levels, self.levels + 1) * self._worth, float)

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each sum given the numbers: of the noise that remains, and of rounding."""
        held = np.asarray(self.numbers.held(participants), float)
        chance = self._rounding[1]
        rounding = held @ (chance * (1 - chance))
        noise = self.design.mse * over_users(participants, self.n_users, self.numbers)
        return np.asarray((rounding + noise) * self._worth**2)

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """The exact accountant's upper bound, whatever way the design was chosen; None for less noise than planned."""
        if users < self.n_users:
            return None
        return DesignProfile(self.design, 1 if self.numbers.coordinates == 1 else 2)

    def parameters(self) -> dict[str, float]:
        """Levels, error of the noise alone, and expected noise messages per sum."""
        return {
            "levels": float(self.levels),
            "eps_star": self.design.eps_star,
            "noise_rmse": math.sqrt(self.design.mse) * self._worth,
            "noise_messages": self.design.messages,
            "noises": float(len(self.design.indices)),
        }


def check_alphabet(alphabet: str) -> str:
    """The option ``alphabet``, if it is known."""
    check_choice("alphabet", alphabet, ALPHABETS)
    return alphabet
