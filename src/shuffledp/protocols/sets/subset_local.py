"""Subset exponential mechanism without shuffling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.baselines.sets import local_subset_exponential
from shuffledp.accounting.baselines.sets_profile import SubsetExponentialProfile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.populations import Population
from shuffledp.protocols._requests import from_request, law_of
from shuffledp.protocols.sets._set_protocol import sets_task
from shuffledp.protocols.sets._subset import SubsetReports, selectable
from shuffledp.tasks import Task


@dataclass(frozen=True)
class SubsetLocal(SubsetReports):
    """The local budget is the central one; privacy levels are ignored."""

    name = "subset_local"
    label = "Subexp, local"
    source = "Wang et al. 2018 (PrivSet)"
    trust = "local"
    relies_on = "no other user"
    guarantees = under(printed=EXACT, corrected=EXACT, exact=EXACT)

    @classmethod
    @from_request
    def calibrate(cls, population: Population, task: Task, eps: float, *, selection: str = "error") -> Self:
        """The best number of items per message.

        Parameters
        ----------
        budget : Budget
            One eps; delta is not used. Replacement neighbours.
        task : Sets
            Sets smaller than the domain.
        accounting : {"printed", "corrected", "exact"}
            All the same: the mechanism is exactly eps-private.
        selection : {"error", "published_code"}
            See `shuffledp.accounting.local_subset_exponential`.

        Raises
        ------
        Infeasible
            If the number of users follows no known law.
        """
        sets = sets_task(task)
        law_of(population)
        shape = selectable(sets)
        mechanism = local_subset_exponential(*shape, eps, selection=selection)
        return cls(*shape, sets.padding_items, mechanism)

    def privacy_profile(self) -> PrivacyProfile:
        """One message alone."""
        return SubsetExponentialProfile(self.mechanism, 1, sound=True)
