"""Multi-message accounting: wall times of the main functions, and the plain sum for the Polya noise."""

import math
import time
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from shuffledp.accounting import (
    best_polya_shape,
    multi_expected_plan,
    multi_expected_scale,
    multi_union_plan,
    negative_binomial_delta,
)
from shuffledp.accounting.remember import forget_all
from shuffledp.populations import Binomial, Poisson


def plain_delta(shape: float, eps: float) -> float:
    """The two probability functions enumerated and convolved; cancels when shape is close to 1."""
    j = np.arange(math.ceil(40 / eps))
    log_pmf = gammaln(j + shape) - gammaln(shape) - gammaln(j + 1) - j * eps
    pmf = np.exp(log_pmf + shape * math.log(-math.expm1(-eps)))
    law = np.convolve(pmf, pmf[::-1])
    return float(np.sum(np.maximum(law[:-1] - math.exp(eps) * law[1:], 0)))


def best_of(function: Callable[[], object], repeats: int = 5) -> float:
    fastest = math.inf
    for _ in range(repeats):
        forget_all()
        start = time.perf_counter()
        function()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def main() -> None:
    cases: dict[str, Callable[[], object]] = {
        "Polya delta, shape 0.9, eps 0.01": lambda: negative_binomial_delta(0.9, 0.01),
        "the same, plain sum": lambda: plain_delta(0.9, 0.01),
        "best shape, Poisson 1000": lambda: best_polya_shape(Poisson(1000), 0.1, 1e-5),
        "best shape, Poisson 125000": lambda: best_polya_shape(Poisson(125000), 0.1, 1e-5),
        "scale, printed, Poisson 125000": lambda: multi_expected_scale(Poisson(125000), 0.1, 1e-5, 354),
        "union plan, Binomial(48841, 0.05)": lambda: multi_union_plan(Binomial(48841, 0.05), 0.1, 1e-5),
        "expected plan, Binomial(48841, 0.05)": lambda: multi_expected_plan(Binomial(48841, 0.05), 0.1, 1e-5),
    }
    for name, call in cases.items():
        print(f"{name}: {1e3 * best_of(call):.2f} ms")


if __name__ == "__main__":
    main()
