"""Noise designs for many levels, certified on the spot: hubs that are powers of a base, and noises of one parameter.

Every noise has the shape ``2 log(1 / delta)`` and hides its hardest shift at a common multiple of the eps that the sum
leaves for it; the multiples of the kinds of noises differ by what they cost, and the common one is the smallest for
which :func:`~shuffledp.accounting.summation.moment_bounds.moment_delta` meets delta. Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.moment_bounds import moment_delta, searched_delta
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below
from shuffledp.tasks import Floats

#: Bases whose powers are tried as hubs.
_BASES = (2, 3, 4, 5, 6, 8, 10)
#: Steps between the budgets of the noises on the atoms of single numbers, which are rounded down.
_STEP = 1.04
#: Hubs need less than the leading order has them do, as few pairs of inputs move all of them by most.
_HUBS = 0.75
#: Least and largest multiple, and its precision, in logarithms.
_LOW, _HIGH, _XTOL = math.log(0.05), math.log(500.0), 2e-3


def wide_design(
    max_value: FromOne, eps: Eps, delta: Delta, eps_star: Eps, *, hubs: Sequence[int] | None = None
) -> NoiseDesign:
    """Return a design for any number of levels that meets its budget by exponential moments.

    Parameters
    ----------
    max_value : int
        Largest input D, in [1, 2048].
    eps : float
        Nats, above `eps_star`.
    delta : float
        In (0, 1).
    eps_star : float
        Nats, > 0.
    hubs : sequence of int, optional
        Default: the powers of the base with the fewest messages by an estimate; none for star atoms.

    Returns
    -------
    NoiseDesign
        Its delta, an upper bound, is at most `delta`; at eps = 1 and delta = 1e-6 about one and a half times the
        messages that a long search finds.

    Raises
    ------
    Infeasible
        If ``eps_star >= eps``, or no noise of this kind has a bound below delta.

    Notes
    -----
    Derived for this project.

    Examples
    --------
    Messages of all users together for numbers up to 500, over those of the paper's parameters in closed form:

    >>> from shuffledp.accounting import analytic_design
    >>> from shuffledp.accounting.summation.wide_designs import wide_design
    >>> design = wide_design(500, 1.0, 1e-6, 0.9)
    >>> design.messages < analytic_design(500, 1.0, 1e-6, 0.1).messages / 500
    True
    """
    if eps_star >= eps:
        raise Infeasible(
            f"eps_star must be below eps = {eps!r} to leave something for the noises, got {eps_star!r}."
        )
    return _wide(max_value, float(eps), float(delta), float(eps_star), None if hubs is None else tuple(hubs))


@remember(256)
def _wide(size: int, eps: float, delta: float, eps_star: float, hubs: tuple[int, ...] | None) -> NoiseDesign:
    powers = {(): None} if hubs is None else {hubs: None}
    if hubs is None:
        for base in _BASES:
            powers[tuple(base**j for j in range(1, 12) if base**j <= size // 2)] = None
    family = min(
        (_Family.of(size, eps, delta, eps_star, one) for one in powers), key=lambda found: found.estimate
    )

    def excess(minus_log_multiple: float) -> float:
        return math.log(searched_delta(family.design(-minus_log_multiple), eps) / delta)

    log_multiple = -root_below(excess, 0.0, -_HIGH, -_LOW, xtol=_XTOL, slope=25.0)
    while log_multiple < _HIGH:
        design = family.design(log_multiple)
        if moment_delta(design, eps) <= delta:  # by all pairs of inputs
            return design
        log_multiple += _XTOL
    raise Infeasible(f"No noise has a bound on its delta of at most {delta!r} by exponential moments.")


@dataclass(frozen=True, eq=False)
class _Family:
    """Designs that differ by one multiple of all noises.

    Parameters
    ----------
    ratios : (noises,) ndarray
        Largest shift of every noise over the eps left for it.
    multiples : (noises,) ndarray
        Multiples of the noises, up to a common one.
    estimate : float
        Expected messages, up to the same factor for all hubs.
    """

    size: int
    eps: float
    delta: float
    eps_star: float
    hubs: tuple[int, ...]
    indices: tuple[int, ...]
    ratios: Floats
    multiples: Floats
    estimate: float

    @classmethod
    def of(cls, size: int, eps: float, delta: float, eps_star: float, hubs: tuple[int, ...]) -> _Family:
        left = eps - eps_star
        numbers = np.arange(2, size + 1)
        budgets = (eps - eps_star * np.maximum(numbers, size - numbers) / size) / left
        own = _STEP ** -np.floor(np.log(budgets) / math.log(_STEP) + 1e-9) / left
        rest, parts = numbers, np.ones(size - 1)
        widths: list[int] = []
        for hub in sorted(hubs, reverse=True):
            digit, rest = np.divmod(rest, hub)
            parts, widths = parts + digit, [int(digit.max(initial=0)), *widths]
        units = int(rest.max(initial=0))
        ratios = np.concatenate(([(size + units) / left], np.array(widths) / left, own))
        costs = np.concatenate(([2.0], np.sort(hubs) + 1.0, parts + rest))
        # Messages are the sum of f_s cost_s ratio_s. To leading order a pair loses the sum of 1 / f_s^2 over the noises
        # that it moves: two of single numbers, and all hubs. The minimum for a given loss has these f_s.
        kinds = np.array([0, *range(1, len(hubs) + 1), *[len(hubs) + 1] * (size - 1)])
        times = np.array([1.0, *[1.0] * len(hubs), 2.0])
        weight = np.bincount(kinds, costs * ratios, len(times))
        each = np.cbrt(times / np.maximum(weight, 1e-300))
        each[1:-1] *= _HUBS
        used = np.bincount(kinds, minlength=len(times)) > 0
        each *= math.sqrt(float(np.sum((times / each**2)[used])))
        indices = (1, *(-h for h in sorted(hubs)), *numbers.tolist())
        estimate = float(np.sum((weight * each)[used]))
        return cls(size, eps, delta, eps_star, tuple(sorted(hubs)), indices, ratios, each[kinds], estimate)

    def design(self, log_multiple: float) -> NoiseDesign:
        """Return the design with this multiple."""
        shape = max(2 * math.log(1 / self.delta), 1.0)
        # ratio = e^(-1 / multiple): the loss of a shift the other way is at most its share of eps over the multiple.
        ratios = np.exp(-1 / (math.exp(log_multiple) * self.multiples * self.ratios))
        return NoiseDesign(
            self.size,
            self.eps_star,
            "hub" if self.hubs else "star",
            self.hubs,
            self.indices,
            (shape,) * len(self.indices),
            tuple(ratios.tolist()),
            self.eps,
            self.delta,
        )
