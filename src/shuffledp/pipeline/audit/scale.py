"""Delta of calibrated protocols at any number of users and values: what two counts show, written from the messages.

At the scale of an experiment the laws of all messages have too many outcomes. So user 1 has one of two inputs, the
others all hold a third one (where there is none, user 1's second one), and two counts are looked at: of messages that
are likelier under the first input, and of those that are likelier under the second. The number of users is looked at
only where a law needs it. All of this makes delta smaller, never larger: an excess over a claim is one. Of the
accounting nothing is used but calibrated parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from shuffledp.protocols.frequency import _curator_noise as frequency_curator
from shuffledp.protocols.frequency import skellam as frequency_skellam
from shuffledp.protocols.frequency._dummy_points import FixedDummies
from shuffledp.protocols.frequency._flexible_dummies import FlexibleDummies
from shuffledp.protocols.frequency._noisy_counts import NoisyCounts
from shuffledp.protocols.frequency._randomized_response import RandomizedResponse
from shuffledp.protocols.frequency._secret_shares import GaussianShares, PolyaShares
from shuffledp.protocols.frequency._unary_bits import FlippedBits, WholeRows
from shuffledp.protocols.frequency.correlated_noise import CorrelatedNoise
from shuffledp.protocols.frequency.hashed_balls_into_bins import HashedBallsIntoBins
from shuffledp.protocols.frequency.private_coin import PrivateCoin
from shuffledp.protocols.frequency.public_coin import PublicCoin
from shuffledp.protocols.frequency.random_checkin import RandomCheckin
from shuffledp.protocols.frequency.solh import Solh
from shuffledp.protocols.frequency.subset_selection import SubsetSelection
from shuffledp.protocols.frequency.truncation import Truncation
from shuffledp.protocols.sets._separate import SeparateLevels
from shuffledp.protocols.sets._subset import SubsetReports
from shuffledp.protocols.sets.balls_into_bins import BallsIntoBins
from shuffledp.protocols.sets.segmented import Segmented
from shuffledp.protocols.summation._correlated import CorrelatedNoiseSum
from shuffledp.protocols.summation._curator import CuratorNoise
from shuffledp.protocols.summation._levels import LevelReports
from shuffledp.protocols.summation.fragmented_rappor import FragmentedRappor
from shuffledp.protocols.summation.skellam import Skellam
from shuffledp.protocols.summation.split_and_mix import SplitAndMix
from shuffledp.protocols.summation.unary_bits import UnaryBits
from shuffledp.protocols.vectors import random_checkin as vector_checkin
from shuffledp.protocols.vectors._laplace import LaplaceNoise
from shuffledp.protocols.vectors.central_gaussian import CentralGaussian
from shuffledp.tasks import Neighbours


def at_scale(
    protocol: ProtocolBase,
    population: Law,
    levels: Sequence[float],
    neighbours: Neighbours = "replace_one",
) -> list[Measured]:
    """Delta of a calibrated protocol at each claimed eps, found without its accounting.

    Parameters
    ----------
    protocol : ProtocolBase
        As announced, where a first round changes parameters.
    population : Law
        Number of other users.
    levels : sequence of float
        Claimed eps, nats, one per privacy level.
    neighbours : {"replace_one", "add_remove"}
        What user 1 may do: hold another input, or not take part.

    Returns
    -------
    list of Measured
        One per privacy level.

    Raises
    ------
    NoProfile
        If the protocol's messages are not written down here, or not for these parameters.
    TooLarge
        If a law has too many outcomes.
    """
    if neighbours != "replace_one":
        if isinstance(protocol, frequency_curator.CuratorNoise | frequency_skellam.Skellam):
            return [presence(protocol, population, eps) for eps in levels]
        raise NoProfile("users who are added or removed are not written down for this protocol")
    for kind, of in PROFILES:
        if isinstance(protocol, kind):
            return [of(protocol, population, level, eps) for level, eps in enumerate(levels)]
    raise NoProfile(f"the messages of {protocol.name} are not written down for any number of users")


PROFILES: tuple[tuple[type[ProtocolBase], Callable[..., Measured]], ...] = (
    (RandomizedResponse, randomized_response),
    (RandomCheckin, random_checkin),
    (LaplaceNoise, laplace),
    (vector_checkin.RandomCheckin, checked_in_vectors),
    (FixedDummies, fixed_dummies),
    (FlexibleDummies, flexible_dummies),
    (Truncation, truncation),
    (NoisyCounts, noisy_counts),
    (CorrelatedNoise, correlated_counts),
    (Solh, solh),
    (PrivateCoin, private_coin),
    (PublicCoin, public_coin),
    (PolyaShares, polya_shares),
    (GaussianShares, gaussian_shares),
    (SplitAndMix, polya_shares),
    (frequency_curator.CuratorNoise, curator_counts),
    (frequency_skellam.Skellam, curator_counts),
    (FlippedBits, flipped_bits),
    (WholeRows, whole_rows),
    (SubsetSelection, subset_selection),
    (HashedBallsIntoBins, hashed_balls),
    (LevelReports, level_reports),
    (UnaryBits, unary_bits),
    (CuratorNoise, noisy_sums),
    (Skellam, noisy_sums),
    (CorrelatedNoiseSum, correlated_sums),
    (FragmentedRappor, fragmented_rappor),
    (CentralGaussian, noisy_vectors),
    (BallsIntoBins, balls_into_bins),
    (Segmented, segmented),
    (SeparateLevels, separate),
    (SubsetReports, subsets),
)
"""Protocols by family, with what is written down of their messages."""
