"""Summation with coarse noise: designs, and the effect of their messages and of inputs on the analyzer's view.

The messages are ``1..D`` and ``-D``. A user sends the input, if it is not 0, and shares of two kinds of noise:

* *Central noise*, whose sum over all users is two-sided geometric with ratio ``a = e^(-eps_star / D)``, the error of
  the result. As a compound Poisson law it has jumps +j and -j at the rates ``a^j / j``. A jump ``q D + f`` with
  ``0 <= f < D`` is sent as q messages D and f messages 1, a jump ``-(q D - f)`` as q messages -D and f messages 1.
* *Atoms*, one for each j in 1..D, each drawn a compound Poisson number of times
  (:mod:`shuffledp.accounting.summation.jump_noise`). Their messages sum to zero: ``{D, -D}`` for D,
  ``{1 (D times), -D}`` for 1, ``{j, D - j, -D}`` for 2 <= j < D/2, and ``{j, parts of D - j, -D}`` for D/2 <= j < D.
  The parts are messages 1 or *hubs*, a few chosen messages below D/2: repeatedly the largest that fits, but never
  ``D - j`` itself. Without hubs the parts are ``D - j`` messages 1.

**The view.** Let ``c_m`` be the number of messages m. Atom j is drawn ``y_j`` times: ``c_j = y_j`` for j < D/2, plus,
for a hub, its number in the other atoms; ``c_j = y_j + y_(D-j)`` for j > D/2 (``y_j`` alone for j = D/2 and j = D - 1,
whose partner is no such atom). So the counts determine all ``y_j``, by integers: first the numbers of atoms that are
neither hubs nor partners of hubs. Then the hubs follow from the largest to the smallest, each with its partner, whose
parts are smaller hubs only. With ``Sigma = sum m c_m``, ``u = c_D`` and ``v = c_(-D) - y_2 - .. - y_(D - 1)``, the
counts are an invertible integer image of ``(Sigma, u, v, y_2, .., y_(D - 1))``. With U messages D and A messages -D in
the central noise of the sum S,

    Sigma = S,    u = U + z_D,    v = A + z_D + z_1,    y_j = z_j,

where ``z_j`` is the number of draws of atom j. So ``(Sigma, u, v)`` and the ``y_j`` are independent. An input x adds x
to Sigma. It adds nothing else if x is 0 or 1; else it adds 1 to u if x = D, and 1 to ``y_x`` otherwise. The other
messages of atom x, besides x and -D, are then subtracted: for 2 <= x < D/2, ``y_(D-x)`` changes by -1; for D/2 <= x <
D, v changes by -1. For each hub h among the parts, ``y_h`` then changes by -1 and ``y_(D-h)`` by 1, and the same holds
for the hubs among the parts of atom D - h (:func:`input_moves`). :mod:`shuffledp.designs.coarse_noise` is
the exact accountant.

Derived for this project; only the idea of noise that cancels is taken from a paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.accounting.summation.jump_noise import LEAST_CENTER, check_center, mean_jump
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    FromOne,
    Positive,
    check_count,
    check_fields,
    check_positive,
    checked,
)
from shuffledp.numerics.memoize import remember

#: Increments of ``(Sigma, u, v)`` and of the ``y_j`` by an input.
Move = tuple[tuple[int, int, int], dict[int, int]]
#: Largest D of a design.
MOST_COARSE = 128
_KEYS = ("max_value", "eps_star", "rates", "centers", "eps", "delta", "hubs")


@dataclass(frozen=True)
class CoarseDesign:
    """Parameters of the coarse noise of one summation, for all users together.

    Derived for this project. `messages` and `mse` are exact expectations. ValueError is raised for numbers outside
    their ranges, and unless there are D rates and D centers.

    Parameters
    ----------
    max_value : int
        Largest input D, in [1, 128].
    eps_star : float
        The error is two-sided geometric with ratio ``e^(-eps_star / D)``; nats, > 0.
    rates, centers : tuple of float
        Rates (> 0) and centers (>= 1/2) of the jumps of the D atoms, see
        :mod:`shuffledp.accounting.summation.jump_noise`.
    eps, delta : float
        Budget of the design: eps in nats, > 0; delta in (0, 1).
    hubs : tuple of int
        Messages that replace several messages 1 in the atoms from D/2 on: increasing, each above 1 and below D/2.
    """

    max_value: FromOne
    eps_star: Eps
    rates: tuple[Positive, ...]
    centers: tuple[float, ...]
    eps: Eps
    delta: Delta
    hubs: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        size = check_count("max_value", self.max_value, 1)
        if size > MOST_COARSE:
            raise ValueError(f"max_value must be an integer in [1, {MOST_COARSE}], got {self.max_value!r}.")
        if not len(self.rates) == len(self.centers) == size:
            raise ValueError(
                f"rates and centers must have {size} values, got {len(self.rates)} and {len(self.centers)}."
            )
        object.__setattr__(self, "max_value", size)
        object.__setattr__(self, "rates", tuple(check_positive("rates", r) for r in self.rates))
        object.__setattr__(self, "centers", tuple(check_center(m, "centers") for m in self.centers))
        object.__setattr__(self, "hubs", check_hubs(self.hubs, size))

    @property
    def central_ratio(self) -> float:
        """Ratio a of the error, ``e^(-eps_star / D)``."""
        return math.exp(-self.eps_star / self.max_value)

    @property
    def means(self) -> tuple[float, ...]:
        """Expected number of draws of atoms 1..D, over all users."""
        return tuple(r * mean_jump(m) for r, m in zip(self.rates, self.centers, strict=True))

    @property
    def central_messages(self) -> float:
        """Expected number of messages of the central noise."""
        return central_messages(self.max_value, self.eps_star)

    @property
    def messages(self) -> float:
        """Expected number N of noise messages of all users together."""
        pairs = zip(self.atom_sizes, self.means, strict=True)
        return self.central_messages + math.fsum(size * mean for size, mean in pairs)

    @property
    def atom_sizes(self) -> tuple[int, ...]:
        """Numbers of messages of atoms 1..D."""
        size = self.max_value
        return tuple(sum(atom_content(j, size, self.hubs).values()) for j in range(1, size + 1))

    @property
    def mse(self) -> float:
        """Mean squared error of the sum, ``2 a / (1 - a)^2``."""
        return discrete_laplace_variance(self.eps_star / self.max_value)

    @property
    def symbols(self) -> int:
        """Number of different messages that users may send: 1..D and -D."""
        return self.max_value + 1

    @checked
    def moved(self, *, rate: float = 0.0, center: float = 0.0) -> CoarseDesign:
        """Return the design with all rates times ``e^rate`` and all centers times ``e^center``, both in [-100, 100]."""
        for name, value in (("rate", rate), ("center", center)):
            if not abs(value) <= 100:
                raise ValueError(f"{name} must be in [-100, 100], got {value!r}.")
        return self.with_noise(
            [r * math.exp(rate) for r in self.rates], [m * math.exp(center) for m in self.centers]
        )

    @checked
    def with_noise(self, rates: Sequence[float], centers: Sequence[float]) -> CoarseDesign:
        """Return the design with other rates and centers; centers below 1/2 become 1/2."""
        return replace(
            self,
            rates=tuple(float(r) for r in rates),
            centers=tuple(max(float(m), LEAST_CENTER) for m in centers),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the design as plain JSON values."""
        entries = {key: getattr(self, key) for key in _KEYS}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in entries.items()}

    @classmethod
    @checked
    def from_dict(cls, content: Mapping[str, Any]) -> CoarseDesign:
        """Return the design that :meth:`to_dict` describes; missing or unknown keys raise ValueError."""
        if content.keys() != set(_KEYS):
            raise ValueError(
                f"content must have the keys {', '.join(sorted(_KEYS))}; got {', '.join(sorted(content))}."
            )
        lists = {key: tuple(content[key]) for key in ("rates", "centers", "hubs")}
        return cls(**{**content, **lists})


def check_hubs(hubs: Sequence[int], max_value: int) -> tuple[int, ...]:
    """Return `hubs` as a tuple, or raise ValueError."""
    counts = tuple(check_count("hubs", hub, 2) for hub in hubs)
    if any(2 * hub >= max_value for hub in counts) or sorted(set(counts)) != list(counts):
        raise ValueError(f"hubs must grow and lie in [2, {max_value}/2), got {hubs!r}.")
    return counts


def atom_content(index: int, max_value: int, hubs: Sequence[int] = ()) -> dict[int, int]:
    """Return the messages of atom `index` with their multiplicities; messages times multiplicities sum to 0."""
    size = check_count("max_value", max_value, 1)
    if not 1 <= index <= size:
        raise ValueError(f"index must be in [1, {size}], got {index!r}.")
    hubs = check_hubs(hubs, size)
    if index == size:
        return {size: 1, -size: 1}
    if index == 1:
        return {1: size, -size: 1}
    if 2 * index < size:
        return {index: 1, size - index: 1, -size: 1}
    content, rest = {index: 1, -size: 1}, size - index
    for part in (*(h for h in reversed(hubs) if h != rest), 1):
        times, rest = divmod(rest, part)
        if times:
            content[part] = times
    return content


def jump_content(jump: int, max_value: int) -> dict[int, int]:
    """Return the messages of one jump (not 0) of the central noise with their multiplicities."""
    size = check_count("max_value", max_value, 1)
    coarse, fine = divmod(jump, size)  # for a negative jump the quotient is rounded down
    content = {size if coarse > 0 else -size: abs(coarse), 1: fine}
    if size == 1:
        return {jump // abs(jump): abs(jump)}
    return {message: times for message, times in content.items() if times}


def central_messages(max_value: int, eps_star: float) -> float:
    """Return the expected number of messages of the central noise, for all users together.

    A jump of size ``q D + f`` or ``-(q D - f)`` takes ``q + f`` messages and has the rate ``a^j / j``.
    """
    rate = check_positive("eps_star", eps_star) / check_count("max_value", max_value, 1)
    j = np.arange(1, math.ceil(50 / rate) + 1)
    weight = np.exp(-rate * j) / j
    up, down = np.divmod(j, max_value), np.divmod(-j, max_value)
    return float(weight @ (up[0] + up[1] + np.abs(down[0]) + down[1]))


@remember(16)
def input_moves(max_value: int, hubs: tuple[int, ...] = ()) -> tuple[Move, ...]:
    """Return the change of ``(Sigma, u, v)``, and the nonzero changes of the ``y_j``, by each input 0..D."""
    size = check_count("max_value", max_value, 1)
    hubs = check_hubs(hubs, size)
    small = [j for j in range(2, (size + 1) // 2) if j not in hubs]
    large = [size - f for f in range(1, size // 2 + 1) if f not in hubs and size - f > 1]
    order = [*small, *large, *(j for h in reversed(hubs) for j in (h, size - h))]
    contents = {j: atom_content(j, size, hubs) for j in order}
    moves: list[Move] = []
    for value in range(size + 1):
        remainder, draws = {value: 1}, {}
        for j in order:
            times = remainder.get(j, 0)
            if not times:
                continue
            draws[j] = times
            for message, copies in contents[j].items():
                remainder[message] = remainder.get(message, 0) - times * copies
        moves.append(((value, int(value == size), -sum(draws.values())), draws))
    return tuple(moves)
