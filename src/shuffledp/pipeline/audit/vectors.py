"""Views of the protocols for vectors: the first coordinate of every report, grouped into ranges.

Inputs are multiples of the first unit vector. The law of the other coordinates of all reports then does not depend on
user 1's input, and the likelihood ratios beyond the clipping norm are constant. Only the ranges within the norm lose
accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.audit.finite_laws import Block, Own, Place, in_cells, plus, point
from shuffledp.pipeline.audit.message_positions import MANY, unit
from shuffledp.pipeline.audit.views import Held, SlotsView, SumView, View
from shuffledp.tasks import Vectors

if TYPE_CHECKING:
    from shuffledp.protocols.vectors._laplace import LaplaceNoise
    from shuffledp.protocols.vectors.central_gaussian import CentralGaussian
    from shuffledp.protocols.vectors.privunit import PrivUnit
    from shuffledp.protocols.vectors.random_checkin import RandomCheckin

_NOTE = "reports grouped into ranges"
#: Numbers of reports up to which four ranges, and two ranges, within the clipping norm are distinguished; beyond them,
#: one range.
_FEW, _SOME = 6, 10


def _inputs(task: Vectors) -> tuple[tuple[float, ...], ...]:
    rest = (0.0,) * (task.dimension - 1)
    return tuple((x * task.clip, *rest) for x in (-1.0, 0.0, 1.0))


def _edges(clip: float, reports: int) -> NDArray[np.float64]:
    if reports <= _FEW:
        return np.linspace(-clip, clip, 5)
    return np.linspace(-clip, clip, 3 if reports <= _SOME else 2)


def _below(x: float, scale: float) -> float:
    return 0.5 * math.exp(x / scale) if x < 0 else 1 - 0.5 * math.exp(-x / scale)


def _report(value: float, edges: Sequence[float], scale: float) -> Own:
    ends = [0.0, *(_below(edge - value, scale) for edge in edges), 1.0]
    return {unit(i, len(edges)): b - a for i, (a, b) in enumerate(pairwise(ends))}


def laplace(protocol: LaplaceNoise, eps: float) -> View:
    """Return the view of the users' reports, and of dummies with the zero vector."""
    task, scale = protocol.task, 2 * protocol.task.clip / protocol.eps_local
    likely = protocol.population.quantile(0.95) + 1
    edges = _edges(task.clip, protocol.dummy_count + likely)
    inputs = _inputs(task)
    laws = tuple(_report(x[0], edges.tolist(), scale) for x in inputs)

    def dummies(n: int) -> Block:
        count = max(protocol.dummy_count - (n - 1), 0) if protocol.adaptive else protocol.dummy_count
        block = point(len(edges))
        for _ in range(count):
            block = plus(block, laws[1])
        return block

    return SumView(
        inputs=inputs,
        eps=eps,
        note=_NOTE,
        most=12 if likely > _FEW else _FEW,
        alone=protocol.trust == "local",
        noise=dummies,
        own=laws,
        kinds=lambda payload: _range(payload, edges),
    )


def _range(payload: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.asarray(np.searchsorted(edges, np.asarray(payload[:, 0], float)), np.int64)


def random_checkin(protocol: RandomCheckin, eps: float) -> View:
    """Return the view of reports in slots; the fillers have the zero vector."""
    task, scale = protocol.task, 2 * protocol.task.clip / protocol.eps_local
    edges = _edges(task.clip, protocol.slots)
    inputs = _inputs(task)
    return SlotsView(
        inputs=inputs,
        eps=eps,
        note=_NOTE,
        most=8,
        slots=protocol.slots,
        own=tuple(_report(x[0], edges.tolist(), scale) for x in inputs),
        filler=1,
        kinds=lambda payload: _range(payload, edges),
        rate=protocol.population.rate if protocol.threat == "own_coin" else None,
        population=protocol.population,
    )


# -- caps of the sphere --------------------------------------------------------------------------------------------


def privunit(protocol: PrivUnit, eps: float) -> View:
    """Return the view of caps around the first unit vector and its opposite, with constant density on each part."""
    c, p = protocol.cap_mass, protocol.in_cap
    inputs = _inputs(protocol.task)
    edges = protocol.report.height * np.array([-1.0, 1.0])
    other = (1 - p) * c / (1 - c)  # in the cap of the opposite direction

    def own(below: float, above: float) -> Own:
        return {unit(0, 2): below, unit(1, 2): 1 - below - above, unit(2, 2): above}

    return SumView(
        inputs=inputs,
        eps=eps,
        most=_SOME,
        own=(own(p, other), own(c, c), own(other, p)),
        kinds=lambda payload: _range(payload, edges),
    )


# -- one noise from a curator --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NoisySumView(View):
    """View of the first coordinate of a sum, all vectors plus Gaussian noise, in cells of equal width."""

    sigma: float = 1.0

    @property
    def edges(self) -> NDArray[np.float64]:
        """Edges of the cells; the two outer cells are unbounded."""
        return self.sigma * np.linspace(-12, 12, 4001)

    def blocks(self, inputs: Held) -> tuple[Block, ...]:
        """Return the law of the cell."""
        mean = sum(self.inputs[h][0] for h in inputs)
        return (in_cells((self.edges - mean) / self.sigma),)

    def tally(self, payload: NDArray[Any]) -> list[Place]:
        """Return the cell of the sum."""
        return [(int(np.searchsorted(self.edges, payload[:, 0].sum())),)]

    def letters(self, payload: NDArray[Any]) -> NDArray[np.int64]:
        """Return 1 for a first coordinate above 0, and 0 otherwise."""
        return np.asarray(payload[:, 0] > 0, np.int64)


def central_gaussian(protocol: CentralGaussian, eps: float) -> View:
    """Return the view of the noisy sum of multiples of the first unit vector."""
    below, nothing, above = _inputs(protocol.task)
    return NoisySumView(
        inputs=(nothing, below, above),
        eps=eps,
        note="sums grouped into cells",
        most=MANY,
        shifts=True,
        sigma=protocol.sigma,
    )


VIEWS: Mapping[str, Callable[..., View]] = {
    "vectors._laplace.LaplaceNoise": laplace,
    "vectors.random_checkin.RandomCheckin": random_checkin,
    "vectors.privunit.PrivUnit": privunit,
    "vectors.central_gaussian.CentralGaussian": central_gaussian,
}
