"""Privacy profile of the shuffled subset exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shuffledp.accounting.baselines.sets import reduced_pair
from shuffledp.accounting.general.labeled_counts import binomial_blanket, settled_delta
from shuffledp.accounting.general.profiles import at_each
from shuffledp.accounting.public_functions import check_fields, guarded_methods
from shuffledp.numerics.argument_ranges import check_count

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from shuffledp.accounting.baselines.sets import SubsetExponential
    from shuffledp.accounting.general.profiles import Kind, View


@guarded_methods
@dataclass(frozen=True)
class SubsetExponentialProfile:
    """Privacy profile of the shuffled messages of the subset exponential mechanism.

    Parameters
    ----------
    mechanism : SubsetExponential
    n : int
        Number of users, >= 1; with one, the local mechanism itself.
    sound : bool
        As in :func:`shuffledp.accounting.baselines.sets.shuffled_subset_exponential`.

    Notes
    -----
    Wang et al. 2018 (PrivSet); Wang et al. 2024, arXiv 2407.19639, Theorem 1. An upper bound if `sound`, else an
    estimate.
    """

    mechanism: SubsetExponential
    n: int
    sound: bool
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "Wang et al. 2018 (PrivSet); Wang et al. 2024 (arXiv 2407.19639), Theorem 1"

    def __post_init__(self) -> None:
        check_fields(self)
        check_count("n", self.n, 1)

    @property
    def kind(self) -> Kind:
        """``upper`` if sound, or without others, ``approximate`` for the theorem as the paper uses it."""
        return "upper" if self.sound or self.n == 1 else "approximate"

    def delta(self, eps: ArrayLike) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), shape of `eps`; both directions agree."""
        labels, rate, factor = reduced_pair(self.mechanism, self.sound)
        blanket_at = partial(binomial_blanket, self.n - 1, rate)
        return at_each(lambda e: factor * settled_delta(blanket_at, labels, e), eps)
