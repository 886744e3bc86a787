r"""Theorem 1 of the shuffle Gaussian paper (arXiv 2206.09569) for all records in a ball of diameter 1.

The theorem is the divergence of one pair of data sets, in which all other records equal the replaced one. It is a
conjecture that no other records in the ball make it larger. Here the divergence of any data sets of a few users is
integrated, in both directions because the new and the old record may be exchanged.

**Proposition** (two users, order 2). Let z be the other record and let a be replaced by b. If the angle at z is right
or obtuse, that is if z lies in the ball whose diameter is the segment from a to b, its ends included, the divergence is
at most the theorem's. Let ``alpha = (a - z) / (sqrt(2) sigma)``, ``beta = (b - z) / (sqrt(2) sigma)``, ``A =
|alpha|^2``, ``B = |beta|^2`` and ``alpha . beta = -k <= 0``. Sum and difference of the two reports are independent, and
the second moment of the likelihood ratio is

.. math:: M = e^{2k + 3A/2} \, E\Bigl[\frac{1 + \cosh(2 \beta \cdot g)}{2 \cosh(\alpha \cdot g)}\Bigr],
    \qquad g \text{ standard normal}.

(i) ``1 / cosh x <= (cosh x + cos(sqrt(3) x)) / 2``, because ``cosh(x)^2 + cosh(x) cos(sqrt(3) x) - 2`` is the series of
``(3/2) (2 x)^(6 m) / (6 m)!`` over m >= 1: the coefficient of ``(2 x)^(2 j) / (2 j)!`` is ``1/2 + cos(2 pi j / 3)``,
which is 0 unless 3 divides j. (ii) Taking means, ``4 M <= e^(2k) (x + 1) + x y (w^2 + 1) / 2 + y w`` with ``x =
e^(2A)``, ``y = e^(2B)``, ``w = e^(2k)``. (iii) The theorem has ``(1 + x y w^2) / 2`` for the distance of a and b, since
``|a - b|^2 / (2 sigma^2) = A + B + 2k``. As ``x + y <= 1 + x y`` and ``x y >= w^2 >= 1``, four times the difference is
at least ``(w - 1) (x y (3 w + 1) / 2 - 2) >= 0``. A larger distance only makes the theorem's value larger.

Distances are in diameters of the ball, divergences in nats.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import permutations

import numpy as np

from shuffledp.accounting.shuffle_gaussian.all_users import shuffle_gaussian_rdp
from shuffledp.pipeline.claims.message_multisets import Floats
from shuffledp.pipeline.claims.search_results import Values, named_rng
from shuffledp.pipeline.papers.shuffle_gaussian.witnesses import common_place_rdp

_TAIL = 6.5
_MOST_CELLS = 3_000_000


def shuffled_gaussian_rdp(order: float, old: Floats, new: Floats, sigma: float) -> float:
    """Return the Renyi divergence of the shuffled reports of the new records from the reports of the old records.

    The mean report is independent of the differences and has the divergence of one Gaussian. The law of the differences
    is a mixture over all orders of the users. The likelihood ratio of the differences is integrated by the trapezoidal
    rule, whose error decays exponentially in the distance of the mixture's nearest zero from the real axis.
    """
    n, dimension = old.shape
    shift = (new - old).mean(axis=0)
    of_mean = order * n * float(shift @ shift) / (2 * sigma**2)
    centers = [_centers(records, sigma) for records in (new, old)]
    norms = [float(np.linalg.norm(c[0])) for c in centers]
    step = min(0.8, 0.45 / max(*norms, 1e-9))
    axis = np.arange(-math.ceil((order * norms[0] + _TAIL) / step), 0) * step
    axis = np.concatenate((axis, [0.0], -axis[::-1]))
    free = (n - 1) * dimension
    if axis.size**free > _MOST_CELLS:
        raise ValueError(f"{axis.size}^{free} cells are too many, expected at most {_MOST_CELLS}.")
    grid = np.stack(np.meshgrid(*[axis] * free, indexing="ij"), axis=-1).reshape(-1, free)
    top, below = (_log_mixture(grid, c) for c in centers)
    log_terms = order * top + (1 - order) * below - np.einsum("ij,ij->i", grid, grid) / 2
    most = float(log_terms.max())
    total = (
        most
        + math.log(float(np.exp(log_terms - most).sum()))
        + free * math.log(step / math.sqrt(2 * math.pi))
    )
    return float(of_mean + total / (order - 1))


@cache
def _contrasts(n: int) -> Floats:
    """Return an orthonormal basis of the contrasts of n numbers, (n - 1, n)."""
    rows = [[1.0] * i + [-float(i)] + [0.0] * (n - 1 - i) for i in range(1, n)]
    return np.array([np.array(row) / math.sqrt(i * (i + 1)) for i, row in enumerate(rows, 1)])


def _centers(records: Floats, sigma: float) -> Floats:
    orders = np.array(list(permutations(range(len(records)))))
    centers = np.einsum("in,pnd->pid", _contrasts(len(records)), records[orders]) / sigma
    return np.asarray(centers.reshape(len(orders), -1))


def _log_mixture(grid: Floats, centers: Floats) -> Floats:
    """Return the log density of the mixture relative to the standard normal law."""
    inner = grid @ centers.T
    most = inner.max(axis=1)
    inside = np.exp(inner - most[:, None]).mean(axis=1)
    return np.asarray(most + np.log(inside) - float(centers[0] @ centers[0]) / 2)


def ratio(order: int, old: Floats, new: Floats, sigma: float) -> float:
    """Return the divergence relative to Theorem 1 at distance 1."""
    theorem_1 = float(shuffle_gaussian_rdp([order], len(old), sigma)[0])
    return shuffled_gaussian_rdp(order, old, new, sigma) / theorem_1


def few_users(
    users: int,
    dimension: int,
    orders: tuple[int, ...],
    sigmas: tuple[float, float],
    draws: int,
    ascents: int,
    seed: str,
) -> Values:
    """Search random data sets of a few users, then take small random steps from the best data set."""
    rng = named_rng(seed)
    best, start = -math.inf, (2, 1.0, np.zeros((users + 1, dimension)))
    for _ in range(draws):
        order = int(rng.choice(orders))
        sigma = math.exp(rng.uniform(math.log(sigmas[0]), math.log(sigmas[1])))
        points = _in_ball(rng.normal(size=(users + 1, dimension)), rng)
        value = _ratio_of(order, points, sigma)
        if value > best:
            best, start = value, (order, sigma, points)
        yield value, _words(order, points, sigma)
    order, sigma, points = start
    for i in range(ascents):
        size = 0.3 * 0.01 ** (i / ascents)
        candidate = _inside(points + size * rng.normal(size=points.shape))
        value = _ratio_of(order, candidate, sigma)
        if value > best:
            best, points = value, candidate
        yield value, _words(order, candidate, sigma)


def _ratio_of(order: int, points: Floats, sigma: float) -> float:
    """Return the ratio for given points: the replaced record, the new record and the others' records."""
    others = points[2:]
    return ratio(order, np.vstack((points[:1], others)), np.vstack((points[1:2], others)), sigma)


def _in_ball(directions: Floats, rng: np.random.Generator) -> Floats:
    """Return points in a ball of diameter 1, each on the surface with probability 1/2."""
    radii = np.where(rng.random(len(directions)) < 0.5, 1.0, np.sqrt(rng.random(len(directions))))
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(unit * radii[:, None] / 2)


def _inside(points: Floats) -> Floats:
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.maximum(2 * norms, 1.0))


def _words(order: int, points: Floats, sigma: float) -> str:
    places = ["(" + ", ".join(f"{x + 0.0:.3f}" for x in point) + ")" for point in points]
    return (
        f"order {order}, sigma {sigma:.3g}, from {places[0]} to {places[1]}, others at {' '.join(places[2:])}"
    )


def many_users(numbers: tuple[int, ...], draws: int, seed: str) -> Values:
    """Search data sets in which all others hold the same record of the ball, for order 2 and any number of users."""
    rng = named_rng(seed)
    for n in numbers:
        for _ in range(draws):
            sigma = math.exp(rng.uniform(math.log(0.5), math.log(5)))
            old, new, common = _in_ball(rng.normal(size=(3, 2)), rng)
            yield (
                common_place_ratio(n, old - common, new - common, sigma),
                f"n {n}, " + _words(2, np.array([old, new, common]), sigma),
            )


def common_place_ratio(n: int, old: Floats, new: Floats, sigma: float) -> float:
    """Return the order-2 divergence relative to Theorem 1; coordinates are relative to the others' record."""
    divergence = common_place_rdp(
        n, sigma, changed=float(new @ new), original=float(old @ old), product=float(old @ new)
    )
    return divergence / float(shuffle_gaussian_rdp([2], n, sigma)[0])
