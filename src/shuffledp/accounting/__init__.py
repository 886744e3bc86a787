"""Privacy accounting: pure functions of budgets, numbers of users and laws of these numbers.

No function here draws random numbers or reads files. Functions that calibrate a single protocol are defined next to its
class in `shuffledp.protocols`, and are exported here too. Conventions: eps in nats; populations describe the users
other than user 1; guarantees are for replacement neighbors unless documented otherwise. Every function checks its
arguments and raises ValueError naming the argument, the value and the range; its ``Raises`` section lists only the
other errors. A positive delta is at least 2.23e-308, below which floats lose precision.
"""

from typing import TYPE_CHECKING

from shuffledp.numerics.public_api import checked_door

if TYPE_CHECKING:
    from shuffledp.accounting.baselines.correlated_counts import (
        CounterNoise as CounterNoise,
        correlated_noise as correlated_noise,
        counter_delta as counter_delta,
    )
    from shuffledp.accounting.baselines.fragmented_rappor import (
        rappor_delta as rappor_delta,
        rappor_flip_probability as rappor_flip_probability,
    )
    from shuffledp.accounting.baselines.gaussian_clones import (
        approximate_clones_delta as approximate_clones_delta,
        clones_apply as clones_apply,
        closed_form_clones_epsilon as closed_form_clones_epsilon,
        erlingsson_epsilon as erlingsson_epsilon,
        gaussian_clones_epsilon as gaussian_clones_epsilon,
        gaussian_clones_epsilons as gaussian_clones_epsilons,
        gaussian_local_epsilon as gaussian_local_epsilon,
        optimal_composition as optimal_composition,
    )
    from shuffledp.accounting.baselines.private_coin import (
        default_entries as default_entries,
        private_coin_mse as private_coin_mse,
        private_coin_tuples as private_coin_tuples,
    )
    from shuffledp.accounting.baselines.public_coin import (
        public_coin_rate as public_coin_rate,
        public_coin_rows as public_coin_rows,
        rows_delta as rows_delta,
    )
    from shuffledp.accounting.baselines.sets import (
        SeparatePlan as SeparatePlan,
        mm_plan as mm_plan,
        sep_mm_plan as sep_mm_plan,
    )
    from shuffledp.accounting.baselines.shuffled_checkin import (
        checkin_baseline_epsilon as checkin_baseline_epsilon,
        checkin_generic_epsilon as checkin_generic_epsilon,
        checkin_generic_rdp as checkin_generic_rdp,
        profile_rdp as profile_rdp,
        shuffled_gaussian_profile as shuffled_gaussian_profile,
    )
    from shuffledp.accounting.baselines.solh import (
        HashedReport as HashedReport,
        solh_mse as solh_mse,
        solh_report as solh_report,
    )
    from shuffledp.accounting.baselines.split_and_mix import (
        ikos_distance as ikos_distance,
        ikos_shares as ikos_shares,
    )
    from shuffledp.accounting.baselines.symmetric_rappor import SymmetricRAPPOR as SymmetricRAPPOR
    from shuffledp.accounting.baselines.truncation import (
        truncation_miss_rate as truncation_miss_rate,
        two_bins_delta as two_bins_delta,
    )
    from shuffledp.accounting.dump.against_shuffler import (
        mix_shuffler_epsilon as mix_shuffler_epsilon,
        pure_shuffler_epsilon as pure_shuffler_epsilon,
    )
    from shuffledp.accounting.dump.dummies import (
        DUMP_ACCOUNTINGS as DUMP_ACCOUNTINGS,
        blanket_delta as blanket_delta,
        dummy_count as dummy_count,
        dummy_delta as dummy_delta,
        dummy_epsilon as dummy_epsilon,
        mix_dummy_count as mix_dummy_count,
    )
    from shuffledp.accounting.dump.errors import (
        printed_dump_mse as printed_dump_mse,
        printed_flexible_mse as printed_flexible_mse,
    )
    from shuffledp.accounting.dump.flexible import (
        flexible_dummies as flexible_dummies,
        flexible_dummies_needed as flexible_dummies_needed,
        flexible_dummy_delta as flexible_dummy_delta,
    )
    from shuffledp.accounting.errors import Infeasible as Infeasible
    from shuffledp.accounting.expected_errors.sums import (
        central_laplace_mse as central_laplace_mse,
        discrete_laplace_variance as discrete_laplace_variance,
        ikos_group_order as ikos_group_order,
        rappor_count_variance as rappor_count_variance,
        rappor_messages as rappor_messages,
        rappor_mse as rappor_mse,
        real_summation_levels as real_summation_levels,
        rounded_sum_mse as rounded_sum_mse,
        sparse_vector_levels as sparse_vector_levels,
    )
    from shuffledp.accounting.general.blanket import (
        BlanketProfile as BlanketProfile,
        blanket_epsilon as blanket_epsilon,
        blanket_randomizer_delta as blanket_randomizer_delta,
    )
    from shuffledp.accounting.general.clones import (
        ClonesProfile as ClonesProfile,
        OtherReports as OtherReports,
        clone_rate as clone_rate,
    )
    from shuffledp.accounting.general.comparisons import Comparison as Comparison
    from shuffledp.accounting.general.composition import composed_epsilon as composed_epsilon
    from shuffledp.accounting.general.design_blanket import (
        design_delta as design_delta,
        design_local_budget as design_local_budget,
    )
    from shuffledp.accounting.general.dummy_cells import (
        dummy_cells_delta as dummy_cells_delta,
        dummy_cells_epsilon as dummy_cells_epsilon,
        dummy_cells_mean as dummy_cells_mean,
    )
    from shuffledp.accounting.general.exports import (
        GaussianFit as GaussianFit,
        gaussian_fit as gaussian_fit,
        renyi_from_profile as renyi_from_profile,
        to_pld as to_pld,
        trade_off as trade_off,
        true_positive_rate as true_positive_rate,
    )
    from shuffledp.accounting.general.gaussian import log_gaussian_delta as log_gaussian_delta
    from shuffledp.accounting.general.grr_blanket import (
        blanket_local_budget as blanket_local_budget,
        grr_blanket_delta as grr_blanket_delta,
        grr_blanket_epsilon as grr_blanket_epsilon,
    )
    from shuffledp.accounting.general.noise_randomizers import (
        DensityRandomizer as DensityRandomizer,
        GaussianRandomizer as GaussianRandomizer,
        LaplaceRandomizer as LaplaceRandomizer,
    )
    from shuffledp.accounting.general.opendp_export import to_opendp as to_opendp
    from shuffledp.accounting.general.privacy_profile import PrivacyProfile as PrivacyProfile
    from shuffledp.accounting.general.profiles import (
        CountPair as CountPair,
        GaussianProfile as GaussianProfile,
        WorstOf as WorstOf,
        hockey_stick as hockey_stick,
    )
    from shuffledp.accounting.general.randomizers import (
        GRR as GRR,
        BinaryRandomizedResponse as BinaryRandomizedResponse,
        FiniteRandomizer as FiniteRandomizer,
        Randomizer as Randomizer,
        SubsetSelection as SubsetSelection,
    )
    from shuffledp.accounting.general.rdp import (
        LastOrderWarning as LastOrderWarning,
        best_epsilon as best_epsilon,
        compose_rdp as compose_rdp,
        gaussian_rdp as gaussian_rdp,
        rdp_to_epsilon as rdp_to_epsilon,
    )
    from shuffledp.accounting.general.renyi_curve import RenyiCurve as RenyiCurve, to_renyi as to_renyi
    from shuffledp.accounting.general.variation_ratio import (
        variation_ratio_delta as variation_ratio_delta,
        variation_ratio_epsilon as variation_ratio_epsilon,
    )
    from shuffledp.accounting.random_population.amplification import (
        ACCOUNTINGS as ACCOUNTINGS,
        amplified_epsilon as amplified_epsilon,
        clone_delta as clone_delta,
        local_budget as local_budget,
    )
    from shuffledp.accounting.random_population.best_dummies import (
        DummyPlan as DummyPlan,
        dummy_grid as dummy_grid,
        optimal_dummies as optimal_dummies,
    )
    from shuffledp.accounting.random_population.checkin import (
        checkin_epsilon as checkin_epsilon,
        checkin_local_budget as checkin_local_budget,
    )
    from shuffledp.accounting.random_population.multi_message import (
        DiscreteGaussianPlan as DiscreteGaussianPlan,
        PolyaPlan as PolyaPlan,
        discrete_gaussian_gap as discrete_gaussian_gap,
        multi_exact_plan as multi_exact_plan,
        multi_expected_delta as multi_expected_delta,
        multi_expected_plan as multi_expected_plan,
        multi_expected_scale as multi_expected_scale,
        multi_union_plan as multi_union_plan,
    )
    from shuffledp.accounting.random_population.polya import (
        best_polya_shape as best_polya_shape,
        expected_polya_delta as expected_polya_delta,
        negative_binomial_delta as negative_binomial_delta,
    )
    from shuffledp.accounting.random_population.polya_errors import polya_mean_absolute as polya_mean_absolute
    from shuffledp.accounting.random_population.population_bounds import (
        population_lower_bound as population_lower_bound,
        population_shortfall as population_shortfall,
    )
    from shuffledp.accounting.random_population.report_errors import (
        error_factor as error_factor,
        inverse_moments as inverse_moments,
        report_variance as report_variance,
    )
    from shuffledp.accounting.random_population.secure_sum import (
        group_order as group_order,
        security_bits as security_bits,
        share_count as share_count,
    )
    from shuffledp.accounting.segmented.item_calibration import (
        blankets_for_full_reporting as blankets_for_full_reporting,
        reporting_rate as reporting_rate,
    )
    from shuffledp.accounting.segmented.items import (
        all_counts_delta as all_counts_delta,
        blanket_slots as blanket_slots,
        item_delta as item_delta,
        segmented_delta as segmented_delta,
    )
    from shuffledp.accounting.segmented.plan_search import segmented_plan as segmented_plan
    from shuffledp.accounting.segmented.plans import (
        SegmentedPlan as SegmentedPlan,
        full_reporting as full_reporting,
        level_rate as level_rate,
    )
    from shuffledp.accounting.segmented.profile import SegmentedProfile as SegmentedProfile
    from shuffledp.accounting.segmented.users import (
        user_level_blankets as user_level_blankets,
        user_level_delta as user_level_delta,
        user_level_reporting_rate as user_level_reporting_rate,
    )
    from shuffledp.accounting.shuffle_gaussian.all_users import (
        enough_orders as enough_orders,
        shuffle_gaussian_epsilon as shuffle_gaussian_epsilon,
        shuffle_gaussian_epsilons as shuffle_gaussian_epsilons,
        shuffle_gaussian_rdp as shuffle_gaussian_rdp,
    )
    from shuffledp.accounting.shuffle_gaussian.checkin import (
        best_checkin_shuffle_gaussian_rdp_theorem3 as best_checkin_shuffle_gaussian_rdp_theorem3,
        checkin_shuffle_gaussian_epsilon as checkin_shuffle_gaussian_epsilon,
        checkin_shuffle_gaussian_rdp as checkin_shuffle_gaussian_rdp,
        checkin_shuffle_gaussian_rdp_theorem3 as checkin_shuffle_gaussian_rdp_theorem3,
        checkin_theorem3_epsilon as checkin_theorem3_epsilon,
    )
    from shuffledp.accounting.shuffle_gaussian.subsampled import (
        subsampled_gaussian_epsilon as subsampled_gaussian_epsilon,
        subsampled_rdp as subsampled_rdp,
        subsampled_shuffle_gaussian_epsilon as subsampled_shuffle_gaussian_epsilon,
        subsampled_shuffle_gaussian_rdp as subsampled_shuffle_gaussian_rdp,
    )
    from shuffledp.accounting.summation.closed_designs import (
        analytic_design as analytic_design,
        best_modular_design as best_modular_design,
        modular_design as modular_design,
    )
    from shuffledp.accounting.summation.design_files import (
        ShippedDesign as ShippedDesign,
        good_atoms as good_atoms,
        quick_design as quick_design,
        shipped_design as shipped_design,
        shipped_designs as shipped_designs,
    )
    from shuffledp.accounting.summation.design_search import (
        certified_design as certified_design,
        family_design as family_design,
        search_design as search_design,
    )
    from shuffledp.accounting.summation.joint_noise import correlated_noise_delta as correlated_noise_delta
    from shuffledp.accounting.summation.jump_noise import (
        jump_sizes as jump_sizes,
        least_mean as least_mean,
        mean_jump as mean_jump,
    )
    from shuffledp.accounting.summation.noise_atoms import (
        atom_indices as atom_indices,
        atom_inverse as atom_inverse,
        atom_messages as atom_messages,
        dominating_vector as dominating_vector,
        noise_norm as noise_norm,
        used_atoms as used_atoms,
    )
    from shuffledp.accounting.summation.noise_design import NoiseDesign as NoiseDesign
    from shuffledp.accounting.summation.shift_noise import (
        negative_binomial_shift_delta as negative_binomial_shift_delta,
    )
    from shuffledp.accounting.training.allocation_methods import (
        ALLOCATION_METHODS as ALLOCATION_METHODS,
        AllocationProfile as AllocationProfile,
        allocation_bounds as allocation_bounds,
        allocation_method_epsilon as allocation_method_epsilon,
        allocation_noise as allocation_noise,
    )
    from shuffledp.accounting.training.central_gaussian import (
        central_gaussian_epsilon as central_gaussian_epsilon,
        central_replacement_epsilon as central_replacement_epsilon,
    )
    from shuffledp.accounting.training.random_allocation import (
        allocation_delta as allocation_delta,
        allocation_epsilon as allocation_epsilon,
    )
    from shuffledp.accounting.training.shuffled_batches import (
        shuffled_batches_delta as shuffled_batches_delta,
        shuffled_batches_epsilon as shuffled_batches_epsilon,
    )
else:
    __getattr__, __dir__ = checked_door(
        __name__, ("shuffledp.accountant", "shuffledp.protocols.calibrations", "shuffledp.designs")
    )
