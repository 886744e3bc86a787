"""Public names without a reference, and the reasons."""

NAMES = "a list of names, or a type, an exception, a label: no number"
FIELDS = "carries numbers that other functions computed or a user gave"
COMPOSED = "composed of functions that have references: "
SEARCH = "a search; what it returns is verified by "
FORMULA = "a formula of a few sums and products; the golden table has its values"
PAIR = "not yet compared by itself; a test enumerates it: "

REASONS: dict[str, str] = {
    **dict.fromkeys(
        [
            "printed_dump_mse",
            "printed_flexible_mse",
            "private_coin_mse",
            "solh_mse",
            "rappor_count_variance",
            "rappor_mse",
            "rappor_messages",
            "rounded_sum_mse",
            "public_coin_rows",
            "default_entries",
        ],
        FORMULA,
    ),
    **dict.fromkeys(
        [
            "ACCOUNTINGS",
            "ALLOCATION_METHODS",
            "Comparison",
            "DUMP_ACCOUNTINGS",
            "Infeasible",
            "LastOrderWarning",
            "PrivacyProfile",
            "Randomizer",
        ],
        NAMES,
    ),
    **dict.fromkeys(
        [
            *(
                "Answer",
                "Batch",
                "BinomialDummies",
                "CoarseCertificate",
                "CoarseDesign",
                "CounterNoise",
                "Curves",
                "Deployment",
            ),
            *(
                "DiscreteGaussianPlan",
                "DummyPlan",
                "GaussianFit",
                "GeometricDummies",
                "HashedReport",
                "JumpCounter",
            ),
            *(
                "NoiseDesign",
                "OtherReports",
                "PersonalizedAnswer",
                "PolyaPlan",
                "RoundsAnswer",
                "SegmentedPlan",
                "SeparatePlan",
                "ShippedCoarse",
            ),
            *(
                "ShippedDesign",
                "SubsetExponential",
                "deployed_printed",
                "deployments",
                "shipped_coarse",
                "shipped_coarse_designs",
            ),
            *("shipped_design", "shipped_designs"),
        ],
        FIELDS,
    ),
    **dict.fromkeys(
        ["atom_indices", "atom_inverse", "atom_messages", "dominating_vector", "used_atoms"],
        "integers, multiplied out in a test",
    ),
    "noise_norm": "a sum of products",
    "clones_apply": "a truth value, compared with `closed_form_clones_epsilon`",
    "mean_jump": "compared with `jump_sizes`",
    **dict.fromkeys(
        ["deployed_answer", "deployed_epsilon", "randomizer_epsilon"], COMPOSED + "`amplification`"
    ),
    "erlingsson_epsilon": "a product of four numbers",
    "deployed_users": COMPOSED + "`smallest_batch`",
    "curves": COMPOSED + "`trade_off`, `renyi_from_profile`, `gaussian_fit`",
    "calibrate_randomizer": SEARCH + "`amplification`",
    "personalized_answer": COMPOSED + "`blanket_epsilon`, `amplified_epsilon`",
    "personalized_delta": COMPOSED + "`blanket_randomizer_delta`, `clone_delta`",
    "personalized_epsilon": "a field of `personalized_answer`",
    "questions_epsilon": COMPOSED + "`blanket_epsilon`, `composed_epsilon`",
    "rounds_epsilon": COMPOSED + "`composed_epsilon`",
    "group_order": COMPOSED + "tails of populations; integers",
    **dict.fromkeys(
        ["central_gaussian_epsilon", "central_replacement_epsilon", "composed_epsilon", "to_pld"],
        "evaluated by dp-accounting, whose grid of losses is an upper bound up to the rounding of its transforms",
    ),
    "to_opendp": "passes a profile on",
    "dummy_grid": "a list of candidates: integers",
    "enough_orders": "a rule that costs tightness, never validity",
    "good_atoms": "a choice that costs messages, never privacy",
    "best_checkin_shuffle_gaussian_rdp_theorem3": SEARCH + "`checkin_shuffle_gaussian_rdp_theorem3`",
    "checkin_theorem3_epsilon": COMPOSED + "`checkin_shuffle_gaussian_rdp_theorem3`, `rdp_to_epsilon`",
    "checkin_shuffle_gaussian_epsilon": COMPOSED + "`checkin_shuffle_gaussian_rdp`, `rdp_to_epsilon`",
    "subsampled_shuffle_gaussian_epsilon": COMPOSED + "`subsampled_shuffle_gaussian_rdp`, `rdp_to_epsilon`",
    "subsampled_gaussian_epsilon": COMPOSED + "`subsampled_rdp`, `rdp_to_epsilon`",
    **dict.fromkeys(
        ["gaussian_clones_epsilon", "gaussian_clones_epsilons", "checkin_baseline_epsilon"],
        COMPOSED + "`gaussian_local_epsilon`, `closed_form_clones_epsilon`, `optimal_composition`",
    ),
    **dict.fromkeys(
        ["shuffled_gaussian_profile", "profile_rdp", "checkin_generic_rdp", "checkin_generic_epsilon"],
        COMPOSED + "`closed_form_clones_epsilon`, `log_gaussian_delta`, `subsampled_rdp`",
    ),
    "optimal_dummies": SEARCH + "`local_budget` and `error_factor`",
    "multi_union_plan": COMPOSED + "`population_lower_bound`, `share_count`",
    "multi_exact_plan": COMPOSED + "`best_polya_shape`, `share_count`",
    "multi_expected_plan": COMPOSED + "`multi_expected_scale`, `share_count`",
    **dict.fromkeys(
        ["full_reporting", "level_rate"],
        COMPOSED + "`reporting_rate`, `user_level_reporting_rate`, `item_delta`",
    ),
    "SegmentedProfile": COMPOSED + "`segmented_delta`, `user_level_delta`",
    **dict.fromkeys(["segmented_plan", "sep_mm_plan", "mm_plan"], SEARCH + "`level_rate`, `full_reporting`"),
    **dict.fromkeys(
        ["local_subset_exponential", "shuffled_subset_exponential", "SubsetExponentialProfile"],
        COMPOSED + "`variation_ratio_delta`",
    ),
    **dict.fromkeys(
        ["best_modular_design", "modular_design", "analytic_design"],
        SEARCH + "`negative_binomial_shift_delta` of every noise",
    ),
    **dict.fromkeys(
        ["certified_design", "family_design", "search_design", "quick_design"],
        SEARCH + "`correlated_noise_delta`",
    ),
    **dict.fromkeys(
        ["coarse_start", "finished_design", "quick_coarse", "search_coarse"], SEARCH + "`coarse_noise_delta`"
    ),
    "jump_counters": SEARCH + "`jump_counters_delta`",
    "JumpCountersProfile": COMPOSED + "`jump_counters_delta`",
    **dict.fromkeys(
        ["coarse_noise_delta", "correlated_noise_delta", "jump_counters_delta"],
        "certified in floats: a bound on every rounding error is a part of the result; tests enumerate small designs",
    ),
    **dict.fromkeys(
        ["AllocationProfile", "allocation_bounds", "allocation_method_epsilon", "allocation_noise"],
        COMPOSED + "`allocation_delta`, `allocation_epsilon`",
    ),
    **dict.fromkeys(
        ["dummy_cells_delta", "dummy_cells_epsilon", "dummy_cells_mean"],
        "tests enumerate few cells, and compare one cell with 40 digits and many cells with another program",
    ),
    **dict.fromkeys(
        ["shuffled_batches_delta", "shuffled_batches_epsilon"],
        "tests compare both sides with quadrature and dynamic programming, and with each other",
    ),
    **dict.fromkeys(
        ["SymmetricRAPPOR", "rappor_delta", "rappor_flip_probability"], PAIR + "counts of randomized bits"
    ),
    **dict.fromkeys(["ikos_distance", "ikos_shares"], PAIR + "permutations of a handful of users"),
    **dict.fromkeys(["public_coin_rate", "rows_delta"], PAIR + "rows of two counts"),
}
