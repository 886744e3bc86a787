"""Published probability that a user sends a fair coin in place of a bit."""

import math

from shuffledp.guarantees import Standing

#: Guarantee of the published rate.
THIRD_PARTY = Standing(
    "unproven",
    "the formula was read in third-party code only, where it is commented out; the theorem itself was not available",
)


def bit_sum_rate(n: int, eps: float, delta: float) -> float:
    """Return the published probability, in (0, 1), that a user sends a fair coin in place of the bit. Cheu, Smith,
    Ullman, Zeber and Zhilyaev (2019), as quoted by code of third parties: ``64 ln(4/delta) / (eps^2 n)`` for
    ``eps >= sqrt(192 ln(4/delta) / n)``, else ``1 - eps sqrt(n / (432 ln(4/delta)))``. The text of the theorem was not
    available. In all comparisons this rate is above the rate of the exact bound.
    """
    weight = math.log(4 / delta)
    if eps * eps >= 192 * weight / n:
        return max(64 * weight / (eps * eps * n), math.ulp(0.0))
    return 1 - eps * math.sqrt(n / (432 * weight))
