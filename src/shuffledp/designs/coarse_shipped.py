"""Coarse designs from a long search, shipped with their certificates.

They are in ``coarse_designs.json``. ``make -C tools designs`` repeats the search. ``make -C tools designs-check``
certifies the designs for small D again and compares the others as far as possible. :func:`quick_coarse` returns a
design for any other setting with D up to 3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from importlib import resources
from typing import Any

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.noise_design import settings_in_words
from shuffledp.designs.coarse_design import CoarseDesign
from shuffledp.designs.coarse_law import outcomes
from shuffledp.designs.coarse_losses import FINE, Precision
from shuffledp.designs.coarse_noise import CoarseCertificate, all_pairs, certify
from shuffledp.designs.coarse_search import coarse_start, deltas_and_margins, scaled_design
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne, checked
from shuffledp.numerics.memoize import remember

#: Largest D for which a missing design is computed.
MOST_QUICK = 3
#: Precision of the certificate of a missing design; its bound is some percent too large.
_QUICK = Precision(40, 1e-3, 1e-8)
#: Largest number of outcomes of the joint law for which a missing design is computed, in up to about ten seconds.
_MOST_WORK = 3e7
#: Error of a transform in double precision, at the least.
_ROUNDING = 1e-16
#: A design is scaled to this precision, in the logarithm of the centers.
_XTOL = 4e-3
_KEYS = (
    "design",
    "certified_delta",
    "margin",
    "pairs",
    "worst",
    "cpu_seconds",
    "precision",
    "design_digest",
    "code_digest",
)


@dataclass(frozen=True)
class ShippedCoarse:
    """A design with the certificate from its search.

    Parameters
    ----------
    design : CoarseDesign
        Meets ``design.eps`` and ``design.delta``.
    certificate : CoarseCertificate
        Certificate at ``design.eps``, with a delta of at most ``design.delta``.
    cpu_seconds : float
        Processor time of the certificate.
    precision : Precision
        Precision of the certificate, which is a bound at any precision.
    design_digest, code_digest : str
        Digests by ``tools/designs.py``, from the time of the certificate: of the design's numbers and of the
        accountant's code. Empty for a design that is not shipped.
    """

    design: CoarseDesign
    certificate: CoarseCertificate
    cpu_seconds: float
    precision: Precision = FINE
    design_digest: str = ""
    code_digest: str = ""

    @property
    def all_pairs(self) -> bool:
        """True if the certificate covers all ordered pairs of inputs."""
        return self.certificate.pairs == self.design.max_value * (self.design.max_value + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the design and its certificate as plain JSON values."""
        certificate = self.certificate
        values = (
            self.design.to_dict(),
            certificate.delta,
            certificate.margin,
            certificate.pairs,
            list(certificate.worst),
            self.cpu_seconds,
            list(astuple(self.precision)),
            self.design_digest,
            self.code_digest,
        )
        return dict(zip(_KEYS, values, strict=True))

    @classmethod
    @checked
    def from_dict(cls, content: Mapping[str, Any]) -> ShippedCoarse:
        """Return the object from the result of :meth:`to_dict`; missing or unknown keys raise ValueError."""
        if content.keys() != set(_KEYS):
            raise ValueError(
                f"content must have the keys {', '.join(_KEYS)}; got {', '.join(sorted(content))}."
            )
        first, second = content["worst"]
        certificate = CoarseCertificate(
            float(content["certified_delta"]),
            float(content["margin"]),
            int(content["pairs"]),
            (int(first), int(second)),
        )
        steps, tail, threshold, blocks = content["precision"]
        return cls(
            CoarseDesign.from_dict(content["design"]),
            certificate,
            float(content["cpu_seconds"]),
            Precision(int(steps), float(tail), float(threshold), float(blocks)),
            str(content["design_digest"]),
            str(content["code_digest"]),
        )


@remember(1)
def shipped_coarse_designs() -> tuple[ShippedCoarse, ...]:
    """Return all shipped coarse designs in the order of D. Each has an upper bound on its delta for all ordered pairs
    of inputs.

    Derived for this project: found by :func:`~shuffledp.designs.coarse_search.search_coarse`.
    """
    text = resources.files("shuffledp.designs").joinpath("coarse_designs.json").read_text(encoding="utf-8")
    return tuple(ShippedCoarse.from_dict(entry) for entry in json.loads(text))


def shipped_coarse(max_value: FromOne, eps: float, delta: float, eps_star: float) -> ShippedCoarse | None:
    """Return the shipped coarse design for a setting, or None.

    Derived for this project: found by :func:`~shuffledp.designs.coarse_search.search_coarse`.

    Parameters
    ----------
    max_value : int
        Largest input D, >= 1.
    eps, delta, eps_star : float
        Parameters of a shipped design up to rounding; both eps in nats.

    Returns
    -------
    ShippedCoarse or None
        With an upper bound on its delta, at most `delta`.

    Examples
    --------
    Noise messages of all users together, for inputs 0..3 at eps = 1 and delta = 1e-6:

    >>> from shuffledp.accounting import shipped_design
    >>> from shuffledp.designs import shipped_coarse
    >>> shipped_coarse(3, 1.0, 1e-6, 0.9).design.messages < shipped_design(3, 1.0, 1e-6, 0.9).design.messages / 2
    True
    """
    size = max_value
    for shipped in shipped_coarse_designs():
        design = shipped.design
        pairs = ((design.eps, eps), (design.delta, delta), (design.eps_star, eps_star))
        if design.max_value == size and all(abs(have / want - 1) < 1e-9 for have, want in pairs):
            return shipped
    return None


def quick_coarse(max_value: FromOne, eps: Eps, delta: Delta, eps_star: Eps) -> ShippedCoarse:
    """Return a certified design by a rule of thumb, scaled to the budget.

    Derived for this project.

    Parameters
    ----------
    max_value : int
        Largest input D, in [1, 3].
    eps, delta, eps_star : float
        ``0 < eps_star < eps``, both in nats, and delta in (0, 1).

    Returns
    -------
    ShippedCoarse
        Its delta, an upper bound for all ordered pairs, is at most `delta`. It has a few percent more messages than the
        result of a long search. `cpu_seconds` is 0: it is not measured.

    Raises
    ------
    Infeasible
        If D is above 3, the noise is so wide that the certificate takes long, or ``eps_star >= eps``.
    """
    size = max_value
    if size > MOST_QUICK:
        designs = [shipped.design for shipped in shipped_coarse_designs()]
        raise Infeasible(
            f"No coarse design is shipped for max_value = {size} at eps = {eps:g}, delta = {delta:g} and eps_star = "
            f"{eps_star:g}, and for max_value > {MOST_QUICK} the search takes long: see `make designs`. Shipped are "
            f"{settings_in_words((d.max_value, d.eps, d.delta, d.eps_star) for d in designs)}."
        )
    return _quick(size, float(eps), float(delta), float(eps_star))


@remember(256)
def _quick(size: int, eps: float, delta: float, eps_star: float) -> ShippedCoarse:
    start = coarse_start(size, eps, delta, eps_star)
    if delta < _ROUNDING:
        raise Infeasible(
            f"The delta of a coarse design has a rounding error of {_ROUNDING:.1g}; delta must exceed it, got {delta}."
        )
    work = outcomes(start, _QUICK.tail * delta)
    if work > _MOST_WORK:
        raise Infeasible(
            f"No coarse design is shipped for this setting; its noise has about {work:.1g} outcomes, more than "
            f"{_MOST_WORK:.1g}, so that the search takes long: see `make designs`."
        )
    pairs = all_pairs(size)
    deltas, margins = deltas_and_margins(start, pairs, _QUICK)
    if (most := float(margins.max())) > delta:  # margins grow with the scale
        raise Infeasible(
            f"The delta of this design has an error bound of {most:.2g}, above delta = {delta!r}."
        )
    binding = [
        pair for pair, value in zip(pairs, deltas, strict=True) if value >= 0.2 * max(float(deltas.max()), 0)
    ]
    design = scaled_design(start, binding, _QUICK, estimate=False, xtol=_XTOL)
    for _ in range(20):
        certificate = certify(design, eps, precision=_QUICK)
        if certificate.delta <= delta:
            return ShippedCoarse(design, certificate, 0.0, _QUICK)
        design = design.moved(center=0.02)
    raise Infeasible(f"No scale of a coarse design by rule has a delta of {delta!r}.")
