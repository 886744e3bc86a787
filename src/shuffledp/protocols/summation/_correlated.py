"""Base class of sums with correlated noise: messages, their exact law, error and guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import Kind, PrivacyProfile, View
from shuffledp.accounting.summation.closed_designs import analytic_design, best_modular_design
from shuffledp.accounting.summation.design_files import ATOM_CHOICES, MOST_QUICK, quick_design, shipped_design
from shuffledp.accounting.summation.joint_noise import correlated_noise_delta
from shuffledp.accounting.summation.moment_bounds import moment_delta
from shuffledp.accounting.summation.noise_atoms import MOST_VALUE, atom_messages
from shuffledp.accounting.summation.noise_design import LAWS, NoiseDesign
from shuffledp.accounting.summation.wide_designs import wide_design
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import EpsArray, checked, one_of
from shuffledp.numerics.memoize import remember
from shuffledp.protocols._noise_shares import AtomNoise, JumpShare, NegativeBinomialShare, Noise, Share
from shuffledp.protocols.summation._noisy_sum import NoisySum
from shuffledp.protocols.summation._sums import Numbers
from shuffledp.tasks import Floats

ALPHABETS = ("paper", "used")
Alphabet = Annotated[str, one_of(ALPHABETS)]
Atoms = Annotated[str, one_of(ATOM_CHOICES)]
NoiseLaw = Annotated[str, one_of(LAWS)]


#: Number of pairs of inputs over ``eps - eps_star`` up to which all losses certify a design, in a few seconds.
_MOST_WORK = 6_000
#: Least delta that exceeds the allowance for rounding of the losses of all pairs.
_LEAST_DELTA = 1e-10
#: Largest D of a shipped design whose profile is computed from the losses of all pairs; larger D take seconds.
_MOST_PROFILED = 32

Origin = Literal["shipped", "family", "moments", "closed form"]
_REMARKS: Mapping[Origin, str] = {
    "shipped": "a shipped noise design",
    "family": "a noise design of one parameter, certified at the call by the losses of all pairs of inputs",
    "moments": "a noise design of one parameter, certified at the call by exponential moments of the losses",
    "closed form": "noise in closed form",
}


@dataclass(frozen=True)
class Chosen:
    """Noise design of one sum, and its origin, see `chosen_design`."""

    design: NoiseDesign
    origin: Origin


def chosen_design(
    max_value: int,
    eps: float,
    delta: float,
    *,
    accounting: str,
    atoms: str | None,
    hubs: Sequence[int] | None,
    gamma: float,
    eps_star: float | None = None,
    law: str = "negative_binomial",
) -> Chosen:
    """Return the noise design of one sum with largest number D, for a budget in nats.

    ``printed`` has the paper's parameters in closed form, ``corrected`` the smallest noise that its modular theorem
    allows. ``exact`` has the shipped design if there is one, otherwise a design of a one-parameter family. The exact
    accountant certifies this design up to D = 20. Exponential moments
    (:func:`~shuffledp.accounting.summation.wide_designs.wide_design`) certify the design for larger D or if the
    accountant takes long. The error is discrete Laplace noise with `eps_star`, by default ``(1 - gamma) eps``; gamma is
    in (0, 1), and below 1/2 for ``printed``.

    Atoms other than the paper's ``halving``, and the law ``jumps`` of the numbers of atoms (derived for this project,
    with fewer messages), are for ``exact`` only. Raises ValueError if the accounting lacks the atoms or the law, and
    `Infeasible` if ``eps_star >= eps``, the theorem does not hold, or no design is known.
    """
    if max_value > MOST_VALUE:
        raise Infeasible(f"Noise designs exist for at most {MOST_VALUE} levels, got {max_value}.")
    star = (1 - gamma) * eps if eps_star is None else eps_star
    if star >= eps:
        raise Infeasible(
            f"eps_star must be below eps = {eps!r} to leave something for the noises, got {star!r}."
        )
    if accounting == "exact":
        return _exact(max_value, eps, delta, star, atoms, hubs, law)
    if law != "negative_binomial":
        raise ValueError(f"law must be 'negative_binomial' for the accounting {accounting!r}, got {law!r}.")
    if atoms not in (None, "halving"):
        raise ValueError(f"atoms must be 'halving' for the accounting {accounting!r}, got {atoms!r}.")
    designs: dict[str, Callable[[], NoiseDesign]] = {
        "printed": lambda: analytic_design(
            max_value, eps, delta, gamma if eps_star is None else 1 - star / eps
        ),
        "corrected": lambda: _modular(max_value, float(eps), float(delta), float(star)),
    }
    return Chosen(designs[accounting](), "closed form")


def _exact(
    max_value: int,
    eps: float,
    delta: float,
    star: float,
    atoms: str | None,
    hubs: Sequence[int] | None,
    law: str,
) -> Chosen:
    """Return the shipped design, or a design that this call computes."""
    small = max_value <= MOST_QUICK
    usual = atoms or ("halving" if small else "best")
    shipped = shipped_design(max_value, eps, delta, star, atoms=usual, hubs=hubs, law=law)
    if shipped:
        return Chosen(shipped.design, "shipped")
    slow = atoms is None and max_value * (max_value + 1) > _MOST_WORK * (eps - star)
    tiny = atoms in (None, "best") and delta < _LEAST_DELTA
    if law == "jumps" or atoms == "halving" or (small and not slow and not tiny):
        return Chosen(quick_design(max_value, eps, delta, star, atoms=usual, hubs=hubs, law=law), "family")
    return Chosen(wide_design(max_value, eps, delta, star, hubs=() if atoms == "star" else hubs), "moments")


@remember(256)
def _modular(max_value: int, eps: float, delta: float, eps_star: float) -> NoiseDesign:
    return best_modular_design(max_value, eps, delta, eps_star)[0]


@dataclass(frozen=True)
class DesignProfile:
    """Upper bound on the privacy profile of the one or two (`touched`) sums that depend on a changed input.

    Delta comes from the law of the losses or, with `moments`, from their exponential moments; `certified` is a known
    delta of one sum at ``design.eps``.
    """

    design: NoiseDesign
    touched: int
    moments: bool = False
    certified: float = 1.0
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"

    @property
    def source(self) -> str:
        """Method of the bound."""
        if self.moments:
            return "exponential moments of the losses of all noises"
        return "losses of all noises, added on a grid and rounded up"

    @checked
    def delta(self, eps: EpsArray) -> Floats:
        """Return delta for each eps (nats, >= 0), shape of `eps`."""
        eps_ = np.asarray(eps, np.float64)
        values = [self.touched * self._of_one(float(e) / self.touched) for e in eps_.flat]
        # What holds for an eps holds for larger ones; the allowance for rounding may grow.
        order = np.argsort(eps_, axis=None, kind="stable")
        deltas = np.empty(len(values))
        deltas[order] = np.minimum.accumulate(np.minimum(values, 1.0)[order])
        return deltas.reshape(eps_.shape)

    def _of_one(self, eps: float) -> float:
        """Return delta of one sum; a decrease of eps increases delta by at most as much."""
        if not self.moments:
            return correlated_noise_delta(self.design, eps)
        bound = self.certified + max(self.design.eps - eps, 0.0)
        return bound if bound <= self.design.delta else min(bound, moment_delta(self.design, eps))


@dataclass(frozen=True)
class CorrelatedNoiseSum(NoisySum):
    """Sums with correlated noise, one design per sum; its ``max_value`` is D.

    Bits count an ``alphabet``: ``paper``, all of ``{-D, .., D}`` except 0, or ``used``, the messages that occur.
    """

    design: NoiseDesign
    alphabet: str
    origin: Origin = "family"

    guarantees = under(printed=UPPER, corrected=UPPER, exact=UPPER)
    profile_points = 30

    @classmethod
    def with_noise(cls, n: int, numbers: Numbers, chosen: Chosen, alphabet: str) -> Self:
        """Return the protocol with the chosen design."""
        return cls(n, numbers, chosen.design, alphabet, chosen.origin)

    @cached_property
    def _noises(self) -> list[Noise]:
        """Independent parts of the noise of one sum, each from all users together."""
        a = self.design.central_ratio
        noises: list[Noise] = [AtomNoise(NegativeBinomialShare(1.0, 1 - a), ((sign, 1),)) for sign in (1, -1)]
        d = self.design
        for index, shape, ratio in zip(d.indices, d.shapes, d.ratios, strict=True):
            content = atom_messages(index, d.max_value, atoms=d.atoms, hubs=d.hubs or None)
            share: Share = NegativeBinomialShare(shape, 1 - ratio)
            if d.law == "jumps":
                share = JumpShare(shape, ratio / (1 - ratio))
            noises.append(AtomNoise(share, tuple(content.items())))
        return noises

    @property
    def _symbols(self) -> int:
        """Number of different messages of one sum."""
        if self.alphabet == "used":
            return self.design.symbols
        return int(2 ** math.ceil(math.log2(2 * self.levels)))

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return an upper bound from the losses or their moments; None if fewer users than planned send noise."""
        if users < self.n_users:
            return None
        d, touched = self.design, 1 if self.numbers.coordinates == 1 else 2
        if self.origin == "shipped" and d.max_value > _MOST_PROFILED:
            certificate = shipped_design(
                d.max_value, d.eps, d.delta, d.eps_star, atoms=d.atoms, hubs=d.hubs or None, law=d.law
            )
            assert certificate is not None
            return DesignProfile(d, touched, moments=True, certified=certificate.certified_delta)
        return DesignProfile(d, touched, self.origin == "moments")

    @property
    def remark(self) -> str:
        """Origin of the noise design, its messages relative to the best shipped design, and the rounding of numbers."""
        d, text = self.design, _REMARKS[self.origin]
        shipped = [shipped_design(d.max_value, d.eps, d.delta, d.eps_star, law=law) for law in LAWS]
        over = max(
            (d.messages / candidate.design.messages for candidate in shipped if candidate is not None),
            default=1.0,
        )
        if over > 1:
            text += f", {over:.3g} times the messages of the best shipped one"
        return (
            text
            if self.levels == self.numbers.max_value
            else f"{text}; {self.levels} levels, rounded at random"
        )

    def parameters(self) -> dict[str, float]:
        """Return the parameters of the noise and its number of independent parts."""
        return {**super().parameters(), "noises": float(len(self.design.indices))}
