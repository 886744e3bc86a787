"""Years in which the sources of the protocols were published."""

from __future__ import annotations

from collections.abc import Mapping

OURS = "this project"
"""Source of the protocols that no paper has."""
_SOURCES: Mapping[int | str, str] = {
    2012: "frequency.central_laplace summation.central_laplace",
    2014: "frequency.symmetric_rappor",
    2017: "frequency.unary_rows",
    2018: "frequency.subset_selection sets.subset_local sets.subset_shuffled vectors.central_gaussian vectors.privunit",
    2019: (
        "frequency.grr_blanket frequency.private_coin frequency.public_coin summation.bit_sum "
        "summation.single_message_sum summation.unary_bits"
    ),
    2020: (
        "frequency.central_gaussian frequency.flexible_mix_dump frequency.flexible_pure_dump "
        "frequency.fragmented_rappor frequency.mix_dump frequency.pure_dump frequency.random_checkin frequency.solh "
        "frequency.truncation summation.central_gaussian summation.fragmented_rappor summation.split_and_mix "
        "vectors.random_checkin"
    ),
    2021: (
        "frequency.correlated_noise frequency.fake_users frequency.skellam summation.correlated_sum "
        "summation.real_sum summation.skellam summation.sparse_sum"
    ),
    2022: "frequency.balls_into_bins frequency.hashed_balls_into_bins sets.balls_into_bins",
    2023: (
        "frequency.adaptive frequency.amplified frequency.local frequency.multi_expected frequency.multi_union "
        "frequency.non_adaptive vectors.adaptive vectors.amplified vectors.local vectors.non_adaptive"
    ),
    2024: "sets.segmented sets.separate sets.separate_inverse_variance sets.separate_weighted",
    2025: "frequency.s1geo frequency.sageo frequency.sbin",
    OURS: (
        "frequency.designated_coins frequency.jump_counts frequency.multi_exact frequency.one_sided_noise "
        "frequency.silent_users summation.coarse_correlated_sum"
    ),
}
YEARS: Mapping[str, int | str] = {name: year for year, names in _SOURCES.items() for name in names.split()}
"""Year of the first source of each protocol, by task and name; `OURS` if it was derived for this project."""
