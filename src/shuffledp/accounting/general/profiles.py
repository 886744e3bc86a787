"""Hockey-stick divergences and privacy profiles.

The hockey-stick divergence of p and q at eps is ``sum max(p - e^eps q, 0)``, the smallest delta with
``p(S) <= e^eps q(S) + delta`` for every event S. A privacy profile is its maximum over both directions and all pairs of
neighboring data sets, as a function of eps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.privacy_profile import (
    Kind as Kind,
    PrivacyProfile as PrivacyProfile,
    View as View,
    delta_of,
)
from shuffledp.numerics.argument_ranges import (
    EpsArray,
    OpenUnit,
    Positive,
    RealArray,
    check_fields,
    check_nonnegative,
    checked,
    one_of,
)

if TYPE_CHECKING:
    from shuffledp.accounting.general.loss_sums import LossPart


def at_each(delta_at: Callable[[float], float], eps: RealArray) -> NDArray[np.float64]:
    """Return the deltas of a function at each eps (nats, >= 0), at most 1, shape of `eps`."""
    eps_ = np.asarray(eps, np.float64)
    deltas = [min(delta_at(check_nonnegative("eps", float(e))), 1.0) for e in eps_.flat]
    return np.array(deltas, np.float64).reshape(eps_.shape)


class Exported:
    """Conversions of all privacy profiles, imported at their first use."""

    @checked
    def to_pld(self: PrivacyProfile, *, step: Positive = 1e-3, negligible: OpenUnit = 1e-15) -> Any:
        """Return the privacy loss distribution; see :func:`shuffledp.accounting.general.exports.to_pld`."""
        from shuffledp.accounting.general.exports import to_pld

        return to_pld(self, step=step, negligible=negligible)

    @checked
    def to_opendp(
        self: PrivacyProfile, function: Callable[[Any], Any] | None = None, *, domain: Any = None
    ) -> Any:
        """Return a measurement; see :func:`shuffledp.accounting.general.opendp_export.to_opendp`."""
        from shuffledp.accounting.general.opendp_export import to_opendp

        return to_opendp(self, function, domain=domain)

    @checked
    def to_renyi(self: PrivacyProfile, orders: RealArray | None = None) -> Any:
        """Return the Renyi divergences; see :func:`shuffledp.accounting.general.renyi_curve.to_renyi`."""
        from shuffledp.accounting.general.renyi_curve import to_renyi

        return to_renyi(self, orders)


@dataclass(frozen=True, eq=False)
class Profile(Exported):
    """Privacy profile of `delta_at`, a function from eps (nats, >= 0) to the larger delta of the two directions.
    `bound`, if given, maps eps and a relative excess to an upper bound on delta, within this excess and much faster. A
    bound below 1e-24 may have a larger excess. `loss_parts`, if given, maps a negligible mass to laws of losses that
    bound the profile, and to the mass of infinite losses: compositions use them if they are faster than delta.
    """

    delta_at: Callable[[float], float]
    source: str
    kind: Kind = "upper"
    neighbours: str = "replace_one"
    bound: Callable[[float, float], float] | None = None
    loss_parts: Callable[[float], tuple[list[LossPart], float]] | None = None
    view: ClassVar[View] = "analyzer"

    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), shape of `eps`."""
        return at_each(self.delta_at, eps)


def hockey_stick(log_p: RealArray, log_q: RealArray, eps: RealArray) -> NDArray[np.float64]:
    """Return the hockey-stick divergence of two discrete distributions, in one direction.

    Exact up to rounding, without cancellation. Source: Dwork and Roth (2014); Balle, Barthe and Gaboardi (2018).

    Parameters
    ----------
    log_p, log_q : (k,) array_like
        Natural logs of the probabilities of the same k outcomes; ``-inf`` means 0.
    eps : scalar or (m,) array_like
        Nats, any sign.

    Returns
    -------
    () or (m,) ndarray
        ``sum max(p - e^eps q, 0)``; exchange the arguments for the other direction.

    Examples
    --------
    >>> import numpy as np
    >>> from shuffledp.accounting import hockey_stick
    >>> log_p, log_q = np.log([0.75, 0.25]), np.log([0.25, 0.75])
    >>> hockey_stick(log_p, log_q, [0.0, 0.5]).round(4).tolist()
    [0.5, 0.3378]
    """
    log_p, log_q = np.asarray(log_p, np.float64), np.asarray(log_q, np.float64)
    if log_p.shape != log_q.shape:
        raise ValueError(f"log_p has shape {log_p.shape} but log_q has {log_q.shape}.")
    eps_ = np.asarray(eps, np.float64)
    with np.errstate(invalid="ignore"):  # -inf - -inf where p = q = 0: no mass
        # The difference of close logarithms is exact; adding eps to one of them first would cost a small gap digits.
        gap = eps_[..., None] + (log_q - log_p)
    return np.asarray(np.sum(np.exp(log_p) * -np.expm1(np.fmin(gap, 0.0)), axis=-1))  # fmin drops the nan


@dataclass(frozen=True, eq=False)
class CountPair(Exported):
    """Privacy profile of a pair of distributions over enumerated outcomes.

    Parameters
    ----------
    log_p, log_q : (k,) ndarray
        Natural logs of the probabilities of the same k outcomes under the two neighboring inputs.
    omitted : float
        Upper bound on the mass of either distribution outside of these outcomes. It is added to delta, so that the
        profile is an upper bound if ``omitted > 0``.
    neighbours, view, source, kind
        See :class:`PrivacyProfile`.
    """

    log_p: NDArray[np.float64]
    log_q: NDArray[np.float64]
    omitted: float = 0.0
    neighbours: str = "replace_one"
    view: View = "analyzer"
    source: str = "enumeration"
    kind: Kind = field(default="exact")

    def __post_init__(self) -> None:
        check_fields(self)
        log_p, log_q = np.asarray(self.log_p, np.float64), np.asarray(self.log_q, np.float64)
        if log_p.shape != log_q.shape or log_p.ndim != 1:
            raise ValueError(f"log_p and log_q must be (k,), got shapes {log_p.shape} and {log_q.shape}.")
        if not self.omitted >= 0:
            raise ValueError(f"omitted must be >= 0, got {self.omitted!r}.")
        for name, log_mass in (("log_p", log_p), ("log_q", log_q)):
            total = float(np.sum(np.exp(np.minimum(log_mass, 1.0))))  # a single one above 0 is too much
            if not total <= 1 + 1e-9:
                raise ValueError(f"{name} has a total mass of {total!r}, expected at most 1.")
        object.__setattr__(self, "log_p", log_p)
        object.__setattr__(self, "log_q", log_q)

    @checked
    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return the larger delta of the two directions for each eps (nats), shape of `eps`."""
        forward = hockey_stick(self.log_p, self.log_q, eps)
        backward = hockey_stick(self.log_q, self.log_p, eps)
        return np.minimum(np.maximum(forward, backward) + self.omitted, 1.0)


@dataclass(frozen=True, eq=False)
class WorstOf(Exported):
    """Largest delta of several profiles, for example of all ordered pairs of inputs.

    Parameters
    ----------
    profiles : tuple of PrivacyProfile
        At least one profile. All profiles are for the same neighboring relation and view.
    """

    profiles: tuple[PrivacyProfile, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "profiles", tuple(self.profiles))
        if not self.profiles:
            raise ValueError("profiles must be at least one profile, got none.")
        for name in ("neighbours", "view"):
            values = sorted({str(getattr(p, name)) for p in self.profiles})
            if len(values) > 1:
                raise ValueError(f"WorstOf needs profiles of one kind of {name}, got {', '.join(values)}.")

    @property
    def kind(self) -> Kind:
        """``exact`` if all profiles are exact. Otherwise, the kind that all other profiles share, or ``approximate`` if
        these kinds differ.
        """
        kinds = {p.kind for p in self.profiles} - {"exact"}
        if not kinds:
            return "exact"
        return kinds.pop() if len(kinds) == 1 else "approximate"

    @property
    def neighbours(self) -> str:
        """Neighboring relation of all profiles."""
        return self.profiles[0].neighbours

    @property
    def view(self) -> View:
        """View of all profiles."""
        return self.profiles[0].view

    @property
    def source(self) -> str:
        """Sources of the profiles, without repetition."""
        return "; ".join(dict.fromkeys(p.source for p in self.profiles))

    @checked
    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return the largest delta for each eps (nats), shape of `eps`."""
        return np.asarray(np.max([delta_of(p, eps) for p in self.profiles], axis=0))


@dataclass(frozen=True)
class GaussianProfile(Exported):
    """Privacy profile of a query to a trusted server with Gaussian noise (mu-Gaussian differential privacy).

    Source: Balle and Wang (2018), Theorem 8. Exact up to rounding, less than 1e-9 relative down to 1e-300; both
    directions have the same delta.

    Parameters
    ----------
    mu : float
        Sensitivity of the query over the standard deviation of its noise, > 0. The sensitivity depends on `neighbours`:
        replacing one vector of norm at most C changes a sum of such vectors by up to 2 C.
    neighbours : str
        Neighboring relation, ``replace_one`` or ``add_remove``.

    Examples
    --------
    >>> from shuffledp.accounting import GaussianProfile
    >>> GaussianProfile(0.5).delta([0.0, 1.0]).round(5).tolist()
    [0.19741, 0.00683]
    """

    mu: Positive
    neighbours: Annotated[str, one_of(("replace_one", "add_remove"))] = "replace_one"
    kind: ClassVar[Kind] = "exact"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "Balle and Wang 2018, Theorem 8"

    def __post_init__(self) -> None:
        check_fields(self)

    @checked
    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), shape of `eps`."""
        from shuffledp.accounting.general.gaussian import log_gaussian_delta

        return at_each(lambda e: math.exp(log_gaussian_delta(self.mu, e)), eps)
