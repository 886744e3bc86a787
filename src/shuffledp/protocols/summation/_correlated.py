"""Base of the sums with correlated noise: messages, their exact law, error and guarantee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import Kind, PrivacyProfile, View
from shuffledp.accounting.summation.closed_designs import analytic_design, best_modular_design
from shuffledp.accounting.summation.design_files import quick_design, shipped_design
from shuffledp.accounting.summation.joint_noise import correlated_noise_delta
from shuffledp.accounting.summation.noise_atoms import MOST_VALUE, atom_messages
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import check_choice, check_open_unit, check_positive
from shuffledp.numerics.memoize import remember
from shuffledp.protocols._noise_shares import AtomNoise, JumpShare, NegativeBinomialShare, Noise, Share
from shuffledp.protocols.summation._noisy_sum import NoisySum
from shuffledp.protocols.summation._sums import Numbers
from shuffledp.tasks import Floats

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
    """Return the design of the noise of one sum.

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
        In (0, 1), for ``printed`` below 1/2: the error is discrete Laplace noise with ``(1 - gamma) eps``.
    eps_star : float, optional
        Nats; instead of ``(1 - gamma) eps``.
    law : {"negative_binomial", "jumps"}
        Law of the numbers of atoms; ``jumps``, derived for this project, needs fewer messages and is for ``exact``
        only.

    Raises
    ------
    ValueError
        If these atoms or this law have no such accounting.
    Infeasible
        If `eps_star` is not below `eps`, the theorem does not hold here, or no design is known.
    """
    if max_value > MOST_VALUE:
        raise Infeasible(f"Noise designs exist for at most {MOST_VALUE} levels, got {max_value}.")
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
    """Privacy profile of the one or two sums that a change of one input moves, each with its own noise.

    Parameters
    ----------
    design : NoiseDesign
        Design of the noise of each sum.
    touched : int
        Number of sums that a change of one input moves, 1 or 2; their budgets add up.
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
class CorrelatedNoiseSum(NoisySum):
    """Sums with correlated noise, one design per sum; its ``max_value`` is D.

    Parameters
    ----------
    alphabet : {"paper", "used"}
        Messages that count for the bits of one: ``paper``, all of ``{-D, .., D}`` but 0; ``used``, the messages that
        occur.
    """

    design: NoiseDesign
    alphabet: str

    guarantees = under(printed=UPPER, corrected=UPPER, exact=UPPER)

    @classmethod
    def with_noise(cls, n: int, numbers: Numbers, design: NoiseDesign, alphabet: str) -> Self:
        """Return the protocol with this design; raise ValueError for an unknown alphabet."""
        return cls(n, numbers, design, check_choice("alphabet", alphabet, ALPHABETS))

    @cached_property
    def _noises(self) -> list[Noise]:
        """Independent parts of the noise of one sum, summed over all users."""
        a = self.design.central_ratio
        found: list[Noise] = [AtomNoise(NegativeBinomialShare(1.0, 1 - a), ((sign, 1),)) for sign in (1, -1)]
        d = self.design
        for index, shape, ratio in zip(d.indices, d.shapes, d.ratios, strict=True):
            content = atom_messages(index, d.max_value, atoms=d.atoms, hubs=d.hubs or None)
            share: Share = NegativeBinomialShare(shape, 1 - ratio)
            if d.law == "jumps":
                share = JumpShare(shape, ratio / (1 - ratio))
            found.append(AtomNoise(share, tuple(content.items())))
        return found

    @property
    def _symbols(self) -> int:
        """Number of different messages of one sum."""
        if self.alphabet == "used":
            return self.design.symbols
        return int(2 ** math.ceil(math.log2(2 * self.levels)))

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the exact accountant's upper bound for any design; None for less noise than planned."""
        if users < self.n_users:
            return None
        return DesignProfile(self.design, 1 if self.numbers.coordinates == 1 else 2)

    def parameters(self) -> dict[str, float]:
        """Return the levels, the error of the noise alone, and the expected noise messages per sum."""
        return {**super().parameters(), "noises": float(len(self.design.indices))}
