"""Composition of mechanisms on the same users: shuffled batches and queries of a trusted server.

Profiles become loss distributions on a common grid, which dp_accounting composes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shuffledp.accounting.general.exports import profile_end, to_pld
from shuffledp.numerics.argument_ranges import Delta, FromOne, Positive

if TYPE_CHECKING:
    from shuffledp.accounting.general.profiles import PrivacyProfile

#: Losses up to the end of the profile that ends first; and up to the end of any, at most.
_LOSSES = 128
_MOST_LOSSES = 50_000
#: Largest relative contribution of all ends together to delta.
_NEGLIGIBLE = 1e-4


def composed_epsilon(
    mechanisms: Sequence[PrivacyProfile | Any],
    delta: Delta,
    *,
    rounds: Sequence[FromOne] | None = None,
    step: Positive | None = None,
) -> float:
    """Return the central eps of several mechanisms on the same users, one after the other or at once.

    Sources: :func:`to_pld`, by Doroshenko et al. (2022); composition of dominating pairs, by Zhu, Dong and Wang (2022),
    Theorem 10.

    Parameters
    ----------
    mechanisms : sequence of PrivacyProfile or PrivacyLossDistribution
        At least one mechanism. All profiles are for the same neighboring relation. The caller ensures that loss
        distributions of dp_accounting are for this relation, too.
    delta : float
        Delta of the composition, in (0, 1).
    rounds : sequence of int, optional
        Number of uses of each mechanism, >= 1; 1 if not given.
    step : float, optional
        Distance of losses on the grid, nats, > 0. If not given, the larger of 1/128 of the smallest eps and 1/50,000 of
        the largest eps at which a profile ends. With loss distributions, `step` is required and must be their
        ``value_discretization_interval``.

    Returns
    -------
    float
        Nats, >= 0; ``inf`` if delta is below the mass of infinite losses. An upper bound if the profiles are upper
        bounds and the loss distributions pessimistic, also if each mechanism depends on earlier releases.
        Convolutions have rounding errors of about 1e-16, so that a delta below 1e-12 is not resolved.

    Raises
    ------
    ValueError
        If neighboring relations differ, there are no mechanisms, or `step` does not fit a loss distribution.
    Infeasible
        If a given step results in more than 200,000 losses.
    MissingExtra
        If dp-accounting is not installed; the extra ``central`` brings it.

    Examples
    --------
    Sixteen shuffled batches, then one query with Gaussian noise of ten times its sensitivity:

    >>> from shuffledp.accounting import ClonesProfile, GaussianProfile, OtherReports, composed_epsilon
    >>> from shuffledp.populations import Fixed
    >>> batch = ClonesProfile(OtherReports(Fixed(9_999)), 1.0)
    >>> round(composed_epsilon([batch], 1e-6, rounds=[16]), 4)
    0.2339
    >>> round(composed_epsilon([batch, GaussianProfile(0.1)], 1e-6, rounds=[16, 1]), 4)
    0.4699
    """
    found: list[Any] = list(mechanisms)
    counts = [1] * len(found) if rounds is None else rounds
    if not found or len(found) != len(counts):
        raise ValueError(
            f"mechanisms and rounds must have the same length, at least 1, got {len(found)} and {len(counts)}."
        )
    for one in found:
        if not (hasattr(one, "delta") or hasattr(one, "self_compose")):
            raise ValueError(f"mechanisms must be privacy profiles or loss distributions, got {one!r}.")
    profiles = [one for one in found if hasattr(one, "delta")]
    relations = sorted({profile.neighbours for profile in profiles})
    if len(relations) > 1:
        raise ValueError(
            f"mechanisms must have the same neighboring relation, got {' and '.join(relations)}."
        )
    if len(profiles) < len(found) and step is None:
        raise ValueError("step must be given with loss distributions: their value_discretization_interval.")
    negligible = _NEGLIGIBLE * delta / sum(counts)
    distance = _step(profiles, negligible) if step is None else step
    total: Any = None
    for one, times in zip(found, counts, strict=True):
        loss = to_pld(one, step=distance, negligible=negligible) if hasattr(one, "delta") else one
        several = loss.self_compose(times) if times > 1 else loss
        total = several if total is None else total.compose(several)
    return float(total.get_epsilon_for_delta(delta))


def _step(profiles: Sequence[PrivacyProfile], negligible: float) -> float:
    ends = [profile_end(profile, negligible) for profile in profiles]
    return max(min(ends) / _LOSSES, max(ends) / _MOST_LOSSES)
