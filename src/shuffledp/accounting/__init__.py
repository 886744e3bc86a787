"""Privacy accounting: pure functions, numbers in and numbers out.

Nothing here draws random numbers, reads files or knows a protocol. Conventions: eps in nats; populations
describe the users other than user 1; guarantees are for replacement neighbours unless a function says
otherwise.
"""

from shuffledp.accounting.clones import ClonesProfile, clone_rate
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.hockey_stick import (
    CountPair,
    PrivacyProfile,
    WorstOf,
    hockey_stick,
    log_gaussian_delta,
)
from shuffledp.accounting.random_population import (
    ACCOUNTINGS,
    DummyPlan,
    amplified_epsilon,
    checkin_epsilon,
    checkin_local_budget,
    clone_delta,
    dummy_grid,
    error_factor,
    inverse_moments,
    local_budget,
    optimal_dummies,
    report_variance,
)

__all__ = [
    "ACCOUNTINGS",
    "ClonesProfile",
    "CountPair",
    "DummyPlan",
    "Infeasible",
    "PrivacyProfile",
    "WorstOf",
    "amplified_epsilon",
    "checkin_epsilon",
    "checkin_local_budget",
    "clone_delta",
    "clone_rate",
    "dummy_grid",
    "error_factor",
    "hockey_stick",
    "inverse_moments",
    "local_budget",
    "log_gaussian_delta",
    "optimal_dummies",
    "report_variance",
]
