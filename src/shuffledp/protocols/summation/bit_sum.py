"""Bit sum: every user rounds a number to one bit at random and sends the bit by randomized response."""

import math
from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.baselines.bit_sums import THIRD_PARTY, bit_sum_rate
from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.guarantees import UPPER, under
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._levels import LevelReports
from shuffledp.protocols.summation._sums import numbers_of


@dataclass(frozen=True)
class BitSum(LevelReports):
    """Randomly rounded bits as messages, by randomized response; users rely on all others for the blanket."""

    name = "bit_sum"
    label = "one randomized bit"
    source = "Cheu, Smith, Ullman, Zeber and Zhilyaev 2019; printed: as quoted by code of third parties"
    guarantees = under(printed=THIRD_PARTY, exact=UPPER)

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the smallest probability of a fair coin under the privacy blanket, averaged over the number of coins.

        ``printed`` is the published rate, as third-party code has it. Raises `Infeasible` for negative numbers.
        """
        n, eps, delta = request.n, request.eps, request.delta
        numbers = numbers_of(request.task)
        if request.accounting == "exact":
            eps_local = blanket_local_budget(n, 2, eps, delta)
        else:
            rate = bit_sum_rate(n, eps, delta)
            eps_local = math.log((2 - rate) / rate)
        return cls(n, numbers, 1, eps_local)
