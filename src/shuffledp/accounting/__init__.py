"""Privacy accounting: pure functions, numbers in and numbers out.

Nothing here draws random numbers, reads files or knows a protocol. Conventions: eps in nats; populations
describe the users other than user 1; guarantees are for replacement neighbours unless a function says
otherwise.
"""

from shuffledp.accounting.clones import ClonesProfile, clone_rate
from shuffledp.accounting.dump import (
    DUMP_ACCOUNTINGS,
    blanket_delta,
    dummy_count,
    dummy_delta,
    dummy_epsilon,
    mix_dummy_count,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.hockey_stick import (
    CountPair,
    PrivacyProfile,
    WorstOf,
    hockey_stick,
    log_gaussian_delta,
)
from shuffledp.accounting.multi_message import (
    DiscreteGaussianPlan,
    PolyaPlan,
    discrete_gaussian_gap,
    multi_exact_plan,
    multi_expected_delta,
    multi_expected_plan,
    multi_expected_scale,
    multi_union_plan,
    population_lower_bound,
    population_shortfall,
)
from shuffledp.accounting.polya import best_polya_shape, expected_polya_delta, negative_binomial_delta
from shuffledp.accounting.polya_mean import polya_mean_absolute
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
from shuffledp.accounting.secure_sum import group_order, security_bits, share_count

__all__ = [
    "ACCOUNTINGS",
    "DUMP_ACCOUNTINGS",
    "ClonesProfile",
    "CountPair",
    "DiscreteGaussianPlan",
    "DummyPlan",
    "Infeasible",
    "PolyaPlan",
    "PrivacyProfile",
    "WorstOf",
    "amplified_epsilon",
    "best_polya_shape",
    "blanket_delta",
    "checkin_epsilon",
    "checkin_local_budget",
    "clone_delta",
    "clone_rate",
    "discrete_gaussian_gap",
    "dummy_count",
    "dummy_delta",
    "dummy_epsilon",
    "dummy_grid",
    "error_factor",
    "expected_polya_delta",
    "group_order",
    "hockey_stick",
    "inverse_moments",
    "local_budget",
    "log_gaussian_delta",
    "mix_dummy_count",
    "multi_exact_plan",
    "multi_expected_delta",
    "multi_expected_plan",
    "multi_expected_scale",
    "multi_union_plan",
    "negative_binomial_delta",
    "optimal_dummies",
    "polya_mean_absolute",
    "population_lower_bound",
    "population_shortfall",
    "report_variance",
    "security_bits",
    "share_count",
]
