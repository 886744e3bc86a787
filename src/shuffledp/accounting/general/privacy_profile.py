"""Interface of privacy profiles, built-in or of the user."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.user_functions import call_function, is_foreign, numbers_of
from shuffledp.numerics.argument_ranges import EpsArray

Kind = Literal["exact", "upper", "lower", "approximate"]
View = Literal["analyzer", "shuffler"]


@runtime_checkable
class PrivacyProfile(Protocol):
    """Privacy profile: the smallest delta as a function of eps, for a view and a neighboring relation."""

    @property
    def kind(self) -> Kind:
        """Side of the exact delta on which the returned delta lies."""

    @property
    def neighbours(self) -> str:
        """Neighboring relation, ``replace_one`` or ``add_remove``."""

    @property
    def view(self) -> View:
        """Protected view: the view of the analyzer (after shuffling) or the view of the shuffler."""

    @property
    def source(self) -> str:
        """Source of the pair of distributions or of the bound."""

    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return the largest delta over directions and pairs of neighbors for each eps (nats), shape of `eps`."""


def delta_of(profile: PrivacyProfile, eps: ArrayLike) -> NDArray[np.float64]:
    """Return the profile's delta for each eps (nats), in the shape of `eps`.

    Results of other packages' profiles are checked: errors, and results other than numbers in [0, 1], raise ValueError.
    """
    if not is_foreign(profile):
        return np.asarray(profile.delta(eps), np.float64)
    name = f"{type(profile).__name__}.delta"
    return numbers_of(name, call_function(name, profile.delta, eps), np.shape(eps), 0.0, 1.0)
