"""Noise designs from a long search, shipped with a certified delta.

They are in ``designs.json``. ``make -C tools designs`` repeats the search and ``make -C tools designs-check`` certifies
all of them again. For any other setting :func:`quick_design` returns a design of the one-parameter family within
seconds, with up to about a quarter more messages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.design_search import certified_design, family_design
from shuffledp.accounting.summation.noise_atoms import ATOM_KINDS, check_atoms
from shuffledp.accounting.summation.noise_design import NoiseDesign, settings_in_words
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne, check_choice, check_count
from shuffledp.numerics.memoize import remember

#: Kinds of atoms, and ``best``: whichever needs the fewest messages.
ATOM_CHOICES: tuple[str, ...] = (*ATOM_KINDS, "best")
#: Largest D for which a missing design is computed; a few seconds.
MOST_QUICK = 20
#: From each D on: the hubs with which the search found the fewest messages, at eps = 1 and delta = 1e-6.
_GOOD_HUBS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (5, (3,)),
    (10, (4,)),
    (15, (4, 8)),
    (20, (3, 9)),
)


@dataclass(frozen=True)
class ShippedDesign:
    """A design with the upper bound on its delta from its search.

    Parameters
    ----------
    design : NoiseDesign
        Meets ``design.eps`` and ``design.delta``.
    certified_delta : float
        :func:`~shuffledp.accounting.summation.joint_noise.correlated_noise_delta` at ``design.eps``, an upper bound; at
        most ``design.delta``.
    """

    design: NoiseDesign
    certified_delta: float


@remember(1)
def shipped_designs() -> tuple[ShippedDesign, ...]:
    """Return all shipped designs, each with an upper bound on its delta.

    They are in the order of the file: by D, then by kind of atoms and hubs. Derived for this project: found by
    :func:`~shuffledp.accounting.summation.design_search.search_design`.
    """
    text = (
        resources.files("shuffledp.accounting.summation").joinpath("designs.json").read_text(encoding="utf-8")
    )
    return tuple(
        ShippedDesign(NoiseDesign.from_dict(entry["design"]), float(entry["certified_delta"]))
        for entry in json.loads(text)
    )


def shipped_design(
    max_value: FromOne,
    eps: float,
    delta: float,
    eps_star: float,
    *,
    atoms: str = "best",
    hubs: Sequence[int] | None = None,
    law: str = "negative_binomial",
) -> ShippedDesign | None:
    """Return the shipped design with the fewest messages for a setting, or None.

    Derived for this project: found by :func:`~shuffledp.accounting.summation.design_search.search_design`.

    Parameters
    ----------
    max_value : int
        Largest input D, >= 1.
    eps, delta, eps_star : float
        Parameters of a shipped :class:`~shuffledp.accounting.summation.noise_design.NoiseDesign` up to rounding; both
        eps in nats.
    atoms : {"halving", "star", "hub", "best"}
        Kind of atoms; ``best`` for any.
    hubs : sequence of int, optional
        Only for ``hub`` atoms: the hubs of the design. By default, any hubs are accepted.
    law : {"negative_binomial", "jumps"}
        Law of the noises.

    Returns
    -------
    ShippedDesign or None
        With an upper bound on its delta, at most `delta`.
    """
    size, coins = _checked(max_value, atoms, hubs)
    fitting = [
        s
        for s in shipped_designs()
        if s.design.max_value == size
        and s.design.law == law
        and all(
            abs(have / want - 1) < 1e-9
            for have, want in (
                (s.design.eps, eps),
                (s.design.delta, delta),
                (s.design.eps_star, eps_star),
            )
        )
        and atoms in (s.design.atoms, "best")
        and coins in (s.design.hubs, ())
    ]
    return min(fitting, key=lambda s: s.design.messages, default=None)


def quick_design(
    max_value: FromOne,
    eps: Eps,
    delta: Delta,
    eps_star: Eps,
    *,
    atoms: str = "best",
    hubs: Sequence[int] | None = None,
    law: str = "negative_binomial",
) -> NoiseDesign:
    """Return a certified design of the one-parameter family.

    Derived for this project.

    Parameters
    ----------
    max_value : int
        Largest input D, in [1, 20].
    eps, delta, eps_star : float
        ``0 < eps_star < eps``, both in nats, and delta in (0, 1).
    atoms : {"halving", "star", "hub", "best"}
        ``best`` takes :func:`good_atoms`.
    hubs : sequence of int, optional
        Only for ``hub`` atoms; by default the hubs of :func:`good_atoms`.
    law : {"negative_binomial", "jumps"}
        Law of the noises.

    Returns
    -------
    NoiseDesign
        Its delta, an upper bound, is at most `delta`. It has up to about a quarter more messages than the result of a
        long search.

    Raises
    ------
    ValueError
        If `atoms` is ``hub`` without hubs and :func:`good_atoms` has none for this D.
    Infeasible
        If D is above 20, ``eps_star >= eps``, or the calculation does not fit into memory.
    """
    size, coins = _checked(max_value, atoms, hubs)
    if size > MOST_QUICK:
        fitting = [
            (d.max_value, d.eps, d.delta, d.eps_star)
            for d in (shipped.design for shipped in shipped_designs())
            if d.law == law and atoms in (d.atoms, "best")
        ]
        raise Infeasible(
            f"No noise design is shipped for max_value = {size} at eps = {eps:g}, delta = {delta:g} and eps_star = "
            f"{eps_star:g}, and for max_value > {MOST_QUICK} the search takes long: see `make designs`. Shipped are "
            f"{settings_in_words(fitting)}."
        )
    kind = atoms
    if atoms == "best" or (atoms == "hub" and not coins):
        kind, coins = good_atoms(size)
        if atoms not in (kind, "best"):
            raise ValueError(f"hubs must be given for max_value = {size}: no good ones are known.")
    return _quick(size, float(eps), float(delta), float(eps_star), kind, coins, law)


@remember(256)
def _quick(
    size: int, eps: float, delta: float, eps_star: float, kind: str, hubs: tuple[int, ...], law: str
) -> NoiseDesign:
    design = family_design(size, eps, delta, eps_star, atoms=kind, hubs=hubs or None, law=law)
    return certified_design(design)[0]


def good_atoms(max_value: FromOne) -> tuple[str, tuple[int, ...]]:
    """Return the kind of atoms and the hubs for which the search found the fewest messages near this D.

    Derived for this project, by a search for eps = 1 and delta = 1e-6.

    Parameters
    ----------
    max_value : int
        D, >= 1.

    Returns
    -------
    kind : str
        An estimate for other budgets.
    hubs : tuple of int
        Empty unless `kind` is ``hub``.
    """
    size = max_value
    fitting = [hubs for least, hubs in _GOOD_HUBS if size >= least]
    return ("hub", fitting[-1]) if fitting else ("star", ())


def _checked(max_value: int, atoms: str, hubs: Sequence[int] | None) -> tuple[int, tuple[int, ...]]:
    check_choice("atoms", atoms, ATOM_CHOICES)
    if atoms == "hub" and hubs is None:
        return check_count("max_value", max_value, 1), ()
    size, _, coins = check_atoms(max_value, "star" if atoms == "best" else atoms, hubs)
    return size, coins
