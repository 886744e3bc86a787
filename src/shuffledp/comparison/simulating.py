"""Simulation of one batch: estimates with intervals from the users' values, and the users' communication."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.accounting.expected_errors.most_messages import RARE
from shuffledp.comparison.comparing import best_accounting
from shuffledp.comparison.intervals import law_of_errors, laws_of, of_values
from shuffledp.comparison.options import BatchOptions, with_arguments_of
from shuffledp.comparison.releases import calibrate_releases
from shuffledp.comparison.rows import sender, whole_text
from shuffledp.comparison.setting import setting_of
from shuffledp.comparison.user_data import count_data
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.numerics.rounding import number_text
from shuffledp.numerics.statements import Conditions
from shuffledp.optional_dependencies import needed
from shuffledp.outputs import wrapped
from shuffledp.populations.base import Fixed, Population
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.registry import get, label_of
from shuffledp.tasks import Floats, Sets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

#: Number of simulated batches in place of a missing closed form of the error.
_REPEATS = 200
#: Largest number of estimates in a printed table.
_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Simulated:
    """Estimates of one simulated batch.

    Parameters
    ----------
    protocol : Protocol
        The calibrated protocol.
    users : int
        Number of users of the batch.
    planned : int, optional
        Number of users that the protocol is calibrated for; None for a random number.
    values : tuple
        Values or items of the estimates; ``("sum",)`` for a sum.
    estimates, truth : (V,) ndarray
        Estimated and true shares of the values or items, or the sum.
    variance : (V,) ndarray
        Expected squared error of each estimate, its variance if the protocol is unbiased. Without a closed form, the
        mean of 200 simulated batches.
    half_width : (V,) ndarray
        Half-widths of 95 % intervals, one for each estimate, from the law of its error for the true values of this
        batch. An analyzer does not know the true values, so that its intervals differ.
    simultaneous_half_width : float
        Half-width of intervals that hold together with 95 %, by a union bound for the true values of this batch.
    cost : Cost
        Communication of a user, for the planned number of users.
    remarks : tuple of str
        Remarks on the data, such as rows that were left out.
    rounds : int
        Number of releases to the same users that the guarantee covers; the batch is one of them.
    """

    protocol: ProtocolBase
    users: int
    planned: int | None
    values: tuple[Any, ...]
    estimates: Floats
    truth: Floats
    variance: Floats
    half_width: Floats
    simultaneous_half_width: float
    cost: Cost
    remarks: tuple[str, ...] = ()
    rounds: int = 1

    @property
    def guarantee_holds(self) -> bool:
        """True unless fewer users take part than planned, on whom the guarantee relies."""
        relies = self.protocol.relies_on != "no other user"
        return self.planned is None or self.users >= self.planned or not relies

    @property
    def conditions(self) -> dict[str, Conditions]:
        """Users, data and side of rounding of the numbers."""
        batch = Conditions(self.users, "counted", "given", "nearest")
        sent = Conditions(self.users, "counted", "worst", "nearest")
        law = getattr(self.protocol, "population", None)
        if self.planned is not None:
            sent = replace(sent, users=self.planned, who="planned")
        elif law is not None and not getattr(self.protocol, "follows_announcement", False):
            sent = replace(sent, users=1 + law.mean, who="mean")
        return {
            **dict.fromkeys(("estimates", "truth", "variance"), batch),
            **dict.fromkeys(("half_width", "simultaneous_half_width"), replace(batch, side="up")),
            **dict.fromkeys(("messages_per_user", "bits_per_user"), sent),
            **dict.fromkeys(("most_messages", "most_bits"), replace(sent, side="up")),
        }

    @property
    def intervals(self) -> Floats:
        """(V, 2) lower and upper ends of the 95 % intervals; those of shares are cut to [0, 1]."""
        ends = np.stack([self.estimates - self.half_width, self.estimates + self.half_width], axis=1)
        return np.clip(ends, 0, 1) if self.protocol.task_kind in ("frequency", "sets") else ends

    def _guarantee(self) -> str:
        """Return a clause on the guarantee and on the number of users that it is for."""
        label, relies = self.protocol.guarantee, self.protocol.relies_on != "no other user"
        if self.planned is None:
            return f"guarantee {label}" + (" for a random number of users" if relies else "")
        if self.planned == self.users:
            return f"guarantee {label}"
        if not self.guarantee_holds:
            return f"calibrated for {self.planned:,}; the guarantee does not hold for {self.users:,}"
        if relies and label == "exact":  # more users hide a value better
            label = "upper"
        return f"calibrated for {self.planned:,}, guarantee {label} also for {self.users:,}"

    def _most(self) -> str:
        """Return a clause on the largest number of messages of any user."""
        most = self.cost.most_messages
        if most is None:
            return "the most is not stated"
        chance = number_text(RARE * max(self.users / (self.planned or self.users), 1.0), "up", 2)
        rare = "" if self.cost.most_certain else f" except with a probability of at most {chance}"
        return f"at most {whole_text(most)}{rare}"

    def __str__(self) -> str:
        planned = "" if self.planned in (None, self.users) else f"of {self.planned:,} users, "
        rounds = "" if self.rounds == 1 else f" for {self.rounds:,} releases to the same users"
        sent = self.conditions["messages_per_user"]
        first = (
            f"{self.protocol.name}, {self.users:,} users, {self._guarantee()}{rounds}; {planned}"
            f"a {sender(self.protocol.task_kind)} sends {sent.text(self.cost.messages_per_user, 4)} messages on "
            f"average ({sent.text(self.cost.bits_per_user, 4)} bits), {self._most()}"
        )
        legend = "±95 %: from true values, which analyzers do not know"
        head = [first, *self.remarks, legend]
        if (self.intervals == [0, 1]).all(axis=1).any():
            head.append("An interval over [0, 1] says nothing about a share.")
        width = self.conditions["half_width"]
        numbers = zip(self.values[:_SHOWN], self.estimates, self.half_width, strict=False)
        rows = [
            ("value", "estimate", "±95 %"),
            *((str(v), _estimate(e, h), width.text(h, 2)) for v, e, h in numbers),
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(t.rjust(w) for t, w in zip(row, widths, strict=True)) for row in rows]
        further = len(self.values) - _SHOWN
        return "\n".join([*wrapped(head), *lines, *([f"and {further} more values"] if further > 0 else [])])

    def to_frame(self) -> DataFrame:
        """Return a data frame of pandas with a row for each estimate. Raise MissingExtra without pandas."""
        with needed():
            import pandas as pd
        columns = {"estimate": self.estimates, "half_width": self.half_width, "truth": self.truth}
        return pd.DataFrame(columns, index=pd.Index(self.values, name="value"))

    def _repr_html_(self) -> str:
        """Return the printed text for notebooks, which needs no pandas."""
        return f"<pre>{escape(str(self))}</pre>"

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw estimates, intervals and true values, and return the axes. Raise MissingExtra without Matplotlib."""
        with needed():
            import matplotlib.pyplot as plt
        if axes is None:
            axes = plt.subplots(layout="constrained")[1]
        at = np.arange(len(self.values))
        axes.errorbar(at, self.estimates, yerr=self.half_width, fmt="o", capsize=3, label="estimate, 95 %")
        axes.scatter(at, self.truth, marker="_", s=200, color="black", label="true", zorder=3)
        if len(at) <= 30:
            axes.set_xticks(at, [str(value) for value in self.values])
        axes.set(
            xlabel="value",
            ylabel="sum" if self.values == ("sum",) else "share",
            title=label_of(type(self.protocol)),
        )
        axes.legend()
        return axes


def _estimate(value: float, half_width: float) -> str:
    """Return an estimate with a rounding error of at most 0.5 % of its half-width."""
    if not 0 < half_width < math.inf:
        return f"{value:.6g}"
    places = max(0, 2 - math.floor(math.log10(half_width)))
    return f"{round(value, places) + 0.0:.{places}f}"  # no -0.00


@with_arguments_of(BatchOptions)
def simulate(options: BatchOptions) -> Simulated:
    """Simulate one batch of a protocol on the users' values.

    This is a simulation, not a private release: its random numbers are reproducible, and the result contains the true
    values.

    Parameters
    ----------
    data : array, series, data frame, str or Path, optional
        A value per user, as for `shuffledp.compare`. Instead: ``counts``, users per value.
    protocol : str
        Name of a built-in, or ``path/to/file.py:Class`` of a plug-in.
    eps, delta : float
        Central budget: eps in nats, positive; delta in [0, 1).
    users, population : int, Population, optional
        Number of users for which the protocol is calibrated; by default the number in the data.
    task, domain_size, set_size, max_value, dimension, norm, counts, column, separator, user, item, values, other, low
        Task and data, as for `shuffledp.compare`.
    bins, levels, per_user, delimiter, memory
        Task and data, as for `shuffledp.compare`; vectors are not simulated from data.
    neighbours : {"replace_one", "add_remove"}
        Neighboring relation of the budget.
    rounds, crowd
        Releases to the same users, as for `shuffledp.compare`; one of them is simulated.
    accounting : {"exact", "corrected", "simplified", "printed"}, optional
        Default: the first of these that the protocol offers.
    seed : int
        Seed of the simulation.
    root : Path, optional
        Folder of relative paths of plug-ins; by default the working directory.
    options : mapping, optional
        Further options of the protocol's ``calibrate``.

    Warns
    -----
    UserWarning
        For every remark on the data, such as users whose value is not in the domain.

    Returns
    -------
    Simulated
        Estimates, intervals, and the communication of a user. Sums are in the units of the data.

    Raises
    ------
    ValueError
        If an argument is missing or out of range, or the protocol is unknown.
    Infeasible
        If no parameters of the protocol meet the budget.

    Examples
    --------
    >>> import shuffledp
    >>> result = shuffledp.simulate(counts=[5_000, 3_000, 2_000], protocol="grr_blanket", eps=1, delta=1e-6)
    >>> bool(abs(result.estimates - result.truth).max() < result.simultaneous_half_width)
    True
    """
    options, records = count_data(options)
    if options.counts is None:
        raise ValueError("Give data, a value per user, or counts, users per value.")
    for remark in () if records is None else records.remarks:
        warnings.warn(remark, stacklevel=3)
    where, rng = setting_of(options), np.random.default_rng(check_count("seed", options.seed))
    protocol_class = get(where.task.kind, options.protocol, root=options.root)
    protocol = protocol_class.calibrated(
        where.budget,
        where.population,
        where.task,
        accounting=options.accounting or best_accounting(protocol_class),
        **(options.options or {}),
    )
    if where.rounds > 1:
        accounting = options.accounting or best_accounting(protocol_class)
        protocol = calibrate_releases(protocol, where, accounting, options.options).protocol
    counts = np.atleast_2d(np.asarray(options.counts)).sum(axis=0)
    users = int(counts.sum()) // (where.task.set_size if isinstance(where.task, Sets) else 1)
    planned = _planned(protocol, where.population)
    if (
        where.budget.neighbours == "add_remove"
        and where.task.kind != "summation"
        and planned not in (None, users)
    ):
        raise ValueError(
            f"users must be the number in the data, {users}, under add_remove, where counts are divided by the "
            f"planned number, got {planned}."
        )
    participants = where.participants(np.array([users]), counts[None])
    estimates = protocol.simulate(participants, rng)
    squared = protocol.expectation("squared_error", participants)
    laws = laws_of(protocol, participants, np.ones(1))
    if squared is None:
        batches = where.participants(np.full(_REPEATS, users), np.tile(counts, (_REPEATS, 1)))
        errors = np.asarray(protocol.simulate(batches, rng) - batches.truth, float).reshape(_REPEATS, -1)
        squared, laws = (errors**2).mean(axis=0), laws or law_of_errors(errors)
    assert laws is not None  # a protocol with a closed form of its squared error has a law
    half_width, simultaneous = of_values(laws, estimates.size)
    step = 1.0 if records is None else records.step
    labels = tuple(range(len(counts))) if records is None else records.values
    usual = protocol.refine(participants.public)
    return Simulated(
        protocol=usual,
        users=users,
        planned=_planned(usual, where.population),
        values=("sum",) if where.task.kind == "summation" else labels,
        estimates=step * estimates.reshape(-1),
        truth=step * np.asarray(participants.truth, float).reshape(-1),
        variance=step**2 * np.asarray(squared, float).reshape(-1),
        half_width=step * half_width,
        simultaneous_half_width=step * simultaneous,
        cost=usual.cost(),
        remarks=() if records is None else records.remarks,
        rounds=where.rounds,
    )


def _planned(protocol: ProtocolBase, population: Population) -> int | None:
    """Return the number of users that a protocol is calibrated for; None if it is random."""
    if not isinstance(population, Fixed):
        return None
    return protocol.planned_users if isinstance(protocol, PlannedUsers) else 1 + int(population.mean)
