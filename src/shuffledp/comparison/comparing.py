"""Comparison of every protocol of a task for one setting: calibration, error, cost and guarantee."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.spent import spent_epsilon
from shuffledp.comparison.error_references import (
    NO_BETTER,
    blind,
    expected,
    floor,
    known_half_width,
    squared_errors,
)
from shuffledp.comparison.intervals import largest, law_of_errors, of_values
from shuffledp.comparison.options import LIMITS, Options, with_arguments_of
from shuffledp.comparison.recommendation import REPEATED, Comparison, ranking
from shuffledp.comparison.releases import calibrate_releases, repeated_epsilon
from shuffledp.comparison.rows import IDLE, Compared, in_order, sender
from shuffledp.comparison.setting import Setting, check_dropout, conditions, setting_of
from shuffledp.comparison.user_data import count_data
from shuffledp.guarantees import is_derived
from shuffledp.numerics.argument_ranges import check_choice, check_count, check_positive, check_unit
from shuffledp.numerics.statements import WIDTHS
from shuffledp.populations.base import Law
from shuffledp.protocols.base import ProtocolBase, Trust
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.registry import UnknownProtocol, available, get, label_of, module_path, name_of
from shuffledp.tasks import Floats, Vectors

#: Accountings, from the sharpest bound to the bound that a paper printed.
ACCOUNTINGS = ("exact", "corrected", "simplified", "printed")
#: Number of repeats in place of a missing closed form, and the largest number of messages of all repeats, and of
#: numbers in vectors, that are simulated one by one.
REPEATS, MOST_MESSAGES, MOST_NUMBERS = 20, 2_000_000, 20_000_000


@with_arguments_of(Options)
def compare(options: Options) -> Comparison:
    """Compare all protocols of a task for the same users, budget and data.

    Parameters
    ----------
    users : int, optional
        Number of users, user 1 included, at least 2. Give users, a population or counts.
    eps, delta : float
        Central budget: eps in nats, positive; delta in [0, 1).
    population : Population, optional
        Number of users *other* than user 1. Errors are expectations over its law; for a bound, errors at its mean.
    task : Frequency, Summation, Sets or Vectors, optional
        The estimated quantity. Instead: ``domain_size`` >= 2 for frequencies of that number of values, with
        ``set_size`` for sets of that number of items, ``max_value`` for the sum of integers 0..max_value, or
        ``dimension`` for the mean of unit vectors in the ``norm``, "l1" or "l2".
    counts : (V,) or (levels, V) array_like of int, optional
        Users per value, or holders per item; several privacy levels are added, since every user has the same budget.
        Counts fix the shares of the values, and the number of users if neither users nor a population is given. Without
        them all values are equally frequent. Vectors have no counts: they are compared for unit vectors along the axes.
    data : str, Path, data frame, series or array, optional
        Records instead of counts, a user per row: files, a data frame of pandas, or a series or array of cells;
        see `shuffledp.comparison.count_column`. Rows that were left out, for example, raise a warning.
        Without ``domain_size`` or ``values`` the values found are the domain.
    column : str, optional
        Column of a file or a data frame.
    separator : str, optional
        Separator of the items in a text of the column, for sets with a ``set_size``. Without a separator the column
        must hold lists, as columns of Parquet files and data frames can. Larger sets keep ``set_size`` items at random,
        smaller sets are filled up with random other items; counts are expectations over both.
    user, item : str, optional
        Two columns for sets, instead of ``column``: a row per user and item. For frequencies and sums ``user`` is the
        column of the user, for files in which users have several rows.
    values : sequence, optional
        The public domain of the data, if it is not the integers below ``domain_size``.
    other : bool
        True to count users with a value outside of ``values`` as the value ``"other"``.
    bins : str, optional
        LOW:HIGH:WIDTH, such as ``"0:100:1"``: numbers of the data are counted in bins, which contain their smallest
        number. Other numbers are left out.
    low : float, optional
        Smallest number of a sum; smaller numbers of the data are clipped.
    levels : int, optional
        Number of steps of a sum of data: numbers are clipped to [0, max_value] and rounded to the steps. ``max_value``
        need not be an integer then. Errors are in the units of the data.
    per_user : {"random", "first", "sum"}, optional
        Value of a user with several rows, as for `shuffledp.comparison.count_column`.
    delimiter : str, optional
        Text between two cells of a CSV file, if the header does not show it.
    memory : str, optional
        Memory for reading files, such as ``"4GB"``.
    dropout : float
        Share of the users, in [0, 1), who may drop out. Protocols are calibrated for the users who remain, and numbers
        are for these users. Protocols are infeasible whose guarantee relies on the first users of a list.
    neighbours : {"replace_one", "add_remove"}
        Neighboring relation of the budget.
    rounds : int
        Number of releases to the same users, in [1, 10^6]; eps and delta are for all of them together.
    crowd : {"fixed", "shared", "fresh"}, optional
        Number of other users over the releases, if a ``population`` is given: ``shared`` (the default), drawn once;
        ``fresh``, drawn anew for every release.
    protocols : sequence of str, optional
        Names of protocols, ``path/to/file.py:Class`` for plug-ins, ``all`` (the default) for all protocols of the task,
        built-in or of installed packages.
    accounting : {"exact", "corrected", "simplified", "printed"}, optional
        Protocols without it are excluded. Default: for each protocol the first of these that it offers.
    trust : sequence of str, optional
        Trust models to compare; all by default.
    max_bits, max_messages : float, optional
        Limits on the communication of every user. A protocol that states no maximum is excluded. If a protocol has no
        bound, its maximum is a number that any of the users exceeds with a probability of at most 1e-6.
    mean_bits, mean_messages : float, optional
        Limits on the expected communication of a user.
    simulate : int
        Repeats of a simulation in addition to the expectation; 0 for none. A protocol without a closed form is always
        simulated.
    poisoned : int
        Number M of further users who send what they like: rows have their ``poisoning_gain``; 0 for none.
    colluding : float
        Share of the users, in [0, 1): rows have the eps that remains if they collude with the analyzer, and if they
        drop out (``eps_colluding``, ``eps_dropped``); 0 for neither.
    seed : int
        Seed of the simulation.
    root : Path, optional
        Folder of relative paths of plug-ins; by default the working directory.
    progress : callable, optional
        Called before each protocol with its place, the number of protocols, and its name.
    done : callable, optional
        Called after each protocol with its row.

    Returns
    -------
    Comparison
        A tuple with a row per protocol, grouped by trust, by expected error within each; infeasible and failed
        protocols come last. It prints as a table and has ``recommendation``, ``to_frame`` and ``plot``.

    Raises
    ------
    ValueError
        If an argument is missing or out of range, or a protocol is unknown.

    Examples
    --------
    >>> import shuffledp
    >>> rows = shuffledp.compare(30_000, domain_size=20, eps=1, delta=1e-8, protocols=["grr_blanket", "local"])
    >>> [(row.protocol, row.trust, row.status, row.mse < 1e-5) for row in rows]
    [('grr_blanket', 'shuffler', 'ok', True), ('local', 'local', 'ok', False)]
    """
    return Comparison(compared(options))


@dataclass(frozen=True)
class Rows:
    """Setting and options that the rows of all protocols share, and the names of the protocols."""

    setting: Setting
    options: Options
    limits: Mapping[str, float]
    yardsticks: tuple[float | None, float]
    step: float
    names: tuple[str, ...]

    def start_row(self, name: str) -> Compared | None:
        """Return the row of a protocol before any computation; None if its trust model is left out."""
        kind, options = self.setting.task.kind, self.options
        try:
            protocol = get(kind, name, root=options.root)
        except UnknownProtocol as error:
            return failed_row(name, kind, str(error))
        if options.trust is not None and protocol.trust not in options.trust:
            return None
        return Compared(
            protocol=name,
            label=label_of(protocol),
            task=kind,
            trust=protocol.trust,
            status="ok",
            reason="",
            accounting=options.accounting or best_accounting(protocol),
            reduction=protocol.reduction,
            derived=is_derived(protocol.source),
            proof=protocol.proof,
        )

    def repeat_row(self, row: Compared) -> Compared:
        """Return the row of a single release with the eps of several such releases; None if it is unknown."""
        where, options = self.setting, self.options
        protocol = get(row.task, row.protocol, root=options.root)
        try:
            once = protocol.calibrate(where.budget, where.population, where.task, accounting=row.accounting)
            eps = repeated_epsilon(once, where, REPEATED)
            if eps is None:
                return row
            repeated_conditions = {"eps_if_repeated": conditions(where, once)["eps_if_repeated"]}
            return replace(
                row, eps_if_repeated=eps, conditions={**(row.conditions or {}), **repeated_conditions}
            )
        except Infeasible:
            return row

    def complete_row(self, row: Compared) -> Compared:
        """Return the row of a protocol."""
        if row.status != "ok":
            return row
        row = _row(row, get(row.task, row.protocol, root=self.options.root), self)
        return row if self.step == 1 else row.scaled(self.step)


def failed_row(name: str, kind: str, reason: str) -> Compared:
    """Return the row of a protocol that cannot be imported, so that its trust model is unknown."""
    empty: Any = ""
    return Compared(name, name, kind, empty, "failed", reason, accounting="", reduction="")


def prepare_rows(options: Options) -> Rows:
    """Return the setting and the names of the protocols to compare. Raise ValueError for wrong options or names."""
    options, records = count_data(options)
    for remark in () if records is None else records.remarks:
        warnings.warn(remark, stacklevel=5)
    where = setting_of(options)
    if options.accounting is not None:
        check_choice("accounting", options.accounting, ACCOUNTINGS)
    limits = limits_of(options)
    options = replace(
        options,
        simulate=check_count("simulate", options.simulate),
        seed=check_count("seed", options.seed),
        poisoned=check_count("poisoned", options.poisoned),
        colluding=check_unit("colluding", options.colluding),
    )
    if options.simulate and not isinstance(where.population, Law):
        raise ValueError(f"{where.population!r} only bounds the number of users; a simulation needs a law.")
    if options.colluding == 1:
        raise ValueError("colluding must be below 1: user 1 does not collude.")
    kind = where.task.kind
    names = tuple(named(kind, options.protocols))
    for name in names:
        module_path(kind, name, root=options.root)
    curator = floor(where) if where.rounds == 1 else _floor_of_releases(where)
    step = 1.0 if records is None else records.step
    return Rows(where, options, limits, (curator, blind(where, curator)), step, names)


def compared(options: Options) -> tuple[Compared, ...]:
    """Return the rows of `compare` for these options."""
    shared = prepare_rows(options)
    started = [row for name in shared.names if (row := shared.start_row(name)) is not None]
    rows = []
    for place, row in enumerate(started):
        if options.progress is not None:
            options.progress(place, len(started), row.protocol)
        rows.append(shared.complete_row(row))
        if options.done is not None:
            options.done(rows[-1])
    return repeat_best(in_order(rows), shared.repeat_row)


def repeat_best(
    rows: tuple[Compared, ...], repeat_row: Callable[[Compared], Compared]
) -> tuple[Compared, ...]:
    """Return the rows, those of the recommended protocol and of the runner-up with the eps of repeated releases."""
    if not rows or rows[0].rounds > 1:
        return rows
    best = ranking(row for row in rows if row.status == "ok" and not row.idle)[:2]
    return tuple(repeat_row(row) if row in best else row for row in rows)


def best_accounting(protocol: type[ProtocolBase]) -> str:
    """Return the accounting of a protocol with the smallest bounds."""
    return next((a for a in ACCOUNTINGS if a in protocol.accountings), protocol.accountings[0])


def named(kind: str, protocols: Sequence[str] | None) -> list[str]:
    """Return the names of protocols without repeats; all protocols of a task for None and for ``all``."""
    names: list[str] = []
    for name in ("all",) if protocols is None else _words("protocols", protocols):
        names += available(kind) if name == "all" else [name_of(kind, name)]
    return list(dict.fromkeys(names))


def _words(argument: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return a list of names. Raise ValueError for a single text, which Python would split into letters."""
    if names is None:
        return ()
    if isinstance(names, str):
        raise ValueError(f"{argument} must be a list of names, as in [{names!r}], got the text {names!r}.")
    if not names:
        raise ValueError(f"{argument} must name at least one, got none.")
    return tuple(names)


def _row(row: Compared, protocol: type[ProtocolBase], shared: Rows) -> Compared:
    try:
        if row.accounting not in protocol.accountings:
            raise Infeasible(f"Has no {row.accounting} accounting.")
        return _measured(row, protocol, shared)
    except Infeasible as error:
        return replace(row, status="infeasible", reason=error.reason)
    except ValueError as error:
        is_built_in = protocol.__module__.startswith("shuffledp.")
        return replace(
            row, status="infeasible" if is_built_in else "failed", reason=str(error)
        )  # beyond a range
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # every error of a plug-in becomes a row of the answer, sys.exit() too
        return replace(row, status="failed", reason=f"{type(error).__name__}: {error}")


def _measured(row: Compared, protocol: type[ProtocolBase], shared: Rows) -> Compared:
    where, options, limits = shared.setting, shared.options, shared.limits
    fakes, absent, repeats = options.poisoned, options.colluding, options.simulate
    calibrated = protocol.calibrated(where.budget, where.population, where.task, accounting=row.accounting)
    participants, weights = where.usual
    usual = calibrated.refine(participants.public.of_repeat(0))
    check_dropout(where, usual)
    row, releases = replace(row, rounds=where.rounds, crowd=where.crowd), None
    if where.rounds > 1:
        row = _of_one_release(row, usual, shared)
        try:
            releases = calibrate_releases(usual, where, row.accounting)
        except Infeasible as error:
            return replace(row, status="infeasible", reason=error.reason)
        calibrated = usual = releases.protocol
        row = replace(
            row, **releases.of_row(), messages_all_rounds=where.rounds * usual.cost().messages_per_user
        )
    cost = usual.cost()
    row = replace(
        row,
        guarantee=usual.guarantee if releases is None else releases.guarantee,
        guarantee_note=usual.guarantee_note,
        biased=bool(usual.biased),
        reduction=usual.reduction,
        dropout=where.dropout or None,
    )
    beyond = exceeded(cost, limits)
    if beyond:
        excluded = replace(row, status="infeasible", reason=over(row.task, cost, limits, beyond))
        return replace(excluded, beyond=beyond) if row.proven and not row.biased else excluded
    squared = squared_errors(calibrated, participants)
    mse = None if squared is None else float(weights @ squared.mean(axis=1))
    result = replace(
        row,
        most_certain=None if cost.most_messages is None else cost.most_certain,
        enforced=usual.enforced() if fakes else None,
        poisoning_gain=float(usual.poisoning_gain(fakes)) if fakes else None,
    )
    if absent:
        colludes, dropped = (
            math.nan
            if releases is not None and where.crowd != "fixed" and usual.relies_on != "no other user"
            else usual.remaining_epsilon(absent, where.budget, colluding=collusion, rounds=where.rounds)
            for collusion in (True, False)
        )
        result = replace(
            result,
            colluding=absent,
            eps_colluding=colludes,
            eps_dropped=dropped,
            when_absent=usual.when_absent(),
        )
    if mse is None and not isinstance(where.population, Law):
        raise Infeasible(
            "Its error has no closed form, and a simulation needs a law of the number of users, not a bound."
        )
    errors = (
        _simulated(calibrated, where, repeats or REPEATS, options.seed) if mse is None or repeats else None
    )
    if errors is None and mse is None:
        raise Infeasible(
            "Its error has no closed form, its aggregate has no law, and a simulation message by message exceeds "
            f"{MOST_MESSAGES} messages or {MOST_NUMBERS} numbers."
        )
    error_from = "expected" if mse is not None else "simulated"
    worst = where.assumed and not usual.biased
    widths, row_conditions = largest(calibrated, where, worst=worst), conditions(where, usual)
    if widths is None:  # the errors of the only data that were simulated
        assert errors is not None
        single, together = of_values(law_of_errors(errors), errors.shape[1])
        widths = float(single.max()), together
        worst = False
    if not worst:
        row_conditions |= {
            name: replace(row_conditions[name], data=row_conditions["mse"].data) for name in WIDTHS
        }
    # A share is in [0, 1], and an estimate that is cut to this range has at most this error.
    half_width, simultaneous = (min(width, 2 * known_half_width(where)) for width in widths)
    if errors is not None:
        result = _with_simulation(result, errors, half_width)
        mse = result.simulated_mse if mse is None else mse
    assert mse is not None
    if releases is None:
        result = replace(result, **_of_single(usual, where))
    curator, without_data = shared.yardsticks
    idle = mse >= NO_BETTER * without_data or half_width >= known_half_width(where)
    users = float(weights @ participants.public.n_users) if where.task.kind == "frequency" else 1.0
    gain = result.poisoning_gain
    result = replace(
        result,
        poisoning_errors=gain / (users * math.sqrt(mse)) if gain is not None and mse else None,
        simultaneous_half_width=simultaneous,
        mse=mse,
        mse_from=error_from,
        reason=IDLE if idle else "",
        idle=idle,
        blind_mse=without_data,
        heavy_variance=_heavy(calibrated, where),
        half_width=half_width,
        floor_ratio=None if curator is None else mse / curator,
    )
    measured = result.with_measures(usual, where)
    named = {
        name: condition for name, condition in row_conditions.items() if getattr(measured, name) is not None
    }
    return replace(measured, conditions=named)


def _of_one_release(row: Compared, once: ProtocolBase, shared: Rows) -> Compared:
    """Return the row with the label and the error of the protocol for one release with the same budget."""
    mse = None if exceeded(once.cost(), shared.limits) else expected(once, *shared.setting.usual)
    idle = mse is not None and mse >= NO_BETTER * shared.yardsticks[1]
    return replace(
        row,
        guarantee=once.guarantee,
        biased=bool(once.biased),
        mse_one_release=None if idle else mse,
    )


def _of_single(once: ProtocolBase, where: Setting) -> dict[str, Any]:
    """Return the fields of a row for several releases, for a single release."""
    profile = once.privacy_profile()
    spent = spent_epsilon(profile, where.budget)
    kind = "upper" if profile is None or profile.kind != "exact" else "exact"
    status = "point" if profile is None else kind
    return {
        "eps_one_round": spent,
        "eps_all_rounds": spent,
        "rounds_status": status,
        "messages_all_rounds": float(once.cost().messages_per_user),
    }


def _floor_of_releases(where: Setting) -> float | None:
    """Return the mean squared error of a trusted curator's Laplace noise for several releases; None for other tasks."""
    if where.task.kind not in ("frequency", "summation"):
        return None
    curator = get(where.task.kind, "central_laplace")
    try:
        once = curator.calibrate(where.budget, where.population, where.task, accounting="exact")
        return expected(calibrate_releases(once, where, "exact").protocol, *where.usual)
    except Infeasible:
        return None


def _sent(cost: Cost, limit: str) -> float | None:
    """Return the quantity that a limit bounds, the average or the maximum over users; None if unknown."""
    kind, _, what = limit.partition("_")
    mean, most = (
        (cost.bits_per_user, cost.most_bits)
        if what == "bits"
        else (cost.messages_per_user, cost.most_messages)
    )
    return mean if kind == "mean" else most


def limits_of(options: Options) -> dict[str, float]:
    """Return the limits on a user's communication. Raise ValueError for a wrong limit or trust model."""
    for model in _words("trust", options.trust):
        check_choice("trust", model, get_args(Trust))
    return {name: check_positive(name, getattr(options, name)) for name in options.given(*LIMITS)}


def exceeded(cost: Cost, limits: Mapping[str, float]) -> dict[str, float]:
    """Return the exceeded limits with the least values that admit the protocol, infinite for an unknown quantity."""
    needed = {name: _sent(cost, name) for name in limits}
    return {
        name: math.inf if value is None else float(value)
        for name, value in needed.items()
        if value is None or value > limits[name]
    }


def over(task: str, cost: Cost, limits: Mapping[str, float], beyond: Mapping[str, float]) -> str:
    """Return the reason for the row of a protocol that a limit excludes."""
    name = next(iter(beyond))
    kind, _, what = name.partition("_")
    if kind == "mean":
        return f"A {sender(task)} sends more than {limits[name]:.15g} {what} on average."
    if _sent(cost, name) is None:
        return f"The most {what} that a user sends are not stated."
    return f"A user may send more than {limits[name]:.15g} {what}."


def _heavy(protocol: ProtocolBase, where: Setting) -> float | None:
    """Return the squared error for a value or item of a tenth of the users; None if unknown or without such a value."""
    if where.heavy is None:
        return None
    participants, weights = where.heavy
    squared = protocol.expectation("squared_error", participants)
    return None if squared is None else float(weights @ np.asarray(squared, float)[:, 0])


def _with_simulation(row: Compared, errors: Floats, half_width: float) -> Compared:
    """Return the row with the mean squared error of a simulation, its standard error, and the coverage of intervals."""
    squared = (errors**2).mean(axis=1)
    return replace(
        row,
        simulated_mse=float(squared.mean()),
        simulated_standard_error=float(squared.std(ddof=1) / math.sqrt(len(squared)))
        if len(squared) > 1
        else None,
        simulated_coverage=float((errors <= half_width * (1 + 1e-12)).mean()),
    )


def _simulated(protocol: ProtocolBase, where: Setting, repeats: int, seed: int) -> Floats | None:
    """Return the absolute errors of a simulation, (R, V); None if the simulation needs too many messages."""
    rng = np.random.default_rng(seed)
    participants = where.draw_participants(repeats, rng)
    by_messages = type(protocol).sample_aggregate is ProtocolBase.sample_aggregate
    messages = float(np.sum(participants.public.n_users)) * protocol.cost().messages_per_user
    numbers = messages * (where.task.dimension if isinstance(where.task, Vectors) else 0)
    if by_messages and (messages > MOST_MESSAGES or numbers > MOST_NUMBERS):
        return None
    errors: Floats = np.abs(np.asarray(protocol.simulate(participants, rng) - participants.truth, float))
    return errors.reshape(repeats, -1)
