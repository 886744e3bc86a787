"""Subset exponential mechanism without shuffling, with the best number of items per message."""

from dataclasses import dataclass
from typing import Annotated, Self

from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.argument_ranges import Eps, one_of
from shuffledp.protocols.request import Request
from shuffledp.protocols.sets._set_protocol import sets_task
from shuffledp.protocols.sets._subset import SubsetReports, selectable
from shuffledp.protocols.sets._subset_exponential import (
    SubsetExponential,
    SubsetExponentialProfile,
    checked_sets,
    inclusion_sse,
)

SELECTIONS = ("error", "published_code")


def local_subset_exponential(
    domain_size: int,
    set_size: int,
    eps_local: Eps,
    *,
    selection: Annotated[str, one_of(SELECTIONS)] = "error",
) -> SubsetExponential:
    """Return the subset exponential mechanism with the best number of items per message.

    Parameters
    ----------
    domain_size, set_size : int
        Number of items d >= 2, and of items per user s in [1, d - 1].
    eps_local : float
        Local budget, nats, > 0.
    selection : {"error", "published_code"}
        ``error``: smallest expected error. ``published_code``: rule of the authors' code, which counts one item of the
        user instead of s; the errors differ little.

    Returns
    -------
    SubsetExponential
        Exact minimum over all numbers of items.

    Notes
    -----
    Wang et al. 2018 (PrivSet).
    """
    domain_size, set_size = checked_sets(domain_size, set_size)
    members = set_size if selection == "error" else 1

    def error(mechanism: SubsetExponential) -> float:
        return inclusion_sse(mechanism.own_rate, mechanism.other_rate, members, domain_size - members)

    sizes = range(1, domain_size - set_size + 1)
    return min((SubsetExponential(domain_size, set_size, k, eps_local) for k in sizes), key=error)


@dataclass(frozen=True)
class SubsetLocal(SubsetReports):
    """Subset of items as a message in the local model, with the central budget; privacy levels are ignored."""

    name = "subset_local"
    label = "Subexp, local"
    source = "Wang et al. 2018 (PrivSet)"
    trust = "local"
    relies_on = "no other user"
    guarantees = under(printed=EXACT, corrected=EXACT, exact=EXACT)

    @classmethod
    def fit(cls, request: Request, *, selection: Annotated[str, one_of(SELECTIONS)] = "error") -> Self:
        """Find the best number of items per message for ``eps_local = eps`` and any delta.

        ``selection`` is described in `shuffledp.protocols.calibrations.local_subset_exponential`.
        """
        sets = sets_task(request.task)
        _ = request.law  # a mere bound is refused
        shape = selectable(sets)
        mechanism = local_subset_exponential(*shape, request.eps, selection=selection)
        return cls(*shape, sets.padding_items, mechanism)

    def privacy_profile(self) -> PrivacyProfile:
        """Return the exact profile of a single message."""
        return SubsetExponentialProfile(self.mechanism, 1, sound=True)
