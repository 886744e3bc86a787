"""Privacy profiles of noisy sums that are revealed by shuffled shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from shuffledp.accounting.general.profiles import Kind, View, at_each
from shuffledp.numerics.samplers import discrete_gaussian_pmf
from shuffledp.populations import Law
from shuffledp.tasks import Floats

#: From this tau on, the probabilities of a sum of n discrete Gaussians and of one with the total variance differ
#: by a factor below ``1 + 10 n exp(-pi^2 tau^2)``, 1 + 2e-26 n. Below it exact laws add up the users' own laws.
SMOOTH = 2.5


@dataclass(frozen=True)
class PointProfile:
    """What one guarantee (eps, delta) implies at every other eps.

    Parameters
    ----------
    eps, total : float
        The guarantee; eps in nats.
    source : str

    Notes
    -----
    Below eps: with probability delta everything may be revealed, else the mechanism is randomized response with
    parameter eps (Kairouz, Oh and Viswanath 2015). Above: the guarantee itself.
    """

    eps: float
    total: float
    source: str
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"

    def delta(self, eps: ArrayLike) -> Floats:
        """Return delta for each eps (nats, >= 0), shape of `eps`."""
        below = -np.expm1(np.minimum(np.asarray(eps, np.float64) - self.eps, 0.0))
        total = min(self.total, 1.0)
        return np.asarray(total + (1 - total) * below / (1 + math.exp(-self.eps)))


@dataclass(frozen=True)
class GaussianSumProfile:
    """Profile of a sum of everybody's discrete Gaussian noise, revealed by shuffled shares.

    Parameters
    ----------
    law : Law
        Number of other users.
    eps : float
        Where the guarantee was asked for; beyond it the distance of the shares counts no more than there.
    tau : float
        Parameter of each user's noise.
    precision : int
        Largest change of the sum by one user.
    security_bits : float
        The shares are within ``2^-security_bits`` of what their sum allows,
    unsecured : float
        except with this probability.
    """

    law: Law
    eps: float
    tau: float
    precision: int
    security_bits: float
    unsecured: float = 0.0
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = (
        "hockey stick of the summed discrete Gaussians, averaged over N; secure sum by Lemma 3"
    )

    def delta(self, eps: ArrayLike) -> Floats:
        """Return delta for each eps (nats, >= 0), shape of `eps`; both directions agree."""
        claimed = PointProfile(self.eps, self.at(self.eps), self.source)
        return np.asarray(np.minimum(at_each(self.at, eps), claimed.delta(eps)))

    def at(self, eps: float) -> float:
        """Total delta at one eps."""
        eps = min(eps, 700.0)  # beyond it e^eps overflows; delta does not grow with eps
        window = self.law.window()
        n = 1 + window.support
        sigma = self.tau * np.sqrt(n)
        many = (sigma >= _CONTINUOUS) & (self.tau >= SMOOTH)
        deltas = np.empty(n.size)
        deltas[many] = _wide_gaussian_delta(sigma[many], self.precision, eps)
        for i in np.flatnonzero(~many):
            deltas[i] = _summed_gaussian_delta(int(n[i]), self.tau, self.precision, eps)
        noise = float(window.pmf @ deltas) + window.omitted
        return min(noise + secure_sum_delta(self.security_bits, eps) + self.unsecured, 1.0)


def secure_sum_delta(security_bits: float, eps: float) -> float:
    """What shares within ``2^-security_bits`` of their sum add to delta: ``(1 + e^eps) 2^-security_bits``."""
    return math.exp(min(float(np.logaddexp(0, eps)) - security_bits * math.log(2), 0.0))


#: From this standard deviation on, sums over integers are integrals with two correction terms.
_CONTINUOUS = 25.0


def _wide_gaussian_delta(sigma: Floats, shift: int, eps: float) -> Floats:
    """Hockey stick of a discrete Gaussian and its shift, (w,) standard deviations of at least 25.

    The terms ``g(x) = f(x) - e^eps f(x - shift)``, f the normal density, are positive up to an integer m. By Euler
    and Maclaurin their sum up to m is the integral plus g/2, plus a twelfth of its first derivative, minus its third
    over 720, all at m; what follows is of relative order sigma^-4 / 30000.
    """
    last = np.ceil(shift / 2 - eps * sigma**2 / shift) - 1
    total = np.zeros(sigma.shape)
    for sign, place in ((1.0, last), (-1.0, last - shift)):
        x, log_factor = place / sigma, eps * (sign < 0)
        density = np.exp(log_factor - x**2 / 2) / (math.sqrt(2 * math.pi) * sigma)
        ends = 0.5 - x / (12 * sigma) - (3 * x - x**3) / (720 * sigma**3)
        total += sign * (np.exp(log_factor + log_ndtr(x)) + density * ends)
    return np.maximum(total, 0.0)


def _summed_gaussian_delta(n: int, tau: float, shift: int, eps: float) -> float:
    """Hockey stick of a sum of n discrete Gaussians and its shift, by Fourier transform of their law."""
    one = discrete_gaussian_pmf(tau)
    reach = max(one.size // 2, math.ceil(12 * tau * math.sqrt(n))) + shift
    length = 2 ** math.ceil(math.log2(2 * reach + 2))
    circle = np.zeros(length)
    circle[np.arange(one.size) - one.size // 2] = one
    p = np.fft.fftshift(np.fft.irfft(np.fft.rfft(circle) ** n, length))
    excess = p - math.exp(eps) * np.roll(p, shift)
    return float(np.sum(np.maximum(excess, 0.0)))
