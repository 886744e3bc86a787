"""Sums of independent losses on a grid, by Fourier transforms, with bounds on all errors.

:mod:`shuffledp.accounting.summation.joint_noise` defines the losses of noise designs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.fft import rfft

from shuffledp.accounting.summation.loss_cells import UNIT, Bound, LossGrid

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: Rounding error of a transform of N numbers in the l2 norm, relative to its result, is at most this times log2 N
#: units: twice the bound of Higham (2002), Theorem 24.2, for twiddle factors right to one unit.
_TRANSFORM = 16
#: Rounding of grid points, in nats.
_GRID_ERROR = 1e-12
#: Keys (mixtures) that are transformed at once.
_CHUNK = 64


class PairLosses(Protocol):
    """Losses of all pairs. Each pair has several independent parts and one mixture, identified by a key."""

    #: Probability that the loss of a part is infinite, (parts,).
    infinite: Floats
    #: Largest probability of a loss above the grid.
    clipped: float

    @property
    def members(self) -> Sequence[NDArray[np.int64]]:
        """Indices of the parts of each pair."""

    @property
    def key_of(self) -> NDArray[np.int64]:
        """Index of the key of each pair."""

    def dense(self) -> Floats:
        """Return the finite losses of all parts, (parts, size)."""

    def mixtures(self, keys: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the losses of some keys: finite, (keys, size), and the probability of infinite losses."""

    def log_error(self, members: NDArray[np.int64]) -> float:
        """Return a bound on the total error of the logarithms of a pair's losses."""


@dataclass(frozen=True, eq=False)
class Summed:
    """Deltas of all pairs, their margins for rounding and wrapping, and the largest mass that wrapped."""

    deltas: Floats
    margins: Floats
    wrapped: float


def _test_function(eps: float, grid: LossGrid) -> Floats:
    """Return ``max(1 - e^(eps - loss), 0)`` at the places of the grid."""
    j = np.arange(grid.size)
    j[j > grid.last] -= grid.size
    return np.asarray(np.maximum(-np.expm1(np.minimum(eps - grid.step * j, 1.0)), 0.0))


def test_spectrum(eps: float, grid: LossGrid) -> Complexes:
    """Return the weighted spectrum of the test function. Its scalar product with a spectrum of losses is the mean of
    the test function.
    """
    spectrum = np.conj(rfft(_test_function(eps, grid))) * (2 / grid.size)
    spectrum[0] /= 2
    spectrum[-1] /= 2
    return np.asarray(spectrum, np.complex128)


def log_kept(infinite: Floats, mixed_infinite: float) -> float:
    """Return the log of the probability that all losses are finite."""
    with np.errstate(divide="ignore"):
        return float(np.sum(np.log1p(-infinite)) + np.log1p(-mixed_infinite))


def chunks(sorted_keys: NDArray[np.int64]) -> list[slice]:
    """Return slices of sorted keys with at most :data:`_CHUNK` different keys each. Equal keys are in one slice."""
    starts = np.flatnonzero(np.diff(sorted_keys, prepend=-1))
    ends = [*starts[_CHUNK::_CHUNK].tolist(), sorted_keys.size]
    return [slice(b, e) for b, e in zip([0, *ends[:-1]], ends, strict=True) if e > b]


def summed_losses(losses: PairLosses, eps: float, bound: Bound, grid: LossGrid) -> Summed:
    """Return the deltas of all pairs, their margins, and the largest mass that may have wrapped around.

    If the losses are bounds on the side `bound`, the deltas are bounds on this side too. An estimate has no margins.
    The margins include wrapping, and the rounding of transforms by Higham (2002), Theorem 24.2.
    """
    certified = bound != "estimate"
    sign = 1.0 if bound == "upper" else -1.0
    members_of, key_of = losses.members, losses.key_of
    dense = losses.dense()
    spectra = rfft(dense, axis=-1)
    norms = np.sqrt(np.sum(dense**2, axis=-1))
    # Chernoff bounds at a few exponents: up for an upper bound, down for a lower one.
    tilts = sign * 36 / (grid.last * grid.step) * np.array([1.0, 2.0, 4.0, 8.0])
    points = grid.step * np.where(
        np.arange(grid.size) > grid.last, np.arange(grid.size) - grid.size, np.arange(grid.size)
    )
    tilting = np.exp(np.outer(points, tilts)) if certified else np.zeros((grid.size, 1))
    edge = abs(points[grid.size // 2 - 1]) if bound == "upper" else abs(points[grid.size // 2])
    del points
    moments = np.log(dense @ tilting + 1e-300) if certified else np.zeros((len(dense), 1))
    del dense
    deltas, margins, worst_wrapped = np.zeros(len(members_of)), np.zeros(len(members_of)), 0.0
    # Errors of logarithms: of the losses, which act as a change of eps, and of the masses.
    error = _GRID_ERROR + max(losses.log_error(m) for m in members_of) if certified else 0.0
    weight = test_spectrum(max(eps - sign * error, 0.0) if certified else eps, grid)
    reach = math.sqrt(max(grid.last - eps / grid.step, 0.0) + 2)
    transform = _TRANSFORM * UNIT * math.log2(grid.size)
    order = np.argsort(key_of, kind="stable")
    for chunk in chunks(key_of[order]):
        chosen = order[chunk]
        keys = np.unique(key_of[chosen])
        mixed, mixed_infinite = losses.mixtures(keys)
        tests = weight * rfft(mixed, axis=-1)
        mixed_norms = np.sqrt(np.sum(mixed**2, axis=-1))
        mixed_moments = np.log(mixed @ tilting + 1e-300) if certified else np.zeros((len(keys), 1))
        at = {int(k): i for i, k in enumerate(keys)}
        for p in chosen:
            members, key = members_of[p], at[int(key_of[p])]
            product = tests[key].copy()
            for c in members:
                product *= spectra[c]
            value = float(np.sum(product.real))
            value -= math.expm1(log_kept(losses.infinite[members], mixed_infinite[key]))
            if certified:
                log_moments = mixed_moments[key] + np.sum(moments[members], axis=0) - np.abs(tilts) * edge
                wrapped = math.exp(min(float(np.min(log_moments)) + 1e-6, 0.0))
                parts = [*norms[members].tolist(), float(mixed_norms[key])]
                rounding = reach * (
                    (transform + 3 * UNIT) * sum(parts) + (transform + 50 * UNIT) * min(parts)
                )
                # An error of the loss acts as one of eps, and delta changes by no more than eps does.
                margins[p] = value * math.expm1(error + 1e-13) + wrapped + rounding + error
                value = value * math.exp(sign * (error + 1e-13)) + sign * (wrapped + rounding)
                worst_wrapped = max(worst_wrapped, wrapped)
            deltas[p] = value
    return Summed(np.clip(deltas, 0.0, 1.0), margins, worst_wrapped + losses.clipped)
