"""Subset exponential mechanism with shuffled messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.baselines.sets import has_residual, shuffled_subset_exponential
from shuffledp.accounting.baselines.sets_profile import SubsetExponentialProfile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import FORGOTTEN_RESIDUAL, UPPER, Standing, under
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.sets._set_protocol import sets_task
from shuffledp.protocols.sets._subset import SubsetReports, selectable
from shuffledp.tasks import Task


@dataclass(frozen=True)
class SubsetShuffled(SubsetReports, PlannedUsers):
    """One shuffled message per user carries the whole set; privacy levels are ignored.

    Parameters
    ----------
    n_users : int
        All users.
    sound : bool
        Whether the local budget follows from a proven form of the variation-ratio theorem.
    """

    n_users: int
    sound: bool

    name = "subset_shuffled"
    label = "Subexp, shuffled"
    source = "Wang et al. 2018 (PrivSet); Wang et al. 2024 (arXiv 2407.19639), Theorem 1"
    trust = "shuffler"
    relies_on = "others' reports"
    reduction = "variation ratio"
    mixed_under = ("corrected",)
    guarantees = under(printed=FORGOTTEN_RESIDUAL, corrected=UPPER)

    @classmethod
    @from_request
    def calibrate(
        cls, task: Task, n: int, eps: float, delta: float, *, accounting: str = "corrected"
    ) -> Self:
        """The best number of items per message and, for that, the largest local budget.

        Parameters
        ----------
        task : Sets
            Sets smaller than the domain.
        accounting : {"printed", "corrected"}
            Theorem 1 as the paper uses it, which is not valid in general (SEG-6.2), or what replaces it.
        """
        sets = sets_task(task)
        sound = accounting == "corrected"
        shape = selectable(sets)
        mechanism = shuffled_subset_exponential(n, *shape, eps, delta, sound=sound)
        return cls(*shape, sets.padding_items, mechanism, n, sound)

    @property
    def standing(self) -> Standing:
        """That of the accounting; without a residual component, or without others, the printed theorem holds."""
        proven = self.sound or self.n_users == 1 or not has_residual(self.mechanism)
        return UPPER if proven else FORGOTTEN_RESIDUAL

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """What the sound accounting evaluates; None for the theorem as printed, which is no proven bound."""
        profile = SubsetExponentialProfile(self.mechanism, users, self.sound)
        return profile if profile.kind == "upper" else None
