"""Symmetric RAPPOR: one-hot vectors of randomized bits, of which the analyzer sees the sums or all vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal

from shuffledp.accounting.baselines.fragmented_rappor import (
    check_flips,
    known_sums_delta,
    proven_bits_delta,
    rappor_delta,
)
from shuffledp.accounting.baselines.rappor_known_coins import told_bits_delta
from shuffledp.accounting.baselines.summed_bits import summed_bits_delta, two_bits_delta
from shuffledp.accounting.general.comparisons import Comparison
from shuffledp.accounting.general.epsilon_search import COARSE
from shuffledp.accounting.general.randomizers import MOST_EPS_LOCAL, outputs_of
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import (
    Count,
    EpsAt,
    check_choice,
    check_count,
    check_fields,
    check_open_unit,
    check_positive,
    checked,
)
from shuffledp.numerics.sum_excess import Side

if TYPE_CHECKING:
    from shuffledp.accounting.general.comparisons import Outputs


#: Mass outside the windows, relative to a target, and the smallest mass.
_OMITTED, _LEAST = 1e-9, 1e-300
#: Nats per bit up to which revealed bits cost less than blocks.
_TOLD = 0.1
#: Largest ratios of a rough bound to delta, about: some percent for sums, 1e-3 for revealed bits.
_FAR_SUMMED, _FAR_TOLD = 1.3, 1.01


@dataclass(frozen=True)
class SymmetricRAPPOR:
    """Symmetric RAPPOR: a one-hot vector of k bits, each flipped with probability ``1 / (e^eps_bit + 1)``.

    Parameters
    ----------
    eps_bit : float
        Nats per bit, in (0, 150]. Replacing the input changes two bits, so that the local budget is ``2 eps_bit``.
    domain_size : int
        Number of values k, >= 2.
    view : {"sums", "reports"}
        View of the analyzer: the k sums over all users, as with secure aggregation, or all vectors in random order.
        Sums have a smaller delta, as they are a function of the vectors.

    Notes
    -----
    Source: Erlingsson, Pihur and Korolova (2014) with one permanent response. In drafts of "DP in the Prio system",
    eps_bit is the local budget, for adding or removing one bit. For sums, the upper bound is the smaller bound of
    :mod:`shuffledp.accounting.baselines.summed_bits` and :mod:`shuffledp.accounting.baselines.rappor_known_coins`; both
    hold for every data set of the other users.
    """

    eps_bit: float
    domain_size: int = 2
    view: Literal["sums", "reports"] = "sums"

    def __post_init__(self) -> None:
        check_fields(self, named=True)
        number = check_positive("SymmetricRAPPOR: eps_bit", self.eps_bit)
        if number > MOST_EPS_LOCAL / 2:
            raise ValueError(
                f"SymmetricRAPPOR: eps_bit must be at most {MOST_EPS_LOCAL / 2:g}, got {self.eps_bit!r}."
            )
        object.__setattr__(self, "eps_bit", number)
        object.__setattr__(
            self, "domain_size", check_count("SymmetricRAPPOR: domain_size", self.domain_size, 2)
        )
        check_choice("SymmetricRAPPOR: view", self.view, ("sums", "reports"))

    @property
    def eps_local(self) -> float:
        """Local budget ``2 eps_bit``, nats, as two bits change."""
        return 2 * self.eps_bit

    @property
    def flip_probability(self) -> float:
        """Probability ``1 / (e^eps_bit + 1)`` of a flip."""
        return 1 / (1 + math.exp(self.eps_bit))

    @property
    def standing(self) -> Standing:
        """Label ``upper`` of the guarantee, for every data set of the other users."""
        return UPPER

    @checked
    def own_delta(
        self, others: Count, eps: EpsAt, side: Side, target: float | None = None, gap: float = 0.0
    ) -> float | None:
        """Return a bound on delta for the view of sums, or None for the view of vectors.

        Parameters
        ----------
        others : int
            Number of other users, >= 0.
        eps : float
            Nats, >= 0.
        side : {"upper", "lower"}
            ``upper``: for every data set. ``lower``: the larger delta of two data sets, in which all other users hold a
            third value or one of the two values.
        target : float, optional
            If given, the mass omitted by windows is negligible relative to `target` instead of the result.
        gap : float
            Relative gap; for a gap above 1e-3, an upper bound may be some percent too large.

        Returns
        -------
        float or None
            In [0, 1].
        """
        target = None if target is None else check_open_unit("target", target)
        if self.view == "reports":
            return None
        alone = two_bits_delta(self.eps_bit, eps)
        if others == 0 or alone == 0:  # the only report is what the analyzer sees
            return alone
        p = self.flip_probability
        check_flips(others + 1, p)
        if side == "upper":
            # The bound with revealed bits is the smaller one for small eps_bit only.
            if target is None:
                revealed = rappor_delta(others + 1, p, eps, calibration="sound")
                return min(proven_bits_delta(others + 1, p, eps), revealed)
            omitted = max(_OMITTED * target, _LEAST)
            if self.eps_bit > _TOLD:
                return min(alone, summed_bits_delta(others, p, eps, omitted, rough=gap > COARSE))
            # Evaluate both bounds roughly, and then finely if a bound may be the smaller one.
            summed = summed_bits_delta(others, p, eps, omitted, rough=True)
            revealed = told_bits_delta(others, p, eps, omitted, rough=True)
            if gap <= COARSE and summed <= _FAR_SUMMED * revealed:
                summed = summed_bits_delta(others, p, eps, omitted)
            if gap <= COARSE and revealed <= _FAR_TOLD * summed:
                revealed = told_bits_delta(others, p, eps, omitted)
            return min(alone, summed, revealed)
        left_out = None if target is None else max(_OMITTED * target, _LEAST)
        value = known_sums_delta(others + 1, p, eps, left_out, third=self.domain_size > 2)
        # exact values are too large by up to 1e-7, relative, or by what is left out
        return max(value * (1 - 2e-7) - (0.0 if target is None else 1e-7 * target), 0.0)

    @checked
    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return comparisons of two inputs, where an output is described by the two bits of these inputs. In the
        comparison with the blanket, the vector of ones is an output of its own.

        The comparisons are for whole vectors. For sums they give an upper bound but no lower bound.
        """
        p, b, k = self.flip_probability, self.eps_bit, self.domain_size
        bits = {0: 1 - p, 1: p}  # of a vector whose input is elsewhere
        if side == "lower":
            return (*((self._against_third(),) if k > 2 else ()), self._against_one(0), self._against_one(1))
        all_ones = p ** (k - 2)  # all other bits are ones
        rows = []
        for first, second in product((0, 1), repeat=2):
            # The input's bit multiplies the probability by e^b or e^-b; every vector but (1, .., 1) has a bit 0.
            mass = bits[first] * bits[second]
            rest = 1 - all_ones if first and second else 1
            rows.append((2 * first * b, 2 * second * b, mass * rest * math.exp(-b)))
        return (outputs_of([*rows, (0.0, 0.0, mass * all_ones * math.exp(b))]),)

    def _against_third(self) -> Outputs:
        p, b = self.flip_probability, self.eps_bit
        rows = []
        for first, second, third in product((0, 1), repeat=3):
            mass = math.prod(p if bit else 1 - p for bit in (first, second)) * (1 - p if third else p)
            rows.append((2 * (first - third) * b, 2 * (second - third) * b, mass))
        return outputs_of(rows)

    def _against_one(self, which: int) -> Outputs:
        p, b = self.flip_probability, self.eps_bit
        rows = []
        for mine, other in product((0, 1), repeat=2):
            mass = (1 - p if mine else p) * (p if other else 1 - p)
            gap = 2 * (other - mine) * b
            rows.append((0.0, gap, mass) if which == 0 else (gap, 0.0, mass))
        return outputs_of(rows)
