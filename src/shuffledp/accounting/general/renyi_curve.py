"""Renyi divergences at a list of orders, which add up over mechanisms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.exports import renyi_from_profile
from shuffledp.accounting.general.privacy_profile import PrivacyProfile
from shuffledp.accounting.general.rdp import rdp_to_epsilon
from shuffledp.numerics.argument_ranges import Delta, RealArray, check_count, check_fields, checked

#: Orders of Renyi curves, closer together near 1. The largest are the best orders of a single round of millions of
#: users.
RENYI_ORDERS: tuple[float, ...] = tuple(float(x) for x in 1 + np.geomspace(0.1, 1e6, 141))


@dataclass(frozen=True, eq=False)
class RenyiCurve:
    """Renyi differential privacy at a list of orders; the divergences of composed mechanisms add up.

    Source: Mironov (2017), Proposition 1. A sum is as exact as its terms.

    Parameters
    ----------
    orders : (k,) ndarray
        Each above 1, finite.
    divergences : (k,) ndarray
        Nats, >= 0; ``inf`` if no finite divergence is known.
    neighbours : str
        Neighboring relation.

    Examples
    --------
    Sixteen shuffled batches and one query of a trusted server:

    >>> from shuffledp.accounting import ClonesProfile, GaussianProfile, OtherReports
    >>> from shuffledp.populations import Fixed
    >>> batch = ClonesProfile(OtherReports(Fixed(9_999)), 1.0).to_renyi()
    >>> query = GaussianProfile(0.1).to_renyi()
    >>> round((16 * batch + query).epsilon(1e-6), 3)
    0.509
    """

    orders: NDArray[np.float64]
    divergences: NDArray[np.float64]
    neighbours: str = "replace_one"

    def __post_init__(self) -> None:
        check_fields(self)
        orders, values = np.asarray(self.orders, np.float64), np.asarray(self.divergences, np.float64)
        if orders.ndim != 1 or orders.size == 0 or orders.shape != values.shape:
            raise ValueError(
                "orders and divergences must be (k,) with k >= 1 and the same shape, "
                f"got {orders.shape} and {values.shape}."
            )
        if not (np.all(orders > 1) and np.all(np.isfinite(orders))):
            raise ValueError(f"orders must be finite numbers above 1, got {self.orders!r}.")
        if not np.all(values >= 0):
            raise ValueError(f"divergences must be >= 0, got {self.divergences!r}.")
        object.__setattr__(self, "orders", orders)
        object.__setattr__(self, "divergences", values)

    def __add__(self, other: RenyiCurve) -> RenyiCurve:
        """Return the curve of two mechanisms together; the second may depend on the output of the first."""
        if not isinstance(other, RenyiCurve):
            return NotImplemented
        if not np.array_equal(self.orders, other.orders):
            raise ValueError("Renyi curves must have the same orders to be added.")
        if self.neighbours != other.neighbours:
            raise ValueError(
                "Renyi curves must have the same neighboring relation to be added, got "
                f"{self.neighbours} and {other.neighbours}."
            )
        return RenyiCurve(self.orders, self.divergences + other.divergences, self.neighbours)

    def __mul__(self, rounds: int) -> RenyiCurve:
        """Return the curve of `rounds` >= 1 uses of the mechanism."""
        return RenyiCurve(self.orders, check_count("rounds", rounds, 1) * self.divergences, self.neighbours)

    __rmul__ = __mul__

    @checked
    def epsilon(self, delta: Delta) -> float:
        """Return the eps (nats) that the curve implies for a delta in (0, 1); see :func:`rdp_to_epsilon`."""
        return rdp_to_epsilon(self.orders, self.divergences, delta)[0]


def to_renyi(profile: PrivacyProfile, orders: RealArray | None = None) -> RenyiCurve:
    """Return the curve of Renyi divergences that a profile implies.

    Source: :func:`renyi_from_profile`. The eps of composed curves is some percent above the eps of composed loss
    distributions (:func:`composed_epsilon`).

    Parameters
    ----------
    profile : PrivacyProfile
        Privacy profile that holds in both directions. Its delta at 300 nats must be below 1e-280.
    orders : (k,) array_like, optional
        Each above 1, finite; 141 orders from 1.1 to 1e6 if not given. For a sum with the curve of an accountant of
        dp_accounting, pass the accountant's ``orders``.

    Returns
    -------
    RenyiCurve
        An upper bound if the profile is one. ``RenyiCurve(accountant.orders, accountant.rdp)`` is the curve of a
        ``dp_accounting.rdp.RdpAccountant``, and
        ``dp_accounting.rdp.compute_epsilon(curve.orders, curve.divergences, delta)`` is an eps of any curve.

    Raises
    ------
    Infeasible
        If delta does not vanish, so that no order has a finite divergence.
    """
    at = np.asarray(RENYI_ORDERS if orders is None else orders, np.float64)
    return RenyiCurve(at, renyi_from_profile(profile, at), profile.neighbours)
