"""Cases of `shuffledp check-baseline` for a setting on the command line."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.accountant.wording import population_named
from shuffledp.comparison.options import SettingOptions
from shuffledp.comparison.setting import Setting, dealt, machine_memory, setting_of
from shuffledp.populations.base import Law
from shuffledp.protocols.conformance.cases import Case, Participating, Protocol, SameNumbers
from shuffledp.protocols.conformance.running import FAST_REPEATS
from shuffledp.tasks import Ints, Participants, Summation

#: Bytes that a check takes per repeat and value.
_BYTES = 40


@dataclass(frozen=True, eq=False)
class _SameUsers:
    """Sampler of participants whose number in every repeat is the mean number of a setting."""

    where: Setting
    n: int
    counts: Ints

    def __call__(self, repeats: int) -> Participants:
        """Return R repeats with these participants."""
        return self.where.participants(np.full(repeats, self.n), np.tile(self.counts, (repeats, 1)))


def cases_of(protocol_class: Protocol, population: str | None, **options: Any) -> tuple[Case, ...]:
    """Return a case of the setting for each accounting of the class; no case if no option is given.

    Parameters
    ----------
    protocol_class : type
        The baseline.
    population : str or None
        Text of ``--population``.
    **given
        Further options of `setting_options.with_setting`; None for an omitted option.

    Raises
    ------
    ValueError
        If options are missing or do not fit, or if the class is for another task.
    """
    size = options["domain_size"] or options["max_value"] or options["dimension"]
    if not any((population, options["users"], options["eps"], options["delta"], size, options["set_size"])):
        return ()
    if options["eps"] is None or options["delta"] is None:
        raise ValueError("A setting needs --eps and --delta.")
    law = None if population is None else population_named(population)
    where = setting_of(SettingOptions(**options, population=law))
    if where.task.kind != protocol_class.task_kind:
        raise ValueError(
            f"The setting is for {where.task.kind}, and the class for {protocol_class.task_kind}."
        )
    if not isinstance(where.population, Law):
        raise ValueError(f"--population must be a law of the number of users, got {population!r}.")
    if _BYTES * FAST_REPEATS * where.shares.size > machine_memory():
        raise ValueError(
            f"A check of {where.shares.size:,} values takes more than the memory of this machine."
        )
    n = 1 + round(where.population.mean)
    counts = dealt(where.shares, n)
    participants: Participating = _SameUsers(where, n, counts)
    if isinstance(where.task, Summation):  # whose participants have no raw numbers
        participants = SameNumbers(where.task, tuple(counts.tolist()))
    return tuple(
        Case(where.budget, where.population, where.task, accounting, tuple(counts.tolist()), (), participants)
        for accounting in protocol_class.accountings
    )
