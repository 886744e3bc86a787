"""New accounting for published settings of artifacts: printed eps, proven eps, and the eps that a data set attains.

Settings and printed numbers are copied from files of the artifacts. A printed interval has the artifact's lower and
upper bound for any local randomizer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from shuffledp.accountant.deployed import deployed_answer, deployments
from shuffledp.accountant.personalized import personalized_answer
from shuffledp.accountant.shuffled_rounds import amplification
from shuffledp.accounting.general.blanket import blanket_epsilon
from shuffledp.accounting.general.grr_blanket import blanket_local_budget, grr_blanket_epsilon
from shuffledp.accounting.general.randomizers import BinaryRandomizedResponse, FiniteRandomizer
from shuffledp.accounting.general.variation_ratio import variation_ratio_epsilon
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window, binomial_window, convolve

_COUNTS = "Triangle4CycleShuffle, numerical-bound files"
_COUNTS_SOURCE = "https://github.com/Triangle4CycleShuffle/Triangle4CycleShuffle"
#: Users, eps of a report, and the printed interval of the central eps, for delta = 1e-8.
_COUNTED = (
    (2000, 0.99990, 0.15657, 0.16869),
    (2000, 1.87790, 0.40346, 0.49698),
    (20_000, 4.180487, 0.54706, 0.67770),
    (107_614, 5.863305, 0.56114, 0.69856),
    (107_614, 1.000305, 0.019814, 0.020281),
    (200_000, 6.483072, 0.56347, 0.70275),
    (896_308, 7.983039, 0.56910, 0.70163),
)
_VLDP, _VLDP_SOURCE = "VLDP", "https://github.com/xQiratNL/VLDP"
#: Use, users, values, and the central eps that the notebook sets, for delta = 1e-6; and gamma of the benchmarks.
_VERIFIABLE = (("real values", 5000, 101, 0.1), ("histogram", 1000, 100, 0.2))
_BENCHMARK_GAMMA = 0.5
#: Users and stored eps, for delta = 1e-5; the number of parts of the range of the others' budgets.
_STORED, _PARTS, _STORED_DELTA = ((1000, 0.08566), (11_288, 0.02053), (100_000, 0.005825)), 37, 1e-5
#: Mass that laws may omit, relative to delta, and the tolerance of eps.
_OMITTED, _XTOL = 1e-9, 1e-9
#: Level, users, delta and eps of a report of the range query.
_LEVELS, _RANGE_USERS, _RANGE_DELTA, _RANGE_EPS = 6, 10_000, 1e-6, (1.0, 3.0)


@remember(1)
def artifacts() -> pd.DataFrame:
    """Return a row per published setting; lower bounds are rounded down, upper bounds up; missing numbers are empty."""
    rows = [*_counted(), _example(), *_verifiable(), *_stored(), *_ranges(), _daily()]
    return pd.DataFrame(rows).fillna("")


def _row(artifact: str, source: str, setting: str, quantity: str, **texts: str) -> dict[str, str]:
    return {
        "artifact": f"[{artifact}]({source})",
        "setting": setting,
        "quantity": quantity,
        "printed": texts.get("printed", ""),
        "any randomizer, proven": texts.get("anything", ""),
        "randomized response, proven": texts.get("response", ""),
        "randomized response, attained": texts.get("attained", ""),
        "finding": texts.get("finding", ""),
    }


def _up(value: float) -> str:
    return f"{math.ceil(value * 1e6) / 1e6:.6f}"


def _down(value: float) -> str:
    return f"{math.floor(value * 1e6) / 1e6:.6f}"


def _amplified(users: int, eps_local: float, delta: float) -> tuple[float, dict[str, str]]:
    """Return eps for any local randomizer, and the texts of the row's columns about it."""
    anything = amplification(eps_local, users, delta)
    response = amplification(eps_local, users, delta, randomizer="binary")
    texts = {"anything": _up(anything.eps), "response": _up(response.eps)}
    if response.eps_lower is not None:
        texts["attained"] = _down(response.eps_lower)
    return anything.eps, texts


def _counted() -> Iterator[dict[str, str]]:
    for users, eps_local, low, high in _COUNTED:
        eps, texts = _amplified(users, eps_local, 1e-8)
        excess, most = high / eps - 1, high / float(texts["response"]) - 1
        finding = (
            f"upper end valid, {excess:.0%} too large; {most:.0%} for randomized response".replace("%", " %")
            if low <= eps <= high
            else "the proven eps is outside of the interval"
        )
        yield _row(
            _COUNTS,
            _COUNTS_SOURCE,
            f"n = {users:,}, eps0 = {eps_local}, delta = 1e-08",
            "eps",
            printed=f"{low:g} to {high:g}",
            finding=finding,
            **texts,
        )


def _example() -> dict[str, str]:
    _, texts = _amplified(100_000, 4.0, 1e-6)
    return _row(
        "ml-shuffling-amplification, example",
        "https://github.com/apple/ml-shuffling-amplification",
        "n = 100,000, eps0 = 4, delta = 1e-06",
        "eps",
        finding="no number printed",
        **texts,
    )


def _verifiable() -> Iterator[dict[str, str]]:
    for use, users, values, eps in _VERIFIABLE:
        largest = blanket_local_budget(users, values, eps, 1e-6)
        share = values / (math.exp(largest) + values - 1)
        yield _row(
            f"{_VLDP}, notebook, {use}",
            _VLDP_SOURCE,
            f"n = {users:,}, {values} values, eps = {eps:g}, delta = 1e-06",
            "largest eps0",
            response=_down(largest),
            finding=f"gamma = {share:.6f}; the output of the notebook is not stored",
        )
    for _, users, values, _ in _VERIFIABLE:
        eps_local = math.log(values / _BENCHMARK_GAMMA - values + 1)
        yield _row(
            f"{_VLDP}, benchmarks",
            _VLDP_SOURCE,
            f"n = {users:,}, {values} values, gamma = {_BENCHMARK_GAMMA:g}, delta = 1e-06",
            "eps",
            response=_up(grr_blanket_epsilon(users, values, 1e-6, eps_local)),
            finding="no budget printed",
        )


def _stored() -> Iterator[dict[str, str]]:
    for users, stored in _STORED:
        each, remainder = divmod(users - 1, _PARTS)
        others = [(each + (i < remainder), 0.05 + 0.95 * (i + 0.5) / _PARTS) for i in range(_PARTS)]
        groups: list[tuple[int, Any]] = [(1, BinaryRandomizedResponse(1.0))]
        groups += [(number, BinaryRandomizedResponse(eps)) for number, eps in others]
        attained = attained_epsilon(others, 1.0, _STORED_DELTA)
        yield _row(
            "HPS, log_eps1, HPS RR",
            "https://github.com/yixuanLL/HPS",
            f"n = {users:,}, budgets evenly in [0.05, 1], delta = {_STORED_DELTA:g}",
            "eps",
            printed=f"{stored:g}",
            response=_up(personalized_answer(groups, _STORED_DELTA, 0).eps),
            attained=_down(attained),
            finding="smaller than attained (CMP-N3)" if stored < attained else "",
        )


def attained_epsilon(others: list[tuple[int, float]], victim: float, delta: float) -> float:
    """Return the eps of a user of binary randomized response, rounded down, if all others hold 0.

    `others` has numbers of users with their local budgets in nats; `victim` is the local budget of the user.
    """
    law = Window(0, np.ones(1))
    for number, eps_local in others:
        law = convolve(law, binomial_window(number, 1 / (1 + math.exp(eps_local)), _OMITTED * delta))
    flip = 1 / (1 + math.exp(victim))
    law_of_zero, law_of_one = (convolve(law, Window(0, np.array([1 - p, p]))).pmf for p in (flip, 1 - flip))

    def excess(eps: float) -> float:
        ratio = math.exp(eps)
        gaps = (law_of_zero - ratio * law_of_one, law_of_one - ratio * law_of_zero)
        return delta - max(float(np.sum(np.maximum(gap, 0.0))) for gap in gaps)

    return root_below(excess, 0.1 * victim, 0.0, victim, xtol=_XTOL)


def _ranges() -> Iterator[dict[str, str]]:
    for eps_local in _RANGE_EPS:
        odds = math.exp(eps_local)
        last = (odds - 1) / (odds + 2**_LEVELS - 1) / _LEVELS
        code = variation_ratio_epsilon(_RANGE_DELTA, odds, last, odds, _RANGE_USERS - 1, sound=False)
        keep, other = odds / (odds + 1) / _LEVELS, 1 / (odds + 1) / _LEVELS
        first = FiniteRandomizer(((keep, other, 1 - 1 / _LEVELS), (other, keep, 1 - 1 / _LEVELS)))
        attained = blanket_epsilon(first, _RANGE_USERS, _RANGE_DELTA, "lower")
        yield _row(
            "PrivacyAmplification, krr_para_advanced",
            "https://github.com/wangsw/PrivacyAmplification",
            f"n = {_RANGE_USERS:,}, {2**_LEVELS} values, eps0 = {eps_local:g}, delta = {_RANGE_DELTA:g}",
            "eps",
            printed=f"{code:.6f} by its code",
            attained=_down(attained),
            finding="smaller than attained (CMP-E6)" if code < attained else "",
        )


def _daily() -> dict[str, str]:
    key = "Cobalt, 1m report"
    deployment, eps = deployments()[key], deployed_answer(key).eps
    printed = deployment.eps or 0.0
    return _row(
        key,
        deployment.source,
        f"n = {deployment.users:,}, delta = {deployment.delta:g}, one day",
        "eps",
        printed=f"{printed:g}",
        finding=f"{'holds' if eps <= printed else 'too small'}: {_up(eps)}, exact",
    )
