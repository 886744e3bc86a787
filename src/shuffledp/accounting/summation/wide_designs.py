"""Noise designs for many levels, certified at run time. The hubs are powers of a base, and one factor sets all noises.

Every noise has the shape ``2 log(1 / delta)`` and hides its hardest shift at a multiple of the eps that the sum leaves
for this shift. The costs of a kind of noise determine its multiple up to a common factor. This factor is the smallest
with which :func:`~shuffledp.accounting.summation.moment_bounds.moment_delta` meets delta. Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.moment_bounds import moment_delta
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne
from shuffledp.numerics.memoize import remember

#: Bases whose powers are tried as hubs.
_BASES = (2, 3, 4, 5, 6, 8, 10)
#: Steps between the budgets of the noises on the atoms of single numbers, which are rounded down.
_STEP = 1.04
#: Factor of the noises of hubs. Few pairs of inputs shift all hubs by the most, so hubs need less noise than the
#: leading order gives.
_HUBS = 0.75
#: First range of the common multiple, its largest value, and the ratio of two multiples at which its search ends.
_FIRST, _MOST, _PRECISION = (0.25, 4.0), 500.0, 1.004


def wide_design(
    max_value: FromOne, eps: Eps, delta: Delta, eps_star: Eps, *, hubs: Sequence[int] | None = None
) -> NoiseDesign:
    """Return a design for any number of levels that meets its budget by exponential moments.

    `max_value` is in [1, 2048], and `eps_star` < `eps`, both in nats. By default, several bases are tried, and the hubs
    are the powers of the base with the fewest messages by an estimate. Designs without hubs, which have ``star`` atoms,
    are also tried. At eps = 1 and delta = 1e-6 the design has about one and a half times the messages that a long
    search finds. Raises Infeasible if ``eps_star >= eps`` or if no factor gives a bound below delta.

    Examples
    --------
    Messages of all users together for numbers up to 500, compared with the paper's parameters in closed form:

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
    powers = [tuple(b**j for j in range(1, 12) if b**j <= size // 2) for b in _BASES]
    families = [
        _family(size, eps, delta, eps_star, hub_numbers)
        for hub_numbers in ([(), *powers] if hubs is None else [hubs])
    ]
    design = min(families, key=lambda family: family[0])[1]

    def enough(multiple: float) -> bool:
        return moment_delta(design(multiple), eps) <= delta

    low, high = _FIRST
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST:
            raise Infeasible(
                f"No noise has a bound on its delta of at most {delta!r} by exponential moments."
            )
    while high > low * _PRECISION:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return design(high)


def _family(
    size: int, eps: float, delta: float, eps_star: float, hubs: tuple[int, ...]
) -> tuple[float, Callable[[float], NoiseDesign]]:
    """Return the expected messages, up to a factor common to all choices of hubs, and the function from a noise factor
    to a design.
    """
    remaining_eps, coins = eps - eps_star, sorted(hubs)
    numbers = np.arange(2, size + 1)
    budgets = (eps - eps_star * np.maximum(numbers, size - numbers) / size) / remaining_eps
    own_widths = _STEP ** -np.floor(np.log(budgets) / math.log(_STEP) + 1e-9)
    rest, parts = numbers, np.ones(size - 1)
    widths: list[int] = []
    for hub in reversed(coins):
        digit, rest = np.divmod(rest, hub)
        parts, widths = parts + digit, [int(digit.max(initial=0)), *widths]
    # Largest shifts over the eps left for them, messages of each atom, and kinds of atoms: 1, the hubs, single numbers.
    ratios = np.concatenate(([size + rest.max(initial=0)], widths, own_widths)) / remaining_eps
    costs = np.concatenate(([2.0], np.array(coins) + 1.0, parts + rest))
    kinds = np.minimum(np.arange(len(costs)), len(coins) + 1)
    # Messages are the sum of f_s cost_s ratio_s. To leading order a pair loses the sum of 1 / f_s^2 over the noises
    # that it moves: two of single numbers, and all hubs. The minimum for a given loss has these f_s.
    weight = np.bincount(kinds, costs * ratios)
    times = np.where(np.arange(len(weight)) > len(coins), 2.0, 1.0)
    each = np.cbrt(times / weight)
    each[1 : len(coins) + 1] *= _HUBS
    each *= math.sqrt(float(np.sum(times / each**2)))
    indices = (1, *(-h for h in coins), *numbers.tolist())
    shapes = (max(2 * math.log(1 / delta), 1.0),) * len(indices)

    def design(multiple: float) -> NoiseDesign:
        # The loss of a shift the other way is at most its share of eps over the multiple.
        ratio = np.exp(-1 / (multiple * each[kinds] * ratios))
        kind, noise = "hub" if coins else "star", tuple(ratio.tolist())
        return NoiseDesign(size, eps_star, kind, tuple(coins), indices, shapes, noise, eps, delta)

    return float(weight @ each), design
