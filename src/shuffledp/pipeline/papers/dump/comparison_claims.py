"""Comparisons of protocols in error and messages for claims of DUMP."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.baselines.correlated_counts import correlated_noise
from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.claims.case import Case, Verdict
from shuffledp.pipeline.formatters import finite, span, times
from shuffledp.pipeline.papers.dump.computed_tables import PROTOCOLS
from shuffledp.pipeline.query import (
    Array,
    Names,
    compare,
    least,
    mapped,
    share,
    total,
)

DUMP = ("pure_dump", "mix_dump")
#: All other protocols except correlated noise.
RIVALS = ("grr_blanket", "solh", "truncation", "truncation_plain", "private_coin", "public_coin")
#: Experiments with all protocols.
PLOTTED = ("synthetic", "ipums", "ratings")
#: Third domain size of Figure 3; rivals are computed here, because no figure has them at this size.
LARGE_DOMAIN = 5000
_WORDS = {"expected": "error", "extra_messages": "extra messages", "messages_per_user": "messages"}
#: Rivals whose errors are computed at settings of no experiment.
_BY_FUNCTION = {
    "grr_blanket": "privacy-amplification",
    "solh": "SOLH",
    "private_coin": "private-coin",
    "truncation_plain": "truncation-based",
}


def error_by_function(method: str, n: float, k: int, eps: float, accounting: str) -> float:
    """Return the error of a competing protocol at a setting of no experiment; nan if it is infeasible."""
    try:
        return PROTOCOLS[_BY_FUNCTION[method]](int(n), k, eps, accounting).mse
    except Infeasible:
        return math.nan


def _messages_with_share(case: Case, share: float) -> Array:
    """Return the messages of correlated noise if its pairs have a share of eps."""

    def messages(eps: float, delta: float) -> float:
        return correlated_noise(eps, delta, accounting=case.accounting, share=share).messages

    sizes, users = (case(name, "correlated_noise") for name in ("domain_size", "users_expected"))
    budgets = (case(name, "correlated_noise") for name in ("eps", "delta"))
    return mapped(messages, *budgets) * sizes / users


def _in_large_domain(case: Case, of: Names, rivals: Names) -> tuple[Array, Array] | None:
    """Return both sides at Figure 3's largest domain, with computed rivals; None if the grid lacks this domain."""
    domains = case.where(experiment="domains")
    ours = domains.greatest("expected", of)
    if LARGE_DOMAIN not in ours["k"]:
        return None
    users = domains("users_expected", of[0], k=LARGE_DOMAIN)
    errors = [
        mapped(
            lambda n, eps, rival=rival: error_by_function(rival, n, LARGE_DOMAIN, eps, case.accounting),
            users,
            users["eps"],
        )
        for rival in rivals
        if rival in _BY_FUNCTION
    ]
    return ours.sel(k=LARGE_DOMAIN, drop=True), least(errors)


def _leads(ours: Sequence[Array], best: Sequence[Array]) -> str:
    ratios = finite(theirs / own for own, theirs in zip(ours, best, strict=True))
    positive = ratios[np.isfinite(ratios)]
    return span(positive) if positive.size else "infinitely many"


def lowest(
    case: Case,
    of: Names,
    rivals: Names,
    experiments: Names = PLOTTED,
    quantity: str = "expected",
    large_domain: bool = False,
    shares: Sequence[float] = (),
) -> Verdict:
    """Check that all methods in ``of`` are below every feasible rival at all points."""
    ours, best = [], []
    for query in case.each("experiment", experiments):
        ours.append(query.greatest(quantity, of))
        others = (_messages_with_share(query, share) for share in shares)
        best.append(least([query.least(quantity, rivals), *others]))
    reason = f"the best rival has {_leads(ours, best)} times the {_WORDS[quantity]}"
    points = total(map(compare, ours, best))
    if large_domain:
        large = _in_large_domain(case, of, rivals)
        if large:
            points += compare(*large)
            reason += f"; with {LARGE_DOMAIN} values {_leads(large[:1], large[1:])} times"
        else:
            reason += f"; without the {LARGE_DOMAIN} values of the paper, which this run lacks"
    rest = [
        f"{how} at {count}" for how, count in (("tied", points.tied), ("not lowest", points.con)) if count
    ]
    return Verdict(", ".join([f"lowest at {points}", *rest]), points, reason)


def ratio(
    case: Case,
    of: Names,
    to: Names = ("pure_dump",),
    quantity: str = "expected",
    least: float = 0,
    below: float = math.inf,
    experiments: Names = PLOTTED,
    somewhere: bool = False,
) -> Verdict:
    """Check at every point the ratio of the smallest number of ``of`` to the largest of ``to``.

    With ``somewhere``, the claim holds in part if it is true at any point.
    """
    ratios = finite(
        query.least(quantity, of) / query.greatest(quantity, to)
        for query in case.each("experiment", experiments)
    )
    right = share((ratios >= least) & (ratios < below))
    limit = f"at least {least:g}" if least else f"less than {below:g}"
    return Verdict(
        f"{times(ratios)} the {_WORDS[quantity]}",
        right.anywhere if somewhere else right,
        f"{limit} times at {right}",
    )
