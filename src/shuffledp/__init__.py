"""Reproducible experiments and exact accounting for the shuffle model of differential privacy."""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp import (
        accountant as accountant,
        accounting as accounting,
        comparison as comparison,
        populations as populations,
        protocols as protocols,
        sampling as sampling,
        tasks as tasks,
    )
    from shuffledp.accountant import (
        amplification as amplification,
        budget as budget,
        smallest_batch as smallest_batch,
    )
    from shuffledp.accounting import Infeasible as Infeasible
    from shuffledp.comparison import (
        compare as compare,
        simulate as simulate,
        simulate_ranges as simulate_ranges,
    )
    from shuffledp.populations.base import Binomial as Binomial, Fixed as Fixed
    from shuffledp.populations.laws import Poisson as Poisson
    from shuffledp.protocols import get as get
    from shuffledp.tasks import (
        Budget as Budget,
        Frequency as Frequency,
        Sets as Sets,
        Summation as Summation,
        Vectors as Vectors,
    )
else:
    __getattr__, __dir__ = door(__name__)

__version__ = "0.2.0"
