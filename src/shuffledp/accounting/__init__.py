"""Privacy accounting: pure functions of budgets, numbers of users and laws of these numbers.

No function here draws random numbers or reads files. Functions that calibrate a single protocol are defined next to its
class in `shuffledp.protocols`, and are exported here too. Conventions: eps in nats; populations describe the users
other than user 1; guarantees are for replacement neighbors unless documented otherwise. Every function checks its
arguments and raises ValueError naming the argument, the value and the range; its ``Raises`` section lists only the
other errors. A positive delta is at least 2.23e-308, below which floats lose precision.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.accountant.answers import Answer
    from shuffledp.accountant.curves import Curves, curves
    from shuffledp.accountant.deployed import (
        Deployment,
        deployed_answer,
        deployed_epsilon,
        deployed_printed,
        deployed_users,
        deployments,
    )
    from shuffledp.accountant.deployments import (
        amplification,
        budget,
        calibrate_randomizer,
        randomizer_epsilon,
        smallest_batch,
    )
    from shuffledp.accountant.personalized import (
        PersonalizedAnswer,
        personalized_answer,
        personalized_delta,
        personalized_epsilon,
    )
    from shuffledp.accountant.questions import questions_epsilon
    from shuffledp.accountant.rounds import Batch, RoundsAnswer, rounds_epsilon
    from shuffledp.accounting.baselines.allocation_methods import (
        ALLOCATION_METHODS,
        AllocationProfile,
        allocation_bounds,
        allocation_method_epsilon,
        allocation_noise,
    )
    from shuffledp.accounting.baselines.central_gaussian import (
        central_gaussian_epsilon,
        central_replacement_epsilon,
    )
    from shuffledp.accounting.baselines.correlated_counts import CounterNoise, correlated_noise, counter_delta
    from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta, rappor_flip_probability
    from shuffledp.accounting.baselines.gaussian_clones import (
        approximate_clones_delta,
        clones_apply,
        closed_form_clones_epsilon,
        erlingsson_epsilon,
        gaussian_clones_epsilon,
        gaussian_clones_epsilons,
        gaussian_local_epsilon,
        optimal_composition,
    )
    from shuffledp.accounting.baselines.private_coin import (
        default_entries,
        private_coin_mse,
        private_coin_tuples,
    )
    from shuffledp.accounting.baselines.public_coin import public_coin_rate, public_coin_rows, rows_delta
    from shuffledp.accounting.baselines.sets import (
        SeparatePlan,
        mm_plan,
        sep_mm_plan,
    )
    from shuffledp.accounting.baselines.shuffled_checkin import (
        checkin_baseline_epsilon,
        checkin_generic_epsilon,
        checkin_generic_rdp,
        profile_rdp,
        shuffled_gaussian_profile,
    )
    from shuffledp.accounting.baselines.solh import HashedReport, solh_mse, solh_report
    from shuffledp.accounting.baselines.split_and_mix import ikos_distance, ikos_shares
    from shuffledp.accounting.baselines.symmetric_rappor import SymmetricRAPPOR
    from shuffledp.accounting.baselines.truncation import truncation_miss_rate, two_bins_delta
    from shuffledp.accounting.dump.against_shuffler import mix_shuffler_epsilon, pure_shuffler_epsilon
    from shuffledp.accounting.dump.dummies import (
        DUMP_ACCOUNTINGS,
        blanket_delta,
        dummy_count,
        dummy_delta,
        dummy_epsilon,
        mix_dummy_count,
    )
    from shuffledp.accounting.dump.errors import printed_dump_mse, printed_flexible_mse
    from shuffledp.accounting.dump.flexible import (
        flexible_dummies,
        flexible_dummies_needed,
        flexible_dummy_delta,
    )
    from shuffledp.accounting.errors import Infeasible
    from shuffledp.accounting.expected_errors.sums import (
        central_laplace_mse,
        discrete_laplace_variance,
        ikos_group_order,
        rappor_count_variance,
        rappor_messages,
        rappor_mse,
        real_summation_levels,
        rounded_sum_mse,
        sparse_vector_levels,
    )
    from shuffledp.accounting.general.blanket import (
        BlanketProfile,
        blanket_epsilon,
        blanket_randomizer_delta,
    )
    from shuffledp.accounting.general.clones import ClonesProfile, OtherReports, clone_rate
    from shuffledp.accounting.general.comparisons import Comparison
    from shuffledp.accounting.general.composition import composed_epsilon
    from shuffledp.accounting.general.dummy_cells import (
        dummy_cells_delta,
        dummy_cells_epsilon,
        dummy_cells_mean,
    )
    from shuffledp.accounting.general.exports import (
        GaussianFit,
        gaussian_fit,
        renyi_from_profile,
        to_pld,
        trade_off,
        true_positive_rate,
    )
    from shuffledp.accounting.general.gaussian import log_gaussian_delta
    from shuffledp.accounting.general.grr_blanket import (
        blanket_local_budget,
        grr_blanket_delta,
        grr_blanket_epsilon,
    )
    from shuffledp.accounting.general.noise_randomizers import (
        DensityRandomizer,
        GaussianRandomizer,
        LaplaceRandomizer,
    )
    from shuffledp.accounting.general.opendp_export import to_opendp
    from shuffledp.accounting.general.profiles import (
        CountPair,
        GaussianProfile,
        PrivacyProfile,
        WorstOf,
        hockey_stick,
    )
    from shuffledp.accounting.general.random_allocation import allocation_delta, allocation_epsilon
    from shuffledp.accounting.general.randomizers import (
        GRR,
        BinaryRandomizedResponse,
        FiniteRandomizer,
        Randomizer,
        SubsetSelection,
    )
    from shuffledp.accounting.general.rdp import (
        LastOrderWarning,
        best_epsilon,
        compose_rdp,
        gaussian_rdp,
        rdp_to_epsilon,
    )
    from shuffledp.accounting.general.renyi_curve import RenyiCurve, to_renyi
    from shuffledp.accounting.general.shuffled_batches import (
        shuffled_batches_delta,
        shuffled_batches_epsilon,
    )
    from shuffledp.accounting.general.variation_ratio import variation_ratio_delta, variation_ratio_epsilon
    from shuffledp.accounting.random_population.amplification import (
        ACCOUNTINGS,
        amplified_epsilon,
        clone_delta,
        local_budget,
    )
    from shuffledp.accounting.random_population.best_dummies import DummyPlan, dummy_grid, optimal_dummies
    from shuffledp.accounting.random_population.checkin import checkin_epsilon, checkin_local_budget
    from shuffledp.accounting.random_population.multi_message import (
        DiscreteGaussianPlan,
        PolyaPlan,
        discrete_gaussian_gap,
        multi_exact_plan,
        multi_expected_delta,
        multi_expected_plan,
        multi_expected_scale,
        multi_union_plan,
    )
    from shuffledp.accounting.random_population.polya import (
        best_polya_shape,
        expected_polya_delta,
        negative_binomial_delta,
    )
    from shuffledp.accounting.random_population.polya_errors import polya_mean_absolute
    from shuffledp.accounting.random_population.population_bounds import (
        population_lower_bound,
        population_shortfall,
    )
    from shuffledp.accounting.random_population.report_errors import (
        error_factor,
        inverse_moments,
        report_variance,
    )
    from shuffledp.accounting.random_population.secure_sum import group_order, security_bits, share_count
    from shuffledp.accounting.segmented.item_calibration import blankets_for_full_reporting, reporting_rate
    from shuffledp.accounting.segmented.items import (
        all_counts_delta,
        blanket_slots,
        item_delta,
        segmented_delta,
    )
    from shuffledp.accounting.segmented.plan_search import segmented_plan
    from shuffledp.accounting.segmented.plans import SegmentedPlan, full_reporting, level_rate
    from shuffledp.accounting.segmented.profile import SegmentedProfile
    from shuffledp.accounting.segmented.users import (
        user_level_blankets,
        user_level_delta,
        user_level_reporting_rate,
    )
    from shuffledp.accounting.shuffle_gaussian.all_users import (
        enough_orders,
        shuffle_gaussian_epsilon,
        shuffle_gaussian_epsilons,
        shuffle_gaussian_rdp,
    )
    from shuffledp.accounting.shuffle_gaussian.checkin import (
        best_checkin_shuffle_gaussian_rdp_theorem3,
        checkin_shuffle_gaussian_epsilon,
        checkin_shuffle_gaussian_rdp,
        checkin_shuffle_gaussian_rdp_theorem3,
        checkin_theorem3_epsilon,
    )
    from shuffledp.accounting.shuffle_gaussian.subsampled import (
        subsampled_gaussian_epsilon,
        subsampled_rdp,
        subsampled_shuffle_gaussian_epsilon,
        subsampled_shuffle_gaussian_rdp,
    )
    from shuffledp.accounting.summation.closed_designs import (
        analytic_design,
        best_modular_design,
        modular_design,
    )
    from shuffledp.accounting.summation.coarse_design import CoarseDesign
    from shuffledp.accounting.summation.coarse_noise import CoarseCertificate, coarse_noise_delta
    from shuffledp.accounting.summation.coarse_search import coarse_start, finished_design, search_coarse
    from shuffledp.accounting.summation.coarse_shipped import (
        ShippedCoarse,
        quick_coarse,
        shipped_coarse,
        shipped_coarse_designs,
    )
    from shuffledp.accounting.summation.design_files import (
        ShippedDesign,
        good_atoms,
        quick_design,
        shipped_design,
        shipped_designs,
    )
    from shuffledp.accounting.summation.design_search import certified_design, family_design, search_design
    from shuffledp.accounting.summation.joint_noise import correlated_noise_delta
    from shuffledp.accounting.summation.jump_laws import (
        JumpCounter,
        JumpCountersProfile,
        jump_counters,
        jump_counters_delta,
    )
    from shuffledp.accounting.summation.jump_noise import jump_sizes, least_mean, mean_jump
    from shuffledp.accounting.summation.noise_atoms import (
        atom_indices,
        atom_inverse,
        atom_messages,
        dominating_vector,
        noise_norm,
        used_atoms,
    )
    from shuffledp.accounting.summation.noise_design import NoiseDesign
    from shuffledp.accounting.summation.shift_noise import negative_binomial_shift_delta
    from shuffledp.protocols.frequency.balls_into_bins import bin_dummy_rate
    from shuffledp.protocols.frequency.correlated_noise import correlated_pair_noise
    from shuffledp.protocols.frequency.one_sided_noise import one_sided_noise
    from shuffledp.protocols.frequency.s1geo import s1geo_dummies
    from shuffledp.protocols.frequency.sageo import GeometricDummies, sageo_dummies
    from shuffledp.protocols.frequency.sbin import BinomialDummies, fair_coins, sbin_dummies
    from shuffledp.protocols.frequency.silent_users import poisson_dummies, silent_report
    from shuffledp.protocols.sets._subset_exponential import SubsetExponential, SubsetExponentialProfile
    from shuffledp.protocols.sets.subset_local import local_subset_exponential
    from shuffledp.protocols.sets.subset_shuffled import shuffled_subset_exponential
else:

    def _guarded(function):
        from shuffledp.accounting.public_functions import guarded

        return guarded(function)

    __getattr__, __dir__ = door(__name__, _guarded)


__all__ = [
    "ACCOUNTINGS",
    "ALLOCATION_METHODS",
    "DUMP_ACCOUNTINGS",
    "GRR",
    "AllocationProfile",
    "Answer",
    "Batch",
    "BinaryRandomizedResponse",
    "BinomialDummies",
    "BlanketProfile",
    "ClonesProfile",
    "CoarseCertificate",
    "CoarseDesign",
    "Comparison",
    "CountPair",
    "CounterNoise",
    "Curves",
    "DensityRandomizer",
    "Deployment",
    "DiscreteGaussianPlan",
    "DummyPlan",
    "FiniteRandomizer",
    "GaussianFit",
    "GaussianProfile",
    "GaussianRandomizer",
    "GeometricDummies",
    "HashedReport",
    "Infeasible",
    "JumpCounter",
    "JumpCountersProfile",
    "LaplaceRandomizer",
    "LastOrderWarning",
    "NoiseDesign",
    "OtherReports",
    "PersonalizedAnswer",
    "PolyaPlan",
    "PrivacyProfile",
    "Randomizer",
    "RenyiCurve",
    "RoundsAnswer",
    "SegmentedPlan",
    "SegmentedProfile",
    "SeparatePlan",
    "ShippedCoarse",
    "ShippedDesign",
    "SubsetExponential",
    "SubsetExponentialProfile",
    "SubsetSelection",
    "SymmetricRAPPOR",
    "WorstOf",
    "all_counts_delta",
    "allocation_bounds",
    "allocation_delta",
    "allocation_epsilon",
    "allocation_method_epsilon",
    "allocation_noise",
    "amplification",
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
    "bin_dummy_rate",
    "blanket_delta",
    "blanket_epsilon",
    "blanket_local_budget",
    "blanket_randomizer_delta",
    "blanket_slots",
    "blankets_for_full_reporting",
    "budget",
    "calibrate_randomizer",
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
    "closed_form_clones_epsilon",
    "coarse_noise_delta",
    "coarse_start",
    "compose_rdp",
    "composed_epsilon",
    "correlated_noise",
    "correlated_noise_delta",
    "correlated_pair_noise",
    "counter_delta",
    "curves",
    "default_entries",
    "deployed_answer",
    "deployed_epsilon",
    "deployed_printed",
    "deployed_users",
    "deployments",
    "discrete_gaussian_gap",
    "discrete_laplace_variance",
    "dominating_vector",
    "dummy_cells_delta",
    "dummy_cells_epsilon",
    "dummy_cells_mean",
    "dummy_count",
    "dummy_delta",
    "dummy_epsilon",
    "dummy_grid",
    "enough_orders",
    "erlingsson_epsilon",
    "error_factor",
    "expected_polya_delta",
    "fair_coins",
    "family_design",
    "finished_design",
    "flexible_dummies",
    "flexible_dummies_needed",
    "flexible_dummy_delta",
    "full_reporting",
    "gaussian_clones_epsilon",
    "gaussian_clones_epsilons",
    "gaussian_fit",
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
    "jump_counters",
    "jump_counters_delta",
    "jump_sizes",
    "least_mean",
    "level_rate",
    "local_budget",
    "local_subset_exponential",
    "log_gaussian_delta",
    "mean_jump",
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
    "one_sided_noise",
    "optimal_composition",
    "optimal_dummies",
    "personalized_answer",
    "personalized_delta",
    "personalized_epsilon",
    "poisson_dummies",
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
    "questions_epsilon",
    "quick_coarse",
    "quick_design",
    "randomizer_epsilon",
    "rappor_count_variance",
    "rappor_delta",
    "rappor_flip_probability",
    "rappor_messages",
    "rappor_mse",
    "rdp_to_epsilon",
    "real_summation_levels",
    "renyi_from_profile",
    "report_variance",
    "reporting_rate",
    "rounded_sum_mse",
    "rounds_epsilon",
    "rows_delta",
    "s1geo_dummies",
    "sageo_dummies",
    "sbin_dummies",
    "search_coarse",
    "search_design",
    "security_bits",
    "segmented_delta",
    "segmented_plan",
    "sep_mm_plan",
    "share_count",
    "shipped_coarse",
    "shipped_coarse_designs",
    "shipped_design",
    "shipped_designs",
    "shuffle_gaussian_epsilon",
    "shuffle_gaussian_epsilons",
    "shuffle_gaussian_rdp",
    "shuffled_batches_delta",
    "shuffled_batches_epsilon",
    "shuffled_gaussian_profile",
    "shuffled_subset_exponential",
    "silent_report",
    "smallest_batch",
    "solh_mse",
    "solh_report",
    "sparse_vector_levels",
    "subsampled_gaussian_epsilon",
    "subsampled_rdp",
    "subsampled_shuffle_gaussian_epsilon",
    "subsampled_shuffle_gaussian_rdp",
    "to_opendp",
    "to_pld",
    "to_renyi",
    "trade_off",
    "true_positive_rate",
    "truncation_miss_rate",
    "two_bins_delta",
    "used_atoms",
    "user_level_blankets",
    "user_level_delta",
    "user_level_reporting_rate",
    "variation_ratio_delta",
    "variation_ratio_epsilon",
]
