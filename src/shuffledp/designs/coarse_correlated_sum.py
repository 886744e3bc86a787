"""Sum with coarse correlated noise, whose messages are mostly the largest number; derived for this project."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import Kind, PrivacyProfile, View
from shuffledp.designs.coarse_design import CoarseDesign, atom_content
from shuffledp.designs.coarse_noise import CoarseCertificate, coarse_noise_deltas
from shuffledp.designs.coarse_shares import CoarseCentralNoise
from shuffledp.designs.coarse_shipped import quick_coarse, shipped_coarse
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import EpsArray, OpenUnit, Positive, checked
from shuffledp.protocols._noise_shares import AtomNoise, JumpShare, Noise
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._noisy_sum import NoisySum
from shuffledp.protocols.summation._sums import numbers_of
from shuffledp.tasks import Floats

#: Largest D for which a profile is computed at other eps than the certified eps.
_MOST_PROFILED = 3


@dataclass(frozen=True)
class CoarseProfile:
    """Upper bound on the privacy profile of a sum with coarse noise; the certificate holds at the design's eps."""

    design: CoarseDesign
    certificate: CoarseCertificate
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = (
        "the joint law of the sum and of what its noise is sent as, losses split on a grid"
    )

    @checked
    def delta(self, eps: EpsArray) -> Floats:
        """Return delta for each eps >= 0. Raise `Infeasible` below the certified eps if D is above 3."""
        eps_ = np.asarray(eps, np.float64)
        certified = eps_ >= self.design.eps * (1 - 1e-12)
        deltas = np.where(certified, self.certificate.delta, 1.0)
        if self.design.max_value <= _MOST_PROFILED:
            other = np.abs(eps_ - self.design.eps) > 1e-12 * self.design.eps
            if np.any(other):
                deltas[other] = np.minimum(deltas[other], coarse_noise_deltas(self.design, eps_[other]))
        elif not np.all(certified):
            raise Infeasible(
                f"The profile for D = {self.design.max_value} > {_MOST_PROFILED} is only known from the certified "
                f"eps = {self.design.eps!r} on, got {float(np.min(eps_))!r}."
            )
        return deltas


@dataclass(frozen=True)
class CoarseCorrelatedSum(NoisySum):
    """Integers 1..D and -D as messages, D the largest number; the certificate covers all pairs of inputs."""

    design: CoarseDesign
    certificate: CoarseCertificate

    name = "coarse_correlated_sum"
    label = "coarse correlated noise"
    source = "derived for this project, after Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021 (ICML)"
    proof = "shuffledp.designs.coarse_noise"
    guarantees = under(exact=UPPER)

    @classmethod
    def fit(cls, request: Request, *, gamma: OpenUnit = 0.1, eps_star: Positive | None = None) -> Self:
        """Choose the shipped design that meets the budget; for numbers up to 3, certify a design instead.

        The error is discrete Laplace noise with ``eps_star``, by default ``(1 - gamma) eps``. Raises `Infeasible` for
        negative numbers or if no design is known.
        """
        eps, delta = request.eps, request.delta
        numbers = numbers_of(request.task)
        star = (1 - gamma) * eps if eps_star is None else eps_star
        if star >= eps:
            raise Infeasible(
                f"eps_star must be below eps = {eps!r} to leave something for the noises, got {star!r}."
            )
        shipped = shipped_coarse(numbers.max_value, eps, delta, star)
        if shipped is None:
            shipped = quick_coarse(numbers.max_value, eps, delta, star)
        return cls(request.n, numbers, shipped.design, shipped.certificate)

    @cached_property
    def _noises(self) -> list[Noise]:
        """Independent parts of the noise of the sum, each from all users together."""
        design, size = self.design, self.levels
        noises: list[Noise] = [CoarseCentralNoise(design.central_ratio, size)]
        for index, (rate, center) in enumerate(zip(design.rates, design.centers, strict=True), 1):
            content = tuple(atom_content(index, size, design.hubs).items())
            noises.append(AtomNoise(JumpShare(rate, center), content))
        return noises

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the certified upper bound; None if fewer users than planned send noise."""
        return None if users < self.n_users else CoarseProfile(self.design, self.certificate)

    def parameters(self) -> dict[str, float]:
        """Return the parameters of the noise, and the certificate's delta, margin and number of pairs."""
        return {
            **super().parameters(),
            "certified_delta": self.certificate.delta,
            "certified_margin": self.certificate.margin,
            "certified_pairs": float(self.certificate.pairs),
        }
