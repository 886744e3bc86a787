"""The variation-ratio theorem without a condition on the residual component, for k-ary randomized response.

With k >= 3 values the victim's response has a residual that depends on neither of its two inputs. The theorem (arXiv
2407.19639, Theorem 1; erratum SEG-6.2) compares the shuffled responses with a pair of counts that omits the residuals
of the others. The exact delta is computed from the messages themselves.

**Proposition**: the theorem fails for every number N of others and every k >= 3. Let these N hold the victim's value,
and let ``E = e^eps_local``. Only one outcome has the largest likelihood ratio E: all N + 1 responses are that value,
with probability ``(E / (E + k - 1))^(N + 1)``. In the pair of counts only the outcome ``(N + 1, 0)`` has this ratio,
with probability ``E / (E + k - 1)^(N + 1)``. Any other outcome has a ratio below E: either from the mixture of the two
labels, or because the outcome may come from the residual, which has the ratio 1. For eps between the second largest
ratios and eps_local, delta is this probability times ``1 - e^(eps - eps_local)``. So the exact delta is ``e^(N
eps_local)`` times the stated delta.

eps is in nats, and neighboring data sets differ by replacement of one user's input.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from typing import Literal

import numpy as np
from scipy.special import gammaln, xlogy

from shuffledp.accounting.general.variation_ratio import variation_ratio_delta, variation_ratio_epsilon
from shuffledp.pipeline.claims.message_multisets import Floats, deltas_of_data_sets, hockey_stick
from shuffledp.pipeline.claims.search_results import LEAST_DELTA, Values

Form = Literal["stated", "replacement"]


def response_rows(k: int, eps_local: float) -> Floats:
    """Return the law of k-ary randomized response for each value, (k, k)."""
    rows = np.ones((k, k)) + (math.exp(eps_local) - 1) * np.eye(k)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def bound(form: Form, eps: float, k: int, eps_local: float, others: int) -> float:
    """Return delta by the theorem as stated, or by its replacement."""
    p = math.exp(eps_local)
    return variation_ratio_delta(eps, p, (p - 1) / (p + k - 1), p, others, sound=form == "replacement")


def few_users(numbers: Iterable[int], domains: Iterable[int], budgets: Iterable[float], form: Form) -> Values:
    """Compare the theorem with the worst data set of a few users."""
    for others, k, eps_local in product(numbers, domains, budgets):
        for eps, deltas in deltas_of_data_sets(response_rows(k, eps_local), others, eps_local):
            worst = max(deltas, key=lambda data_set: deltas[data_set])
            if deltas[worst] < LEAST_DELTA:
                continue
            limit = bound(form, eps, k, eps_local, others)
            words = (
                f"{others} others, {k} values, local budget {eps_local:g}, eps {eps:.3g}: {', '.join(map(str, worst))} "
                f"of them hold each value, delta {deltas[worst]:.3g} against {limit:.3g}"
            )
            yield deltas[worst] / limit, words


def same_value_laws(others: int, k: int, eps_local: float) -> tuple[Floats, Floats]:
    """Return the laws of the messages under both inputs of the victim if all others hold the old input."""
    n, e = others + 1, math.exp(eps_local)
    same, changed = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    possible = same + changed <= n
    same, changed = same[possible], changed[possible]
    rest = n - same - changed
    log_law = gammaln(n + 1) - gammaln(same + 1) - gammaln(changed + 1) - gammaln(rest + 1)
    log_law += same * eps_local + xlogy(rest, k - 2) - n * math.log(e + k - 1)
    law = np.exp(log_law)
    return law, law * (same / e + changed * e + rest) / n


def many_users(
    numbers: Iterable[int], domains: Iterable[int], budgets: Iterable[float], targets: Iterable[float]
) -> Values:
    """Compare the theorem, for many users, with the data set in which all others hold the victim's value."""
    target_deltas = tuple(targets)
    for others, k, eps_local in product(numbers, domains, budgets):
        p = math.exp(eps_local)
        pair = same_value_laws(others, k, eps_local)
        for target in target_deltas:
            eps = variation_ratio_epsilon(target, p, (p - 1) / (p + k - 1), p, others, sound=False)
            if not 0 < eps < eps_local:
                continue
            stated_delta = bound("stated", eps, k, eps_local, others)
            exact = hockey_stick(*pair, eps)
            words = (
                f"{others} others, all with the victim's value, {k} values, local budget {eps_local:g}, eps {eps:.3g}: "
                f"delta {exact:.3g} against {stated_delta:.3g}"
            )
            yield exact / stated_delta, words
