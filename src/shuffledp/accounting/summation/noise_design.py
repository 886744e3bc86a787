"""Noise designs of summation by correlated noise.

Every user sends the input, if it is not 0, and shares of noise that sums to a two-sided geometric error. The noise has
two kinds of messages. The numbers of unary messages +1 and -1 over all users are negative binomial variables of shape 1
and ratio ``a = e^(-eps_star / D)``. The numbers of *atoms* (:mod:`shuffledp.accounting.summation.noise_atoms`) are
negative binomial or compound Poisson variables (:mod:`shuffledp.accounting.summation.jump_noise`). Source: Ghazi et al.
2021 (ICML); negative binomial mechanism: Ghazi et al. 2021, arXiv 2106.04247.

Conventions: ``NB(r, p)`` has probabilities ``C(k + r - 1, k) (1 - p)^r p^k`` and mean ``r p / (1 - p)``; eps in nats;
replacement neighbors; inputs in ``{0, .., D}``. The exact accountant is in
:mod:`shuffledp.accounting.summation.joint_noise`, ways to choose a design are in
:mod:`shuffledp.accounting.summation.closed_designs` and :mod:`shuffledp.accounting.summation.design_search`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.accounting.summation.jump_noise import LEAST_CENTER, check_center, mean_jump
from shuffledp.accounting.summation.noise_atoms import (
    atom_indices,
    atom_messages,
    check_atoms,
    noise_norm,
    used_atoms,
)
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    OpenUnit,
    Positive,
    check_fields,
    check_open_unit,
    check_positive,
    checked,
    one_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Laws of the noises.
LAWS = ("negative_binomial", "jumps")


@dataclass(frozen=True)
class NoiseDesign:
    """Parameters of the noise of one summation, for all users together.

    Ghazi et al. 2021 (ICML), Theorem 8 and Section 4.3. `messages` and `mse` are exact expectations (Observations 6 and
    5).

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
        Index of the atom of every noise. All atoms that inputs can change occur; an index that occurs more than once
        represents a sum of independent noises.
    shapes, ratios : tuple of float
        ``NB(r, p)`` of every noise: r > 0 and p in (0, 1), of the sum over all users.
    eps, delta : float
        Budget of the design: eps in nats, > 0; delta in (0, 1).
    law : {"negative_binomial", "jumps"}
        With ``jumps`` a noise is compound Poisson (:mod:`shuffledp.accounting.summation.jump_noise`): its shape r is
        the expected number of jumps, and its scale ``p / (1 - p)`` their center. Then an atom has one noise only.

    Raises
    ------
    ValueError
        If an atom that needs noise has none, or a center of jumps is below 1/2.
    """

    max_value: int
    eps_star: Eps
    atoms: str
    hubs: tuple[int, ...]
    indices: tuple[int, ...]
    shapes: tuple[Positive, ...]
    ratios: tuple[OpenUnit, ...]
    eps: Eps
    delta: Delta
    law: Annotated[str, one_of(LAWS)] = "negative_binomial"

    def __post_init__(self) -> None:
        check_fields(self)
        size, _, hubs = check_atoms(self.max_value, self.atoms, self.hubs)
        if not len(self.indices) == len(self.shapes) == len(self.ratios):
            raise ValueError(
                f"indices, shapes and ratios must have one length, got {len(self.indices)}, {len(self.shapes)} and "
                f"{len(self.ratios)}."
            )
        atoms = atom_indices(size, atoms=self.atoms, hubs=hubs or None)
        unknown = sorted(set(self.indices) - set(atoms))
        missing = sorted(set(used_atoms(size, atoms=self.atoms, hubs=hubs or None)) - set(self.indices))
        if unknown or missing:
            raise ValueError(
                f"indices must be atoms and cover those in use; unknown {unknown}, missing {missing}."
            )
        object.__setattr__(self, "max_value", size)
        object.__setattr__(self, "hubs", hubs)
        object.__setattr__(self, "indices", tuple(int(i) for i in self.indices))
        object.__setattr__(self, "shapes", tuple(check_positive("shapes", r) for r in self.shapes))
        object.__setattr__(self, "ratios", tuple(check_open_unit("ratios", p) for p in self.ratios))
        if self.law == "jumps":
            if len(set(self.indices)) < len(self.indices):
                raise ValueError(f"indices must be distinct for noises with jumps, got {self.indices}.")
            for scale in self.scales:
                check_center(scale, "ratios: center")

    @property
    def central_ratio(self) -> float:
        """Ratio a of the unary noise, ``e^(-eps_star / D)``."""
        return math.exp(-self.eps_star / self.max_value)

    @property
    def scales(self) -> tuple[float, ...]:
        """Scale ``p / (1 - p)`` of every noise, whose mean is shape times scale."""
        return tuple(p / (1 - p) for p in self.ratios)

    @property
    def means(self) -> dict[int, float]:
        """Expected number of copies of every atom, over all users."""
        total: dict[int, float] = {}
        for index, shape, scale in zip(self.indices, self.shapes, self.scales, strict=True):
            each = mean_jump(scale) if self.law == "jumps" else scale
            total[index] = total.get(index, 0.0) + shape * each
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
        messages = {-1, *range(1, self.max_value + 1)}
        for index in set(self.indices):
            messages |= atom_messages(index, self.max_value, atoms=self.atoms, hubs=self.hubs or None).keys()
        return len(messages)

    @checked
    def moved(self, *, shape: float = 0.0, scale: float = 0.0) -> NoiseDesign:
        """Return the design with all shapes times ``e^shape`` and all scales times ``e^scale``."""
        return self.with_noise(
            [r * math.exp(shape) for r in self.shapes], [s * math.exp(scale) for s in self.scales]
        )

    @checked
    def with_noise(self, shapes: Sequence[float], scales: Sequence[float]) -> NoiseDesign:
        """Return the design with other shapes and scales ``p / (1 - p)``, in the order of `indices`.

        Centers of jumps below 1/2 become 1/2.
        """
        if self.law == "jumps":
            scales = [max(s, LEAST_CENTER * (1 + 1e-9)) for s in scales]
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
            "law": self.law,
        }

    @classmethod
    @checked
    def from_dict(cls, content: Mapping[str, Any]) -> NoiseDesign:
        """Return the design that :meth:`to_dict` describes; the default law is negative binomial.

        Missing or unknown keys raise ValueError.
        """
        expected = {
            "max_value",
            "eps_star",
            "atoms",
            "hubs",
            "indices",
            "shapes",
            "ratios",
            "eps",
            "delta",
            "law",
        }
        content = {"law": "negative_binomial", **content}
        if content.keys() != expected:
            raise ValueError(
                f"content must have the keys {', '.join(sorted(expected))}; got {', '.join(sorted(content))}."
            )
        lists = {key: tuple(content[key]) for key in ("hubs", "indices", "shapes", "ratios")}
        return cls(**{**content, **lists})


def settings_in_words(settings: Iterable[tuple[int, float, float, float]]) -> str:
    """Return the settings (D, eps, delta, eps_star) of designs as text: the values of D for every budget."""
    sizes_of_budget: dict[tuple[float, float, float], set[int]] = {}
    for size, eps, delta, star in settings:
        sizes_of_budget.setdefault((eps, delta, star), set()).add(size)
    return "; ".join(
        f"max_value {', '.join(map(str, sorted(sizes)))} at eps = {eps:g}, delta = {delta:g}, eps_star = {star:g}"
        for (eps, delta, star), sizes in sizes_of_budget.items()
    )
