"""Reproducible experiments and exact accounting for the shuffle model of differential privacy."""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    import shuffledp.accounting as accounting
    import shuffledp.comparison as comparison
    import shuffledp.populations as populations
    import shuffledp.protocols as protocols
    import shuffledp.sampling as sampling
    import shuffledp.tasks as tasks
    from shuffledp.accounting import Infeasible, amplification, budget, smallest_batch
    from shuffledp.comparison import compare, simulate
    from shuffledp.populations.base import Fixed
    from shuffledp.populations.laws import Binomial, Poisson
    from shuffledp.protocols import get
    from shuffledp.tasks import Budget, Frequency, Sets, Summation, Vectors
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Binomial",
    "Budget",
    "Fixed",
    "Frequency",
    "Infeasible",
    "Poisson",
    "Sets",
    "Summation",
    "Vectors",
    "__version__",
    "accounting",
    "amplification",
    "budget",
    "compare",
    "comparison",
    "get",
    "populations",
    "protocols",
    "sampling",
    "simulate",
    "smallest_batch",
    "tasks",
]

__version__ = "0.2.0"
