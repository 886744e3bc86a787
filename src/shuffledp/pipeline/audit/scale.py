"""Delta of calibrated protocols at any number of users and values, from the law of two counts of messages.

At the scale of an experiment the law of all messages has too many outcomes. User 1 therefore has one of two inputs, and
all other users hold a third input, or user 1's second input if there is no third. The view is reduced to two counts:
messages that are likelier under the first input, and messages that are likelier under the second. The number of users
is part of the view only if a law needs it. Each reduction can only decrease delta, so that an excess over a claim is
genuine. Of an accounting only the calibrated parameters are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from shuffledp.pipeline.audit.families import of_family
from shuffledp.pipeline.audit.measured import Measured, NoProfile
from shuffledp.pipeline.audit.scale_reports import (
    checked_in_vectors,
    laplace,
    random_checkin,
    randomized_response,
)
from shuffledp.pipeline.audit.scale_sets import (
    balls_into_bins,
    segmented,
    separate,
    subsets,
)
from shuffledp.pipeline.audit.scale_sums import (
    correlated_sums,
    fragmented_rappor,
    level_reports,
    noisy_sums,
    noisy_vectors,
    polya_shares,
    secure_sums,
    split_shares,
    unary_bits,
)
from shuffledp.pipeline.audit.scale_values import (
    correlated_counts,
    curator_counts,
    fixed_dummies,
    flexible_dummies,
    flipped_bits,
    gaussian_shares,
    hashed_balls,
    noisy_counts,
    presence,
    private_coin,
    public_coin,
    solh,
    subset_selection,
    truncation,
    whole_rows,
)
from shuffledp.populations import Law
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Neighbours


def at_scale(
    protocol: ProtocolBase,
    population: Law,
    levels: Sequence[float],
    neighbours: Neighbours = "replace_one",
) -> list[Measured]:
    """Return delta of a calibrated protocol at each claimed eps (nats, one per privacy level), without its accounting.

    The parameters of `protocol` are those after the announcement, if a first round changes them. The neighboring
    relation `neighbours` is replacement of user 1's input, or add-remove of user 1. Raises `NoProfile` if no law of the
    protocol's messages is defined here, and `TooLarge` if a law has too many outcomes.
    """
    if neighbours != "replace_one":
        present = of_family(protocol, PRESENCES)
        if present is None:
            raise NoProfile("users who are added or removed are not written down for this protocol")
        return [present(protocol, population, eps) for eps in levels]
    found = of_family(protocol, PROFILES)
    if found is None:
        raise NoProfile(f"the messages of {protocol.name} are not written down for any number of users")
    return [found(protocol, population, level, eps) for level, eps in enumerate(levels)]


PROFILES: Mapping[str, Callable[..., Measured]] = {
    "frequency._randomized_response.RandomizedResponse": randomized_response,
    "frequency.random_checkin.RandomCheckin": random_checkin,
    "vectors._laplace.LaplaceNoise": laplace,
    "vectors.random_checkin.RandomCheckin": checked_in_vectors,
    "frequency._dummy_points.FixedDummies": fixed_dummies,
    "frequency._flexible_dummies.FlexibleDummies": flexible_dummies,
    "frequency.truncation.Truncation": truncation,
    "frequency._noisy_counts.NoisyCounts": noisy_counts,
    "frequency.correlated_noise.CorrelatedNoise": correlated_counts,
    "frequency.solh.Solh": solh,
    "frequency.private_coin.PrivateCoin": private_coin,
    "frequency.public_coin.PublicCoin": public_coin,
    "frequency._polya_shares.PolyaShares": polya_shares,
    "frequency.multi_expected.MultiExpected": gaussian_shares,
    "summation.split_and_mix.SplitAndMix": split_shares,
    "frequency._curator_noise.NoisyHistogram": curator_counts,
    "frequency.skellam.Skellam": curator_counts,
    "frequency._unary_bits.FlippedBits": flipped_bits,
    "frequency._unary_bits.WholeRows": whole_rows,
    "frequency.subset_selection.SubsetSelection": subset_selection,
    "frequency.hashed_balls_into_bins.HashedBallsIntoBins": hashed_balls,
    "summation._levels.LevelReports": level_reports,
    "summation.unary_bits.UnaryBits": unary_bits,
    "summation._curator.NoisySums": noisy_sums,
    "summation.skellam.Skellam": secure_sums,
    "summation._correlated.CorrelatedNoiseSum": correlated_sums,
    "summation.fragmented_rappor.FragmentedRappor": fragmented_rappor,
    "vectors.central_gaussian.CentralGaussian": noisy_vectors,
    "sets.balls_into_bins.BallsIntoBins": balls_into_bins,
    "sets.segmented.Segmented": segmented,
    "sets._separate.SeparateLevels": separate,
    "sets._subset.SubsetReports": subsets,
}
"""Description of the messages, by the family of the protocol."""
PRESENCES: Mapping[str, Callable[..., Measured]] = {
    "frequency._curator_noise.NoisyHistogram": presence,
    "frequency.skellam.Skellam": presence,
}
"""The same where users are added or removed."""
