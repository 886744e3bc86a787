"""Times of multi-message accounting: the main functions, and the plain sum for the Polya noise."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from random_population import Row, best_of, compared
from scipy.special import gammaln

from shuffledp.accounting import (
    best_polya_shape,
    multi_expected_plan,
    multi_expected_scale,
    multi_union_plan,
    negative_binomial_delta,
)
from shuffledp.populations import Binomial, Poisson


def plain_delta(shape: float, eps: float) -> float:
    """Return delta by enumeration and convolution of both probability functions; inaccurate for shape near 1."""
    j = np.arange(math.ceil(40 / eps))
    log_pmf = gammaln(j + shape) - gammaln(shape) - gammaln(j + 1) - j * eps
    pmf = np.exp(log_pmf + shape * math.log(-math.expm1(-eps)))
    law = np.convolve(pmf, pmf[::-1])
    return float(np.sum(np.maximum(law[:-1] - math.exp(eps) * law[1:], 0)))


def rows() -> list[Row]:
    """Return all rows of the table, in about a second."""
    alone: dict[str, Callable[[], object]] = {
        "best n1, Poisson 1000": partial(best_polya_shape, Poisson(1000), 0.1, 1e-5),
        "best n1, Poisson 125000": partial(best_polya_shape, Poisson(125000), 0.1, 1e-5),
        "scale, printed, Poisson 125000": partial(
            multi_expected_scale, Poisson(125000), 0.1, 1e-5, 354, accounting="printed"
        ),
        "union plan, Binomial(48841, 0.05)": partial(
            multi_union_plan, Binomial(48841, 0.05), 0.1, 1e-5, accounting="printed"
        ),
        "expected plan, Binomial(48841, 0.05)": partial(
            multi_expected_plan, Binomial(48841, 0.05), 0.1, 1e-5, accounting="printed"
        ),
    }
    compare = compared(
        "Polya delta, shape 0.9, eps 0.01",
        partial(negative_binomial_delta, 0.9, 0.01),
        partial(plain_delta, 0.9, 0.01),
    )
    return [compare, *(Row(name, best_of(call, 3)[0]) for name, call in alone.items())]
