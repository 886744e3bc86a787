"""Conversion of a privacy profile to a measurement of the library OpenDP, an optional extra."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from shuffledp.accounting.general.privacy_profile import PrivacyProfile, delta_of
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.optional_dependencies import needed


def group_delta(profile: PrivacyProfile, eps: float, users: int) -> float:
    """Return delta for data sets that differ in the inputs of several users; an upper bound if the profile is one.
    Group privacy: with e = eps / users, ``delta(e) (1 + e^e + .. + e^((users - 1) e))`` (Dwork and Roth 2014, by
    induction over the users). It is 0 for no users. A delta of 0 counts as 1e-300 before multiplication.
    """
    if users == 0:
        return 0.0
    each = eps / users
    delta = float(delta_of(profile, each))
    if users == 1:
        return delta
    delta = max(delta, 1e-300)  # what is 0 may have been smaller than a float, and is multiplied
    log_times = math.log(users)
    if each > 0:
        log_times = eps - each + math.log(math.expm1(-eps) / math.expm1(-each))
    return math.exp(min(log_times + math.log(delta), 0.0))


def _not_given(_: Any) -> Any:
    raise ValueError("This measurement cannot be invoked: to_opendp got function=None.")


def to_opendp(
    profile: PrivacyProfile, function: Callable[[Any], Any] | None = None, *, domain: Any = None
) -> Any:
    """Return a measurement of the library OpenDP with the privacy of a profile.

    Source: Dwork and Roth (2014), group privacy for several users. OpenDP searches for the eps of a delta with about
    sixty evaluations of the profile.

    Parameters
    ----------
    profile : PrivacyProfile
        Privacy profile of the kind ``exact`` or ``upper``.
    function : callable, optional
        Release for a data set. The caller guarantees that it has this profile. Without a function, the measurement is
        for accounting only and rejects data.
    domain : opendp.mod.Domain, optional
        Domain of the data sets; all Python objects if not given.

    Returns
    -------
    opendp.mod.Measurement
        With the output measure ``smoothed_max_divergence``: ``map(users)`` is the profile for data sets that differ in
        the inputs of `users` users, an upper bound if the profile is one. Its input metric is ``change_one_distance``
        for the relation ``replace_one``, ``symmetric_distance`` for ``add_remove``. ``make_fix_delta`` converts it to
        (eps, delta), in nats. OpenDP composes by adding eps and delta; :func:`to_pld` gives tighter compositions.

    Raises
    ------
    ValueError
        If the profile is not an upper bound, or has another neighboring relation.
    MissingExtra
        If OpenDP is not installed; the extra ``opendp`` brings it.
    opendp.mod.OpenDPException
        If OpenDP's features ``contrib`` and ``honest-but-curious`` are not enabled. Enabling them accepts a claim that
        OpenDP does not prove.

    Examples
    --------
    With OpenDP 0.16, and its features enabled by ``dp.enable_features("contrib", "honest-but-curious")``::

        profile = ClonesProfile(OtherReports(Fixed(9_999)), 1.0)
        profile.to_opendp().map(1).epsilon(delta=1e-6)  # 0.0530
    """
    if profile.kind not in ("exact", "upper"):
        raise ValueError(
            f"A measurement needs a profile that is exact or an upper bound, got {profile.kind!r}."
        )
    metrics = {"replace_one": "change_one_distance", "add_remove": "symmetric_distance"}
    if profile.neighbours not in metrics:
        raise ValueError(f"neighbours must be one of {', '.join(metrics)}; got {profile.neighbours!r}.")
    with needed():
        import opendp.domains
        import opendp.measurements
        import opendp.measures
        import opendp.metrics

    def loss(users: int) -> Any:
        number = check_count("users", users)

        def curve(eps: float) -> float:
            return group_delta(profile, eps, number)

        # The pointer that it holds: OpenDP 0.16 does not take the object itself from a Python function.
        return opendp.measures.new_privacy_profile(curve).curve

    return opendp.measurements.make_user_measurement(
        domain if domain is not None else opendp.domains.user_domain("data set", lambda _: True),
        getattr(opendp.metrics, metrics[profile.neighbours])(),
        opendp.measures.smoothed_max_divergence(),
        function or _not_given,
        loss,
    )
