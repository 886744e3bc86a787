"""Calibrations of single protocols as functions of numbers, defined beside the class of the protocol."""

from typing import TYPE_CHECKING

from shuffledp.numerics.public_api import checked_door

if TYPE_CHECKING:
    from shuffledp.protocols.frequency.balls_into_bins import bin_dummy_rate as bin_dummy_rate
    from shuffledp.protocols.frequency.correlated_noise import correlated_pair_noise as correlated_pair_noise
    from shuffledp.protocols.frequency.one_sided_noise import one_sided_noise as one_sided_noise
    from shuffledp.protocols.frequency.s1geo import s1geo_dummies as s1geo_dummies
    from shuffledp.protocols.frequency.sageo import (
        GeometricDummies as GeometricDummies,
        sageo_dummies as sageo_dummies,
    )
    from shuffledp.protocols.frequency.sbin import (
        BinomialDummies as BinomialDummies,
        fair_coins as fair_coins,
        sbin_dummies as sbin_dummies,
    )
    from shuffledp.protocols.frequency.silent_users import (
        poisson_dummies as poisson_dummies,
        silent_report as silent_report,
    )
    from shuffledp.protocols.sets._subset_exponential import (
        SubsetExponential as SubsetExponential,
        SubsetExponentialProfile as SubsetExponentialProfile,
    )
    from shuffledp.protocols.sets.subset_local import local_subset_exponential as local_subset_exponential
    from shuffledp.protocols.sets.subset_shuffled import (
        shuffled_subset_exponential as shuffled_subset_exponential,
    )
else:
    __getattr__, __dir__ = checked_door(__name__)
