"""Privacy accounting: pure functions, numbers in and numbers out.

Nothing here draws random numbers, reads files or knows a protocol. Conventions: eps in nats; populations
describe the users other than user 1; guarantees are for replacement neighbours unless a function says
otherwise.
"""

from typing import TYPE_CHECKING

from shuffledp.doors import door

if TYPE_CHECKING:
    from shuffledp.accounting.central_gaussian import central_gaussian_epsilon, central_replacement_epsilon
    from shuffledp.accounting.checkin_baselines import (
        checkin_baseline_epsilon,
        checkin_generic_epsilon,
        checkin_generic_rdp,
        profile_rdp,
        shuffled_gaussian_profile,
    )
    from shuffledp.accounting.clones import ClonesProfile, clone_rate
    from shuffledp.accounting.correlated_counts import CounterNoise, correlated_noise, counter_delta
    from shuffledp.accounting.design_search import certified_design, family_design, search_design
    from shuffledp.accounting.designs import (
        ShippedDesign,
        good_atoms,
        quick_design,
        shipped_design,
        shipped_designs,
    )
    from shuffledp.accounting.dump import (
        DUMP_ACCOUNTINGS,
        blanket_delta,
        dummy_count,
        dummy_delta,
        dummy_epsilon,
        mix_dummy_count,
    )
    from shuffledp.accounting.dump_error import printed_dump_mse, printed_flexible_mse
    from shuffledp.accounting.dump_local import mix_shuffler_epsilon, pure_shuffler_epsilon
    from shuffledp.accounting.errors import Infeasible
    from shuffledp.accounting.flexible_dump import (
        flexible_dummies,
        flexible_dummies_needed,
        flexible_dummy_delta,
    )
    from shuffledp.accounting.gaussian_clones import (
        approximate_clones_delta,
        clones_apply,
        clones_epsilon,
        gaussian_clones_epsilon,
        gaussian_clones_epsilons,
        gaussian_local_epsilon,
        optimal_composition,
    )
    from shuffledp.accounting.grr_blanket import blanket_local_budget, grr_blanket_delta, grr_blanket_epsilon
    from shuffledp.accounting.joint_noise import correlated_noise_delta
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
    from shuffledp.accounting.noise_atoms import (
        atom_indices,
        atom_inverse,
        atom_messages,
        dominating_vector,
        noise_norm,
        used_atoms,
    )
    from shuffledp.accounting.polya import best_polya_shape, expected_polya_delta, negative_binomial_delta
    from shuffledp.accounting.polya_mean import polya_mean_absolute
    from shuffledp.accounting.private_coin import default_entries, private_coin_mse, private_coin_tuples
    from shuffledp.accounting.profiles import (
        CountPair,
        PrivacyProfile,
        WorstOf,
        hockey_stick,
        log_gaussian_delta,
    )
    from shuffledp.accounting.public_coin import public_coin_rate, public_coin_rows, rows_delta
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
    from shuffledp.accounting.segmented import (
        all_counts_delta,
        blanket_slots,
        blankets_for_full_reporting,
        item_delta,
        reporting_rate,
        segmented_delta,
    )
    from shuffledp.accounting.segmented_plans import SegmentedPlan, full_reporting, level_rate, segmented_plan
    from shuffledp.accounting.segmented_profile import SegmentedProfile, SubsetExponentialProfile
    from shuffledp.accounting.segmented_users import (
        user_level_blankets,
        user_level_delta,
        user_level_reporting_rate,
    )
    from shuffledp.accounting.set_baselines import (
        SeparatePlan,
        SubsetExponential,
        local_subset_exponential,
        mm_plan,
        sep_mm_plan,
        shuffled_subset_exponential,
    )
    from shuffledp.accounting.shuffle_gaussian import (
        LastOrderWarning,
        best_epsilon,
        compose_rdp,
        enough_orders,
        gaussian_rdp,
        rdp_to_epsilon,
        shuffle_gaussian_epsilon,
        shuffle_gaussian_epsilons,
        shuffle_gaussian_rdp,
    )
    from shuffledp.accounting.solh import HashedReport, solh_mse, solh_report
    from shuffledp.accounting.subsampled_shuffle_gaussian import (
        best_checkin_shuffle_gaussian_rdp_theorem3,
        checkin_shuffle_gaussian_epsilon,
        checkin_shuffle_gaussian_rdp,
        checkin_shuffle_gaussian_rdp_theorem3,
        checkin_theorem3_epsilon,
        subsampled_gaussian_epsilon,
        subsampled_rdp,
        subsampled_shuffle_gaussian_epsilon,
        subsampled_shuffle_gaussian_rdp,
    )
    from shuffledp.accounting.summation import (
        NoiseDesign,
        analytic_design,
        best_modular_design,
        discrete_laplace_variance,
        modular_design,
        negative_binomial_shift_delta,
    )
    from shuffledp.accounting.summation_baselines import (
        central_laplace_mse,
        ikos_distance,
        ikos_group_order,
        ikos_shares,
        rappor_count_variance,
        rappor_delta,
        rappor_flip_probability,
        rappor_messages,
        rappor_mse,
        real_summation_levels,
        rounded_sum_mse,
        sparse_vector_levels,
    )
    from shuffledp.accounting.truncation import truncation_miss_rate, two_bins_delta
    from shuffledp.accounting.variation_ratio import variation_ratio_delta, variation_ratio_epsilon
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "ACCOUNTINGS",
    "DUMP_ACCOUNTINGS",
    "ClonesProfile",
    "CountPair",
    "CounterNoise",
    "DiscreteGaussianPlan",
    "DummyPlan",
    "HashedReport",
    "Infeasible",
    "LastOrderWarning",
    "NoiseDesign",
    "PolyaPlan",
    "PrivacyProfile",
    "SegmentedPlan",
    "SegmentedProfile",
    "SeparatePlan",
    "ShippedDesign",
    "SubsetExponential",
    "SubsetExponentialProfile",
    "WorstOf",
    "all_counts_delta",
    "amplified_epsilon",
    "analytic_design",
    "approximate_clones_delta",
    "atom_indices",
    "atom_inverse",
    "atom_messages",
    "best_checkin_shuffle_gaussian_rdp_theorem3",
    "best_epsilon",
    "best_modular_design",
    "best_polya_shape",
    "blanket_delta",
    "blanket_local_budget",
    "blanket_slots",
    "blankets_for_full_reporting",
    "central_gaussian_epsilon",
    "central_laplace_mse",
    "central_replacement_epsilon",
    "certified_design",
    "checkin_baseline_epsilon",
    "checkin_epsilon",
    "checkin_generic_epsilon",
    "checkin_generic_rdp",
    "checkin_local_budget",
    "checkin_shuffle_gaussian_epsilon",
    "checkin_shuffle_gaussian_rdp",
    "checkin_shuffle_gaussian_rdp_theorem3",
    "checkin_theorem3_epsilon",
    "clone_delta",
    "clone_rate",
    "clones_apply",
    "clones_epsilon",
    "compose_rdp",
    "correlated_noise",
    "correlated_noise_delta",
    "counter_delta",
    "default_entries",
    "discrete_gaussian_gap",
    "discrete_laplace_variance",
    "dominating_vector",
    "dummy_count",
    "dummy_delta",
    "dummy_epsilon",
    "dummy_grid",
    "enough_orders",
    "error_factor",
    "expected_polya_delta",
    "family_design",
    "flexible_dummies",
    "flexible_dummies_needed",
    "flexible_dummy_delta",
    "full_reporting",
    "gaussian_clones_epsilon",
    "gaussian_clones_epsilons",
    "gaussian_local_epsilon",
    "gaussian_rdp",
    "good_atoms",
    "group_order",
    "grr_blanket_delta",
    "grr_blanket_epsilon",
    "hockey_stick",
    "ikos_distance",
    "ikos_group_order",
    "ikos_shares",
    "inverse_moments",
    "item_delta",
    "level_rate",
    "local_budget",
    "local_subset_exponential",
    "log_gaussian_delta",
    "mix_dummy_count",
    "mix_shuffler_epsilon",
    "mm_plan",
    "modular_design",
    "multi_exact_plan",
    "multi_expected_delta",
    "multi_expected_plan",
    "multi_expected_scale",
    "multi_union_plan",
    "negative_binomial_delta",
    "negative_binomial_shift_delta",
    "noise_norm",
    "optimal_composition",
    "optimal_dummies",
    "polya_mean_absolute",
    "population_lower_bound",
    "population_shortfall",
    "printed_dump_mse",
    "printed_flexible_mse",
    "private_coin_mse",
    "private_coin_tuples",
    "profile_rdp",
    "public_coin_rate",
    "public_coin_rows",
    "pure_shuffler_epsilon",
    "quick_design",
    "rappor_count_variance",
    "rappor_delta",
    "rappor_flip_probability",
    "rappor_messages",
    "rappor_mse",
    "rdp_to_epsilon",
    "real_summation_levels",
    "report_variance",
    "reporting_rate",
    "rounded_sum_mse",
    "rows_delta",
    "search_design",
    "security_bits",
    "segmented_delta",
    "segmented_plan",
    "sep_mm_plan",
    "share_count",
    "shipped_design",
    "shipped_designs",
    "shuffle_gaussian_epsilon",
    "shuffle_gaussian_epsilons",
    "shuffle_gaussian_rdp",
    "shuffled_gaussian_profile",
    "shuffled_subset_exponential",
    "solh_mse",
    "solh_report",
    "sparse_vector_levels",
    "subsampled_gaussian_epsilon",
    "subsampled_rdp",
    "subsampled_shuffle_gaussian_epsilon",
    "subsampled_shuffle_gaussian_rdp",
    "truncation_miss_rate",
    "two_bins_delta",
    "used_atoms",
    "user_level_blankets",
    "user_level_delta",
    "user_level_reporting_rate",
    "variation_ratio_delta",
    "variation_ratio_epsilon",
]
