"""Families of randomizers, as functions of the local budget, and the reductions proven for each of them.

Conventions: eps in nats; `eps_local` is the local budget for replacement of one input, even if a protocol states
another number: symmetric RAPPOR flips bits with probability ``1 / (e^(eps_local / 2) + 1)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from shuffledp.accounting.baselines.symmetric_rappor import SymmetricRAPPOR
from shuffledp.accounting.general.noise_randomizers import LaplaceRandomizer
from shuffledp.accounting.general.randomizers import (
    GRR,
    BinaryRandomizedResponse,
    Randomizer,
    SubsetSelection,
    check_randomizer,
)
from shuffledp.numerics.argument_ranges import check_choice, check_count

Kind = Literal["any", "grr", "binary", "laplace", "subset", "rappor"]
#: Function from a local budget, nats, to a randomizer with it.
Maker = Callable[[float], Randomizer]

_MAKERS: Mapping[str, Callable[[float, int, int], Randomizer]] = MappingProxyType(
    {
        "grr": lambda eps_local, k, d: GRR(eps_local, k),
        "binary": lambda eps_local, k, d: BinaryRandomizedResponse(eps_local),
        "laplace": lambda eps_local, k, d: LaplaceRandomizer(eps_local),
        "subset": lambda eps_local, k, d: SubsetSelection(eps_local, k, d),
        "rappor": lambda eps_local, k, d: SymmetricRAPPOR(eps_local / 2, k),
    }
)
FAMILIES: tuple[str, ...] = ("any", *_MAKERS)
_WITH_DOMAIN = ("grr", "subset", "rappor")
#: Every output is favored by at most one input over a common floor: then clones come at their larger rate.
_STRONGER_CLONES = ("grr", "binary")
#: Relative rounding of a local budget that a table of probabilities has.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Family:
    """Randomizer without its local budget; raises ValueError if a number is missing or the kind has no such number.

    The kind ``any`` means every randomizer with that local budget. For ``subset`` the default subset size is
    ``max(1, round(k / (e^eps_local + 1)))``, approximately the best. For ``own``, `make` returns the user's randomizer
    with a local budget.
    """

    kind: str
    domain_size: int | None = None
    subset_size: int | None = None
    make: Maker | None = None

    def __post_init__(self) -> None:
        if self.make is None:
            check_choice("randomizer", self.kind, FAMILIES)
        if self.kind in _WITH_DOMAIN:
            if self.domain_size is None:
                raise ValueError(f"The randomizer {self.kind} needs a domain_size.")
            object.__setattr__(self, "domain_size", check_count("domain_size", self.domain_size, 2))
        elif self.domain_size is not None:
            raise ValueError(f"The randomizer {self.kind} has no domain_size, got {self.domain_size!r}.")
        if self.kind != "subset" and self.subset_size is not None:
            raise ValueError(f"The randomizer {self.kind} has no subset_size, got {self.subset_size!r}.")

    @property
    def clone_reductions(self) -> tuple[str, ...]:
        """Reductions to clones that are proven for the family; none for the user's randomizer, which has a blanket."""
        if self.make is not None:
            return ()
        return ("clones", "randomized_response") if self.kind in _STRONGER_CLONES else ("clones",)

    @property
    def label(self) -> str:
        """Short description of the family."""
        size = f" over {self.domain_size} values" if self.domain_size is not None else ""
        return ("any randomizer" if self.kind == "any" else self.kind) + size

    def make_randomizer(self, eps_local: float) -> Randomizer | None:
        """Return the randomizer with a local budget, nats; None for any randomizer, or if the user's has none."""
        if self.kind == "any":
            return None
        if self.make is not None:
            return _made(self.make, eps_local)
        k = self.domain_size or 2
        d = self.subset_size or min(max(1, round(k / (math.exp(min(eps_local, 300.0)) + 1))), k - 1)
        return _MAKERS[self.kind](eps_local, k, d)


def _made(make: Maker, eps_local: float) -> Randomizer | None:
    """Return the user's randomizer with a local budget; None if its own budget is larger by more than rounding."""
    randomizer = make(eps_local)
    check_randomizer(randomizer)
    return randomizer if randomizer.eps_local <= eps_local * (1 + ROUNDING) else None
