"""Noise designs in closed form: the printed parameters, and the modular theorem with exact noises.

Source: Ghazi et al. 2021 (ICML), Theorems 2 and 8. Conventions as in
:mod:`shuffledp.accounting.summation.noise_design`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.noise_atoms import (
    atom_indices,
    check_atoms,
    dominating_vector,
    input_changes,
)
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.accounting.summation.shift_noise import smallest_noise
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne, OpenUnit

if TYPE_CHECKING:
    from collections.abc import Mapping


def analytic_design(max_value: FromOne, eps: Eps, delta: Delta, gamma: OpenUnit) -> NoiseDesign:
    """Return the paper's parameters in closed form, with noise on every halving atom.

    Parameters
    ----------
    max_value : int
        Largest input D, >= 1.
    eps : float
        Nats, > 0.
    delta, gamma : float
        In (0, 1/2), otherwise Infeasible is raised; ``eps_star = (1 - gamma) eps``.

    Returns
    -------
    NoiseDesign
        The budget's delta is an upper bound; the exact delta is far smaller. Atom 1 has two noises; for D = 1 no input
        needs the second one, which the paper prints.

    Notes
    -----
    Ghazi et al. 2021, proof of Theorem 2: ``eps_1 = eps_2 = min(1, gamma eps) / 2``, ``delta_1 = delta_2 = delta / 2``;
    ``NB(3 (1 + log(1 / delta_1)), e^(-0.2 eps_1 / D))`` on atom 1, and
    ``NB(3 (1 + log(|S| / delta_2)), e^(-0.2 eps_2 / (2 t_s)))`` on every atom, t from
    :func:`~shuffledp.accounting.summation.noise_atoms.dominating_vector`.

    Examples
    --------
    Printed parameters for a million users with inputs 0..3: messages of noise per user, and the mean squared error of
    the sum:

    >>> from shuffledp.accounting import analytic_design
    >>> design = analytic_design(3, 1.0, 1e-6, 0.1)
    >>> round(design.messages / 10**6, 3), round(design.mse, 2)
    (0.705, 22.06)
    """
    size = max_value
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


def modular_design(
    max_value: FromOne,
    eps: Eps,
    delta: Delta,
    eps_star: Eps,
    *,
    split: OpenUnit,
    atoms: str = "halving",
    hubs: Sequence[int] | None = None,
) -> NoiseDesign:
    """Return a design by the paper's modular theorem, with the smallest noises that meet its conditions exactly.

    Parameters
    ----------
    max_value : int
        Largest input D, >= 1.
    eps, delta, eps_star : float
        ``0 < eps_star < eps``, both in nats, and delta in (0, 1). Raises Infeasible for ``eps_star >= eps``.
    split : float
        Share of ``eps - eps_star`` for the noise that hides the unary messages, in (0, 1). The atoms use the remaining
        share.
    atoms, hubs
        As in :func:`~shuffledp.accounting.summation.noise_atoms.atom_indices`. Atoms other than ``halving`` share the
        budget in proportion to their largest shifts.

    Returns
    -------
    NoiseDesign
        The theorem's delta is an upper bound and meets the budget. Atom 1 has two noises if inputs change it. Atoms
        that inputs cannot change have no noise.

    Notes
    -----
    Theorem 8 of Ghazi et al. 2021 with ``eps_1 = split (eps - eps_star)`` and half of delta for each part. Each used
    atom hides its largest shift k at ``eps_2 k / (2 t_s)`` and at ``delta_2`` over the number of used atoms. Two
    columns dominated by t differ by at most ``2 t``.
    """
    size, kind, coins = check_atoms(max_value, atoms, hubs)
    if eps_star >= eps:
        raise Infeasible(
            f"eps_star must be below eps = {eps!r} to leave something for the noises, got {eps_star!r}."
        )
    changes = input_changes(size, atoms=kind, hubs=coins or None)
    rows = atom_indices(size, atoms=kind, hubs=coins or None)
    changed_rows = {index: row for index, row in zip(rows, changes, strict=True) if np.any(row)}
    bounds = _domination(size, kind, changed_rows)
    indices, shapes, scales = [1], [], []
    first = smallest_noise(size, split * (eps - eps_star), delta / 2)
    shapes.append(first[0])
    scales.append(first[1])
    for index, row in changed_rows.items():
        largest = int(row.max() - row.min())
        budget = (1 - split) * (eps - eps_star) * largest / (2 * bounds[index])
        shape, scale = smallest_noise(largest, budget, delta / 2 / len(changed_rows))
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


def _domination(size: int, kind: str, changed_rows: Mapping[int, Any]) -> dict[int, float]:
    """Return a vector that dominates all columns. For halving atoms it is the paper's vector, otherwise the largest
    entry of every row times a common factor.
    """
    if kind == "halving":
        return dict(zip(atom_indices(size), dominating_vector(size).tolist(), strict=True))
    largest = {index: float(np.max(np.abs(row))) for index, row in changed_rows.items()}
    load = max(
        (sum(abs(int(row[x])) / largest[i] for i, row in changed_rows.items()) for x in range(size + 1)),
        default=1.0,
    )
    return {index: load * value for index, value in largest.items()}


def best_modular_design(
    max_value: FromOne, eps: Eps, delta: Delta, eps_star: Eps, *, step: OpenUnit = 0.01
) -> tuple[NoiseDesign, float]:
    """Return the modular design with the fewest messages, and its split, from a grid of splits.

    Ghazi et al. 2021 (ICML), Theorem 8; the search over splits is derived for this project.

    Parameters
    ----------
    max_value, eps, delta, eps_star
        As in :func:`modular_design`, which raises the same errors.
    step : float
        Distance between splits, in (0, 1/2).

    Returns
    -------
    design : NoiseDesign
        The theorem's delta is an upper bound and meets the budget.
    split : float
        The best split of the grid, exact if the number of messages has a single minimum along the grid.
    """
    count = math.ceil(1 / step)

    @cache
    def messages(place: int) -> float:
        return modular_design(max_value, eps, delta, eps_star, split=place / count).messages

    # The number of messages has one minimum: where it no longer falls.
    best = 1 + bisect_left(
        range(1, count - 1), True, key=lambda place: messages(place) <= messages(place + 1)
    )
    return modular_design(max_value, eps, delta, eps_star, split=best / count), best / count
