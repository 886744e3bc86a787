"""Summation by correlated noise: what a noise design is, and the closed-form ways to choose one.

Every user sends the input, if it is not 0, and noise that sums to zero but for a two-sided geometric error: unary
messages +1 and -1 from negative binomial variables of shape 1 and ratio ``a = e^(-eps_star / D)`` each (over all
users), and whole *atoms* (:mod:`shuffledp.accounting.summation.noise_atoms`) in negative binomial numbers. Source:
Ghazi et al. 2021 (ICML); negative binomial mechanism: Ghazi et al. 2021, arXiv 2106.04247.

Conventions: ``NB(r, p)`` has probabilities ``C(k + r - 1, k) (1 - p)^r p^k`` and mean ``r p / (1 - p)``; eps in nats;
replacement neighbours; inputs in ``{0, .., D}``. The exact accountant is in
:mod:`shuffledp.accounting.summation.joint_noise`, the search that uses it in
:mod:`shuffledp.accounting.summation.design_search`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betainc, betaincc

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.noise_atoms import (
    atom_indices,
    atom_messages,
    check_atoms,
    dominating_vector,
    input_changes,
    noise_norm,
    used_atoms,
)
from shuffledp.numerics.checks import check_count, check_nonnegative, check_open_unit, check_positive
from shuffledp.numerics.remember import remember
from shuffledp.numerics.roots import root_below
from shuffledp.utility.sums import discrete_laplace_variance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Shapes among which the search for the smallest mean chooses.
_SHAPES = (1.0, 150.0)
_REMEMBERED = 4096


@dataclass(frozen=True)
class NoiseDesign:
    """All parameters of the noise of one summation, for all users together.

    Parameters
    ----------
    max_value : int
        Largest input D, >= 1.
    eps_star : float
        The error is two-sided geometric with ratio ``e^(-eps_star / D)``; nats, > 0.
    atoms : {"halving", "star", "hub"}
        See :mod:`shuffledp.accounting.summation.noise_atoms`.
    hubs : tuple of int
        Empty unless `atoms` is ``hub``.
    indices : tuple of int
        Index of the atom of every noise. All atoms that inputs can change are there; an index that occurs more than
        once stands for a sum of independent noises.
    shapes, ratios : tuple of float
        ``NB(r, p)`` of every noise: r > 0 and p in (0, 1), of the sum over all users.
    eps, delta : float
        The budget that the design is meant for: nats, > 0, and in (0, 1).

    Raises
    ------
    ValueError
        If an argument is outside its range, or an atom that needs noise has none.
    """

    max_value: int
    eps_star: float
    atoms: str
    hubs: tuple[int, ...]
    indices: tuple[int, ...]
    shapes: tuple[float, ...]
    ratios: tuple[float, ...]
    eps: float
    delta: float

    def __post_init__(self) -> None:
        size, _, hubs = check_atoms(self.max_value, self.atoms, self.hubs)
        if not len(self.indices) == len(self.shapes) == len(self.ratios):
            raise ValueError(
                f"indices, shapes and ratios must have one length, got {len(self.indices)}, {len(self.shapes)} and "
                f"{len(self.ratios)}."
            )
        known = atom_indices(size, atoms=self.atoms, hubs=hubs or None)
        unknown = sorted(set(self.indices) - set(known))
        missing = sorted(set(used_atoms(size, atoms=self.atoms, hubs=hubs or None)) - set(self.indices))
        if unknown or missing:
            raise ValueError(
                f"indices must be atoms and cover those in use; unknown {unknown}, missing {missing}."
            )
        object.__setattr__(self, "max_value", size)
        object.__setattr__(self, "eps_star", check_positive("eps_star", self.eps_star))
        object.__setattr__(self, "hubs", hubs)
        object.__setattr__(self, "indices", tuple(int(i) for i in self.indices))
        object.__setattr__(self, "shapes", tuple(check_positive("shapes", r) for r in self.shapes))
        object.__setattr__(self, "ratios", tuple(check_open_unit("ratios", p) for p in self.ratios))
        object.__setattr__(self, "eps", check_positive("eps", self.eps))
        object.__setattr__(self, "delta", check_open_unit("delta", self.delta))

    @property
    def central_ratio(self) -> float:
        """Ratio a of the unary noise, ``e^(-eps_star / D)``."""
        return math.exp(-self.eps_star / self.max_value)

    @property
    def scales(self) -> tuple[float, ...]:
        """``p / (1 - p)`` of every noise: its mean is shape times scale."""
        return tuple(p / (1 - p) for p in self.ratios)

    @property
    def means(self) -> dict[int, float]:
        """Expected number of copies of every atom, over all users."""
        total: dict[int, float] = {}
        for index, shape, scale in zip(self.indices, self.shapes, self.scales, strict=True):
            total[index] = total.get(index, 0.0) + shape * scale
        return total

    @property
    def messages(self) -> float:
        """Expected number N of noise messages of all users together."""
        central = 2 / math.expm1(self.eps_star / self.max_value)
        return central + noise_norm(self.means, self.max_value, atoms=self.atoms, hubs=self.hubs or None)

    @property
    def mse(self) -> float:
        """Mean squared error of the sum, ``2 a / (1 - a)^2``."""
        return discrete_laplace_variance(self.eps_star / self.max_value)

    @property
    def symbols(self) -> int:
        """Number of different messages that users may send."""
        found = {-1, *range(1, self.max_value + 1)}
        for index in set(self.indices):
            found |= atom_messages(index, self.max_value, atoms=self.atoms, hubs=self.hubs or None).keys()
        return len(found)

    def moved(self, *, shape: float = 0.0, scale: float = 0.0) -> NoiseDesign:
        """Return the design with all shapes times ``e^shape`` and all scales times ``e^scale``."""
        return self.with_noise(
            [r * math.exp(shape) for r in self.shapes], [s * math.exp(scale) for s in self.scales]
        )

    def with_noise(self, shapes: Sequence[float], scales: Sequence[float]) -> NoiseDesign:
        """Return the design with other shapes and scales ``p / (1 - p)``, in the order of `indices`."""
        return replace(
            self,
            shapes=tuple(float(r) for r in shapes),
            ratios=tuple(float(s / (1 + s)) for s in scales),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the design as plain JSON values."""
        return {
            "max_value": self.max_value,
            "eps_star": self.eps_star,
            "atoms": self.atoms,
            "hubs": list(self.hubs),
            "indices": list(self.indices),
            "shapes": list(self.shapes),
            "ratios": list(self.ratios),
            "eps": self.eps,
            "delta": self.delta,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> NoiseDesign:
        """Return the design that :meth:`to_dict` describes.

        Raises
        ------
        ValueError
            If keys are missing or unknown, or a value is outside its range.
        """
        expected = {"max_value", "eps_star", "atoms", "hubs", "indices", "shapes", "ratios", "eps", "delta"}
        if content.keys() != expected:
            raise ValueError(
                f"A design has the keys {', '.join(sorted(expected))}; got {', '.join(sorted(content))}."
            )
        lists = {key: tuple(content[key]) for key in ("hubs", "indices", "shapes", "ratios")}
        return cls(**{**content, **lists})


def analytic_design(max_value: int, eps: float, delta: float, gamma: float) -> NoiseDesign:
    """Return the paper's parameters in closed form, with halving atoms, all of them.

    Parameters
    ----------
    max_value : int
        Largest input D, >= 1.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1/2).
    gamma : float
        In (0, 1/2); ``eps_star = (1 - gamma) eps``.

    Returns
    -------
    NoiseDesign
        With two noises on atom 1. For D = 1 the second one, which no input needs, is there too, as printed.

    Raises
    ------
    Infeasible
        If delta or gamma is 1/2 or more, outside of the theorem.

    Notes
    -----
    Ghazi et al. 2021, proof of Theorem 2: ``eps_1 = eps_2 = min(1, gamma eps) / 2``, ``delta_1 = delta_2 = delta / 2``;
    ``NB(3 (1 + log(1 / delta_1)), e^(-0.2 eps_1 / D))`` on atom 1, and
    ``NB(3 (1 + log(|S| / delta_2)), e^(-0.2 eps_2 / (2 t_s)))`` on every atom, t from
    :func:`~shuffledp.accounting.summation.noise_atoms.dominating_vector`.
    """
    size = check_count("max_value", max_value, 1)
    eps = check_positive("eps", eps)
    delta = check_open_unit("delta", delta)
    gamma = check_open_unit("gamma", gamma)
    for name, value in (("delta", delta), ("gamma", gamma)):
        if value >= 0.5:
            raise Infeasible(f"The theorem holds for {name} < 1/2, got {value!r}.")
    part = min(1.0, gamma * eps) / 2
    indices = atom_indices(size)
    shape = 3 * (1 + math.log(len(indices) / (delta / 2)))
    bounds = dominating_vector(size).tolist()
    return NoiseDesign(
        size,
        (1 - gamma) * eps,
        "halving",
        (),
        (1, *indices),
        (3 * (1 + math.log(2 / delta)), *(shape for _ in indices)),
        (math.exp(-0.2 * part / size), *(math.exp(-0.2 * part / (2 * t)) for t in bounds)),
        eps,
        delta,
    )


def negative_binomial_shift_delta(shape: float, p: float, shift: int, eps: float) -> float:
    """Return the exact delta of one negative binomial noise that hides a shift.

    Parameters
    ----------
    shape : float
        r, at least 1.
    p : float
        Ratio, in (0, 1): the mean is ``r p / (1 - p)``.
    shift : int
        At least 0.
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        In [0, 1]: the larger hockey stick of the noise against itself plus `shift`, and the other way round. Relative
        error about 1e-9, from the cancellation of two tails.

    Raises
    ------
    Infeasible
        If the shape is below 1: then the likelihood ratio is not monotone, and such noise hides little.

    Notes
    -----
    For r >= 1 the ratio ``NB(y) / NB(y - shift)`` falls with y, so each hockey stick is a difference of tails at the
    place where it crosses ``e^eps`` or ``e^-eps``.
    """
    shape = check_positive("shape", shape)
    p = check_open_unit("p", p)
    shift = check_count("shift", shift)
    eps = check_nonnegative("eps", eps)
    if shape < 1:
        raise Infeasible(f"The shape must be at least 1 for a monotone likelihood ratio, got {shape!r}.")
    if shift == 0:
        return 0.0
    return _shift_delta(shape, p, shift, eps)


def _shift_delta(shape: float, p: float, shift: int, eps: float) -> float:
    base = shift * math.log(p)
    ahead = _last_above(shape, base, shift, eps)
    forward = _cdf(ahead, shape, p)
    if ahead >= shift:
        forward -= math.exp(eps) * _cdf(ahead - shift, shape, p)
    backward = 0.0
    if base < -eps:
        behind = _last_above(shape, base, shift, -eps)  # the ratio is at least e^-eps up to here
        backward = _tail(behind - shift, shape, p) - math.exp(eps) * _tail(behind, shape, p)
    return min(max(forward, backward, 0.0), 1.0)


def _cdf(x: int, shape: float, p: float) -> float:
    return float(betaincc(x + 1.0, shape, p)) if x >= 0 else 0.0


def _tail(x: int, shape: float, p: float) -> float:
    """Pr[NB > x]."""
    return float(betainc(x + 1.0, shape, p)) if x >= 0 else 1.0


def _last_above(shape: float, base: float, shift: int, level: float) -> int:
    """Return the last y >= shift where the log ratio exceeds `level`, or ``shift - 1`` if there is none."""

    def ratio(y: int) -> float:
        """log of p^k (y-k+1).. over ..: falls in y; sums of log1p, because gamma functions cancel."""
        return base + _log_rising(y, shape, shift)

    if ratio(shift) <= level:
        return shift - 1
    low, high = shift, 2 * shift + 1
    while ratio(high) > level:
        low, high = high, 2 * high
        if high > 2**60:
            raise Infeasible(f"The likelihood ratio stays above e^{level!r} beyond 2^60.")
    while high - low > 1:
        middle = (low + high) // 2
        if ratio(middle) > level:
            low = middle
        else:
            high = middle
    return low


def _log_rising(y: int, shape: float, shift: int) -> float:
    """Return ``sum over j < shift of log((y - j + shape - 1) / (y - j))``."""
    if shift <= 32:
        return math.fsum(math.log1p((shape - 1) / (y - j)) for j in range(shift))
    return float(np.sum(np.log1p((shape - 1) / (y - np.arange(shift, dtype=np.float64)))))


@remember(_REMEMBERED)
def smallest_noise(
    shift: int, eps: float, delta: float, most_shape: float = _SHAPES[1]
) -> tuple[float, float]:
    """Return the shape and the scale ``p / (1 - p)`` of the noise of smallest mean that hides a shift.

    Parameters
    ----------
    shift : int
        At least 1.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    most_shape : float
        Largest shape to try, >= 3.

    Returns
    -------
    shape, scale : float
        :func:`negative_binomial_shift_delta` is at most `delta`. The mean is within about 0.1% of the smallest for
        shapes in [1, most_shape]: the search over shapes is golden section on a logarithmic grid.
    """
    shift = check_count("shift", shift, 1)
    eps = check_positive("eps", eps)
    delta = check_open_unit("delta", delta)
    most_shape = check_positive("most_shape", most_shape)

    def log_scale(log_shape: float) -> float:
        shape = math.exp(log_shape)

        def excess(minus: float) -> float:  # increasing in minus the log of the scale
            scale = math.exp(-minus)
            value = _shift_delta(shape, scale / (1 + scale), shift, eps)
            return math.log(value / delta) if value > 0 else -math.inf

        guess = -math.log(25 * shift * 0.1 / eps)
        return -root_below(excess, guess, -math.log(1e12), math.log(1e6), xtol=1e-7)

    low, high = 0.0, math.log(most_shape)
    golden = (math.sqrt(5) - 1) / 2
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = a + log_scale(a), b + log_scale(b)
    while high - low > 0.02:
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - golden * (high - low)
            at_a = a + log_scale(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + golden * (high - low)
            at_b = b + log_scale(b)
    best, value = min(((a, at_a), (b, at_b)), key=lambda pair: pair[1])
    return math.exp(best), math.exp(value - best)


def modular_design(
    max_value: int,
    eps: float,
    delta: float,
    eps_star: float,
    *,
    split: float,
    atoms: str = "halving",
    hubs: Sequence[int] | None = None,
) -> NoiseDesign:
    """Return a design by the paper's modular theorem, with the smallest noises that fulfil its conditions exactly.

    Parameters
    ----------
    max_value : int
        Largest input D, >= 1.
    eps : float
        Nats, > `eps_star`.
    delta : float
        In (0, 1).
    eps_star : float
        Nats, > 0.
    split : float
        Part of ``eps - eps_star`` for the noise that hides the unary messages, in (0, 1); the rest goes to the atoms.
    atoms, hubs
        As in :func:`~shuffledp.accounting.summation.noise_atoms.atom_indices`. Other atoms than ``halving`` share
        the budget in proportion to their largest shifts.

    Returns
    -------
    NoiseDesign
        Two noises on atom 1 if inputs change it, and none on atoms that inputs cannot change.

    Raises
    ------
    Infeasible
        If ``eps_star >= eps``: nothing is left for the noises.

    Notes
    -----
    Theorem 8 of Ghazi et al. 2021 with ``eps_1 = split (eps - eps_star)``, delta halved. On each used atom, the
    largest shift k is hidden at ``eps_2 k / (2 t_s)`` and ``delta_2`` over the number of used atoms; two columns
    dominated by t differ by at most ``2 t``.
    """
    size, kind, coins = check_atoms(max_value, atoms, hubs)
    eps = check_positive("eps", eps)
    delta = check_open_unit("delta", delta)
    eps_star = check_positive("eps_star", eps_star)
    split = check_open_unit("split", split)
    if eps_star >= eps:
        raise Infeasible(
            f"eps_star must be below eps = {eps!r} to leave something for the noises, got {eps_star!r}."
        )
    changes = input_changes(size, atoms=kind, hubs=coins or None)
    rows = atom_indices(size, atoms=kind, hubs=coins or None)
    moved = {index: row for index, row in zip(rows, changes, strict=True) if np.any(row)}
    bounds = _domination(size, kind, moved)
    indices, shapes, scales = [1], [], []
    first = smallest_noise(size, split * (eps - eps_star), delta / 2)
    shapes.append(first[0])
    scales.append(first[1])
    for index, row in moved.items():
        largest = int(row.max() - row.min())
        budget = (1 - split) * (eps - eps_star) * largest / (2 * bounds[index])
        shape, scale = smallest_noise(largest, budget, delta / 2 / len(moved))
        indices.append(index)
        shapes.append(shape)
        scales.append(scale)
    return NoiseDesign(
        size,
        eps_star,
        kind,
        coins,
        tuple(indices),
        tuple(shapes),
        tuple(s / (1 + s) for s in scales),
        eps,
        delta,
    )


def _domination(size: int, kind: str, moved: Mapping[int, Any]) -> dict[int, float]:
    """Return a vector that dominates all columns: the paper's, or for other atoms the scaled largest entries."""
    if kind == "halving":
        return dict(zip(atom_indices(size), dominating_vector(size).tolist(), strict=True))
    largest = {index: float(np.max(np.abs(row))) for index, row in moved.items()}
    load = max(
        (sum(abs(int(row[x])) / largest[i] for i, row in moved.items()) for x in range(size + 1)), default=1.0
    )
    return {index: load * value for index, value in largest.items()}


def best_modular_design(
    max_value: int, eps: float, delta: float, eps_star: float, *, step: float = 0.01
) -> tuple[NoiseDesign, float]:
    """Return the modular design with the fewest messages over a grid of splits, and its split.

    Parameters
    ----------
    max_value, eps, delta, eps_star
        As in :func:`modular_design`.
    step : float
        Distance of the splits, in (0, 1/2).

    Raises
    ------
    ValueError, Infeasible
        As :func:`modular_design`.
    """
    step = check_open_unit("step", step)
    count = math.ceil(1 / step)

    def messages(place: int) -> float:
        return modular_design(max_value, eps, delta, eps_star, split=place / count).messages

    low, high = 1, count - 1
    while high - low > 2:  # unimodal in the split
        third = (high - low) // 3
        left, right = low + max(third, 1), high - max(third, 1)
        if left >= right:
            right = left + 1
        if messages(left) <= messages(right):
            high = right if right < high else high - 1
        else:
            low = left if left > low else low + 1
    best = min(range(low, high + 1), key=messages)
    return modular_design(max_value, eps, delta, eps_star, split=best / count), best / count
