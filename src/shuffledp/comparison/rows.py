"""Rows of a comparison: their order, the Pareto front, and their formats."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from shuffledp.accounting.expected_errors.most_messages import RARE
from shuffledp.numerics.argument_ranges import check_choice
from shuffledp.numerics.rounding import number_text, round_to_digits
from shuffledp.numerics.statements import STATED, Conditions
from shuffledp.outputs import cell, line_width, printable, wrapped
from shuffledp.protocols.base import Trust

if TYPE_CHECKING:
    from shuffledp.protocols.base import ProtocolBase

Status = Literal["ok", "infeasible", "failed"]

#: Description of each trust model, in the order of a comparison.
TRUST: dict[Trust, str] = {
    "shuffler": "a shuffler that permutes",
    "shuffler_adds": "a shuffler that adds or samples",
    "secure_sum": "secure summation",
    "central": "a curator who sees the data",
    "local": "no other party",
}
#: Reason of a row whose error is hardly below the error of an answer without data.
IDLE = "No better than an answer without data."
#: Number of characters of the shortest and the longest column of names; a longer name has a line of its own.
SHORTEST, LONGEST = 12, 30
#: Fields whose columns a narrow table leaves out, the first ones first.
_LESS = (
    "slack",
    "heavy_variance",
    "most_bits",
    "floor_ratio",
    "bits_per_user",
    "eps_spent",
    "poisoning_errors",
    "most_messages",
    "messages_per_user",
    "eps_local",
    "simulated_mse",
)


#: Quantity of the error, and quantity of one interval, by task.
ERROR_OF = {
    "frequency": ("a frequency, averaged over the values", "one frequency"),
    "summation": ("the sum", "the sum"),
    "sets": ("the share of an item's holders, averaged over the items", "one share"),
    "vectors": ("one coordinate of the mean, averaged over the coordinates", "one coordinate"),
}
#: Noise of a trusted curator with which errors are compared.
FLOOR = {
    "frequency": "Laplace noise",
    "summation": "Laplace noise",
    "sets": "noise for whole sets (Laplace or Gaussian)",
    "vectors": "noise (Gaussian, or Laplace if it is better for the l1 norm)",
}


#: Power of the step of a sum that converts the numbers of a row from levels into the units of the data.
_POWERS = {
    "mse": 2,
    "half_width": 1,
    "simultaneous_half_width": 1,
    "heavy_variance": 2,
    "mse_one_release": 2,
    "blind_mse": 2,
    "poisoning_gain": 1,
    "simulated_mse": 2,
    "simulated_standard_error": 2,
}


def sender(task: str) -> str:
    """Return the user whose expected messages are stated: some protocols send no message for the number 0 of a sum."""
    return "user whose number is not 0" if task == "summation" else "user"


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def measured(measure: Callable[[Compared, ProtocolBase, Any], Any]) -> Any:
    """Return a field whose value is a function of the row's other fields, the protocol, and the `Setting`."""
    return field(default=None, metadata={"measure": measure})


@dataclass(frozen=True)
class Compared:
    """Error, cost and guarantee of a protocol in one setting.

    Missing numbers are None and missing half-widths nan, for example if ``status`` is not ``ok``.

    Parameters
    ----------
    protocol, label, task, trust : str
        Name, label in legends, estimated quantity, and trust model; the last is empty if the protocol cannot be
        imported.
    status : {"ok", "infeasible", "failed"}
        Result of the calibration; ``failed`` is an error of the protocol's code.
    reason : str
        Reason of a status other than ``ok``; for an ``idle`` row, the statement that it is idle.
    accounting : str
        Evaluation of the bound.
    derived : bool
        True if the protocol was derived for this project and is not published.
    proof : str
        Module whose description has the proof of a derived protocol.
    reduction : str
        Reduction that was evaluated.
    guarantee, guarantee_note : str
        Label of the guarantee, and the open statement or witness, see `shuffledp.guarantees`.
    biased : bool
        True for biased estimates: a small error may then be an effect of subtraction or truncation that few data sets
        share.
    eps_local : float
        Eps of one user's own messages at delta 0, nats; infinite if it has no bound, for example if values are sent
        unchanged. None for a curator, to whom users send their values.
    relies_on : str
        Other users who must be honest, see `shuffledp.guarantees`.
    mse : float
        Expected squared error: of a frequency or of the share of an item's holders, averaged over the values; of the
        sum; of a mean vector, averaged over the coordinates.
    mse_from : {"expected", "simulated"}
        Source of ``mse``: a closed form, or the simulation without one.
    half_width : float
        Half-width of a 95 % interval around one frequency, share or coordinate, or around the sum, from the law of the
        error: the largest one of the values of the data; without data, of all data. At most the length of the known
        range.
    heavy_variance : float
        Squared error of the frequency of a value, or the share of an item, that a tenth of the users hold.
    floor_ratio : float
        ``mse`` in units of the error of a trusted curator's noise, see `shuffledp.comparison.error_references.floor`.
    blind_mse : float
        ``mse`` of the best answer without data, see `shuffledp.comparison.error_references.blind`.
    idle : bool
        True if ``mse`` is above 99 % of ``blind_mse``, or if the interval is as long as the known range, such as [0, 1]
        for a share: the protocol is no better than an answer without data.
    messages_per_user, bits_per_user, shuffler_messages : float
        Expected communication; ``shuffler_messages`` is the total that the shuffler or the server adds.
    most_messages, most_bits : float
        Maximum over the users; None if the protocol does not state it.
    most_certain : bool
        True if these are bounds; otherwise any user exceeds them with a probability of at most 1e-6.
    eps_spent, slack : float
        The smallest eps at which the profile of the calibrated protocol is at most delta, to a relative 1e-3 from
        above, and its distance below the budget; nats.
    simultaneous_half_width : float
        Half-width of intervals that hold for all values at once with 95 %, by a union bound over the values of the same
        data; of a sum, ``half_width``.
    poisoning_gain : float
        Largest expected increase of a value's estimated count, or of the sum, by the given number of fake users; inf if
        nothing bounds it, nan if it is unknown. See ``poisoning_gain`` of `shuffledp.protocols.ProtocolBase`.
    poisoning_errors : float
        ``poisoning_gain`` in standard errors of the count or of the sum.
    enforced : str
        Rule that the shuffler must enforce to bound the gain of fake users.
    dropout : float
        Share of the users who may drop out; the protocol is calibrated for the users who remain, and numbers are for
        them.
    colluding : float
        Share of the users for the following fields, in (0, 1).
    eps_colluding, eps_dropped : float
        Proven bound on the eps that remains at the delta of the budget if this share of the users colludes with the
        analyzer, or drops out; nats. inf if no finite eps is left, nan if no bound is known. See ``remaining_epsilon``
        of `shuffledp.protocols.ProtocolBase`.
    when_absent : str
        Sentence on what hides a user's value if other users collude or drop out.
    rounds : int
        Number of releases to the same users that the budget covers.
    crowd : {"fixed", "shared", "fresh"}
        Number of other users over the releases: known, drawn once, or drawn anew for every release.
    unit : str
        Unit of privacy, ``"user"``: neighbors differ in one user's inputs to all releases.
    eps_one_round, eps_all_rounds : float
        Upper bounds on eps of one release and of all releases, at the delta of the budget; nats.
    eps_all_rounds_lower : float
        Lower bound on the eps of all releases; None for one release, and if no lower bound is known.
    delta_floor_all : float
        Probability that some release reveals a value, which no eps removes; None for one release.
    rounds_status : {"exact", "upper", "point"}
        ``exact``: one pair of inputs is the worst at every eps. ``point``: composed from one eps and delta.
    messages_all_rounds : float
        Expected messages of a user in all releases.
    rounds_left : int
        Number of further releases until a given eps; None without it.
    mse_one_release : float
        ``mse`` if the budget were for one release.
    eps_if_repeated : float
        Eps of 30 releases with these parameters, for the recommended row and the runner-up of a single release.
    parameters : mapping of str to float
        Calibrated parameters.
    beyond : mapping of str to float
        For a proven row that a limit excludes: the exceeded limits, with the least values that admit the protocol.
    remark : str
        Remark on the calibration, for example the origin of a noise design; None for most protocols.
    simulated_mse, simulated_standard_error : float
        Results of the simulation, if there was one.
    simulated_coverage : float
        Share of the simulated errors of at most ``half_width``.
    conditions : mapping of str to Conditions
        Users, data and side of rounding of every number, see `shuffledp.numerics.statements`.
    """

    protocol: str
    label: str
    task: str
    trust: Trust
    status: Status
    reason: str
    accounting: str
    reduction: str
    guarantee: str | None = None
    guarantee_note: str = ""
    biased: bool = False
    eps_local: float | None = measured(lambda row, protocol, where: protocol.local_epsilon())
    relies_on: str | None = measured(lambda row, protocol, where: protocol.relies_on)
    mse: float | None = None
    mse_from: str | None = None
    half_width: float = math.nan
    simultaneous_half_width: float = math.nan
    heavy_variance: float | None = None
    floor_ratio: float | None = None
    blind_mse: float | None = None
    idle: bool = False
    messages_per_user: float | None = measured(
        lambda row, protocol, where: float(protocol.cost().messages_per_user)
    )
    bits_per_user: float | None = measured(lambda row, protocol, where: float(protocol.cost().bits_per_user))
    most_messages: float | None = measured(lambda row, protocol, where: _float(protocol.cost().most_messages))
    most_bits: float | None = measured(lambda row, protocol, where: _float(protocol.cost().most_bits))
    most_certain: bool | None = None
    shuffler_messages: float | None = measured(
        lambda row, protocol, where: float(protocol.cost().shuffler_messages)
    )
    eps_spent: float | None = measured(lambda row, protocol, where: row.eps_all_rounds)
    slack: float | None = measured(
        lambda row, protocol, where: (
            None if row.eps_all_rounds is None else where.budget.largest_eps - row.eps_all_rounds
        )
    )
    simulated_mse: float | None = None
    simulated_standard_error: float | None = None
    simulated_coverage: float | None = None
    poisoning_gain: float | None = None
    poisoning_errors: float | None = None
    enforced: str | None = None
    dropout: float | None = None
    colluding: float | None = None
    eps_colluding: float | None = None
    eps_dropped: float | None = None
    when_absent: str | None = None
    derived: bool = False
    proof: str = ""
    rounds: int = 1
    crowd: str = "fixed"
    unit: str = "user"
    eps_one_round: float | None = None
    eps_all_rounds: float | None = None
    eps_all_rounds_lower: float | None = None
    delta_floor_all: float | None = None
    rounds_status: str | None = None
    messages_all_rounds: float | None = None
    rounds_left: int | None = None
    mse_one_release: float | None = None
    eps_if_repeated: float | None = None
    parameters: Mapping[str, float] | None = measured(lambda row, protocol, where: protocol.parameters())
    beyond: Mapping[str, float] | None = None
    remark: str | None = measured(lambda row, protocol, where: protocol.remark or None)
    conditions: Mapping[str, Conditions] | None = None

    def __post_init__(self) -> None:
        """Escape control characters in the texts of plug-ins."""
        for name, value in vars(self).items():
            if isinstance(value, str):
                object.__setattr__(self, name, printable(value))

    def with_measures(self, protocol: ProtocolBase, where: Any) -> Compared:
        """Return the row with the fields that are `measured`, of a protocol that is calibrated for the setting."""
        measures = {f.name: f.metadata["measure"] for f in fields(self) if "measure" in f.metadata}
        return replace(self, **{name: measure(self, protocol, where) for name, measure in measures.items()})

    @property
    def proven(self) -> bool:
        """True if the guarantee is exact or upper, and the accounting is not a paper's printed one."""
        return self.accounting != "printed" and self.guarantee in ("exact", "upper")

    def scaled(self, step: float) -> Compared:
        """Return the row with errors in units in which one level of the sum has the positive value `step`."""
        scaled: dict[str, Any] = {
            name: None if (value := getattr(self, name)) is None else value * step**power
            for name, power in _POWERS.items()
        }
        numbers = dict(self.parameters or {})
        if "noise_rmse" in numbers:
            numbers["noise_rmse"] *= step
        return replace(self, parameters=self.parameters and numbers, **scaled)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields for JSON: texts ``inf`` and ``unknown``, and None for a field that does not apply."""
        return finite(asdict(self))


def finite(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record for JSON, with the texts ``inf`` for an infinite number and ``unknown`` for nan."""
    return {name: _json_value(value) for name, value in record.items()}


def _json_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return finite(value)
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "unknown" if math.isnan(value) else repr(value)


def in_order(rows: Iterable[Compared]) -> tuple[Compared, ...]:
    """Return the rows by trust, proven rows first, then by error; infeasible and failed rows are last."""
    trusted, states = list(TRUST), ("ok", "infeasible", "failed")
    return tuple(
        sorted(
            rows,
            key=lambda r: (
                states.index(r.status),
                trusted.index(r.trust) if r.status == "ok" else 0,
                r.status == "ok" and not r.proven,
                math.inf if r.mse is None else r.mse,
                r.protocol,
            ),
        )
    )


def front(rows: Sequence[Compared], *, cost: str = "bits_per_user") -> tuple[Compared, ...]:
    """Return the rows of the Pareto fronts: no other row of the same trust model dominates them in error and cost.

    An answer without data costs nothing and beats every ``idle`` row. If some rows of a trust model are ``proven``,
    only these are compared.

    Parameters
    ----------
    rows : sequence of Compared
        Rows that are not ``ok`` are omitted.
    cost : {"bits_per_user", "messages_per_user"}
    """
    front_rows = []
    for trust in TRUST:
        best = math.inf
        usable = [r for r in rows if r.trust == trust and r.status == "ok" and not r.idle]
        fair = [r for r in usable if r.proven] or usable
        for row in sorted(fair, key=lambda r: (getattr(r, cost), r.mse or 0.0)):
            if row.mse is not None and row.mse < best:
                best = row.mse
                front_rows.append(row)
    return tuple(front_rows)


def as_csv(rows: Sequence[Compared]) -> str:
    """Return the rows as CSV with a header: texts as in JSON; a field that does not apply is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [field.name for field in fields(Compared)]
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(getattr(row, name)) for name in names])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "unknown" if math.isnan(value) else repr(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name}={number}" for name, number in value.items())
    if isinstance(value, str):
        return cell(value)
    return "" if value is None else value


# -- a table for a terminal ---------------------------------------------------------------------------------------


def _number(row: Compared, name: str, digits: int = 3) -> str:
    """Return a number of a row with significant digits, rounded to its side."""
    value = getattr(row, name)
    return "–" if value is None or math.isnan(value) else number_text(float(value), STATED[name][1], digits)


def _large(row: Compared, name: str, digits: int = 7) -> str:
    """Return a number with at most four digits, without an exponent if it has at most seven places."""
    value = getattr(row, name)
    if value is None or not 1e4 <= value < 1e7:
        return _number(row, name, min(digits, 4) if value is None or value < 1e4 else 2)
    return f"{round_to_digits(value, STATED[name][1], digits):.0f}"


def whole_text(bound: float) -> str:
    """Return an upper bound on a whole number in full, rounded up."""
    return number_text(math.ceil(bound * (1 - 1e-12)), "up")


def _eps(row: Compared, name: str) -> str:
    """Return an upper bound on eps with six decimal places."""
    value = getattr(row, name)
    if value is None or value >= 0.1:
        return _number(row, name, 4)
    return _number(row, name, 3 if value >= 0.01 else 2)


def _slack(row: Compared, name: str) -> str:
    """Return a slack, rounded down to five characters; a negative slack belongs to an exceeded claim."""
    value = getattr(row, name)
    if value is None:
        return "–"
    if 0 < abs(value) < 1e-3:
        return f"{round_to_digits(value, STATED[name][1], 1):.0e}"
    return f"{math.floor(value * 1e4) / 1e4:.4f}"[:5].rstrip("0").rstrip(".")


def _most(row: Compared, name: str) -> str:
    """Return a bound as a whole number, rounded up. Bounds from 1e5 on have one digit and a power of ten."""
    value = getattr(row, name)
    if value is None:
        return "–"
    whole = math.ceil(value * (1 - 1e-12))
    power = 10 ** max(len(str(whole)) - 1, 0)
    text = str(whole) if whole < 1e5 else f"{-(-whole // power) * power:.0e}".replace("e+0", "e+")
    return f"{'' if row.most_certain else '~'}{text}"


def _simulation(row: Compared, name: str) -> str:
    error = row.simulated_standard_error
    return _number(row, name) + ("" if error is None else f"±{error:.1g}")


class Contents(NamedTuple):
    """What the rows of a table have: a further number per row, one release, and the numbers of three options."""

    frequencies: bool
    once: bool
    simulated: bool
    poisoned: bool
    absent: bool

    @property
    def extras(self) -> int:
        """Number of options, each of which adds columns and takes the room of others."""
        return self.simulated + self.poisoned + self.absent


@dataclass(frozen=True)
class Column:
    """Column of a table: its heading, its width (negative: to the left), the field, and the text of the field.

    `meaning` is the entry in docs/compare.md. `note` is the sentence below the table, which may name the task's
    {quantity}, the quantity of {one} interval, and the {holder}. `fits` is true for a table that shows the column.
    """

    heading: str
    width: int
    field: str
    text: Callable[[Compared, str], str]
    meaning: str
    note: str = ""
    fits: Callable[[Contents], bool] = lambda contents: True


#: Columns of a table in their order.
COLUMNS = (
    Column(
        "local",
        6,
        "eps_local",
        _eps,
        "eps of one user's messages at delta = 0. `inf` if no finite eps exists, for example if users send their true "
        "value",
        "eps of one user's own messages; inf: no bound, for example values sent in clear; –: central model.",
    ),
    Column(
        "error",
        8,
        "mse",
        _number,
        "expected squared error. Frequencies and sets: of one frequency, averaged over values or items. Sums: of the "
        "sum. Vectors: of one coordinate",
        "expected squared error of {quantity}.",
    ),
    Column(
        "±95 %",
        8,
        "half_width",
        _number,
        "half-width of an interval for the sum, or the widest one of all frequencies or coordinates",
        "half-width of a 95 % interval for {one}.",
    ),
    Column(
        "simulated",
        14,
        "simulated_mse",
        _simulation,
        "with `--simulate R`: mean squared error of R simulated repeats, and its standard error",
        fits=lambda contents: contents.simulated,
    ),
    Column(
        "frequent",
        8,
        "heavy_variance",
        _number,
        "squared error of a value that a tenth of the users hold. Use it if you estimate frequent values: the average "
        "favors protocols that randomize reports",
        "error of {holder} that a tenth of the users hold.",
        fits=lambda contents: contents.frequencies and not contents.extras,
    ),
    Column(
        "/floor",
        7,
        "floor_ratio",
        partial(_large, digits=3),
        "error divided by the error of a trusted curator with discrete Laplace noise (for sets and vectors with the "
        "better of Laplace and Gaussian noise)",
    ),
    Column(
        "messages",
        8,
        "messages_per_user",
        _large,
        "average number of messages per planned user. Sums: per user with a positive number",
        fits=lambda contents: contents.extras < 2,
    ),
    Column(
        "messages all",
        12,
        "messages_all_rounds",
        _large,
        "with `--rounds R`: the same number in all releases",
        fits=lambda contents: contents.extras < 2 and not contents.once,
    ),
    Column(
        "most",
        6,
        "most_messages",
        _most,
        "largest number of messages per user. A tilde marks a protocol without a bound: some user sends more with a "
        "probability of at most one in a million",
        fits=lambda contents: contents.extras < 2,
    ),
    Column(
        "bits",
        7,
        "bits_per_user",
        _large,
        "average number of bits per user, as of messages, without encryption",
        fits=lambda contents: contents.extras < 2,
    ),
    Column(
        "most",
        6,
        "most_bits",
        _most,
        "largest number of bits per user, as of messages",
        fits=lambda contents: contents.extras < 2,
    ),
    Column(
        "spent",
        6,
        "eps_spent",
        _eps,
        "eps at which the profile of the calibrated protocol equals delta, rounded up",
        fits=lambda contents: contents.once,
    ),
    Column(
        "eps once",
        8,
        "eps_one_round",
        _eps,
        "with `--rounds R`: bound on the eps of one release, at the delta of all",
        fits=lambda contents: not contents.once,
    ),
    Column(
        "eps all",
        7,
        "eps_all_rounds",
        _eps,
        "with `--rounds R`: bound on the eps of all releases",
        fits=lambda contents: not contents.once,
    ),
    Column(
        "poisoned",
        8,
        "poisoning_gain",
        partial(_number, digits=4),
        "with `--poisoned M`: the largest expected increase of one value's estimated count, or of the sum, by M "
        "additional users who send arbitrary messages",
        fits=lambda contents: contents.poisoned,
    ),
    Column(
        "/error",
        6,
        "poisoning_errors",
        _number,
        "the same in standard errors",
        fits=lambda contents: contents.poisoned,
    ),
    Column(
        "collude",
        7,
        "eps_colluding",
        _eps,
        "with `--colluding C`: a proven bound on the eps that [remains](guides/drop_out.md) if these users collude",
        fits=lambda contents: contents.absent,
    ),
    Column(
        "dropped",
        7,
        "eps_dropped",
        _eps,
        "the same if they drop out",
        fits=lambda contents: contents.absent,
    ),
    Column(
        "slack",
        5,
        "slack",
        _slack,
        "eps minus spent: the rest of the budget",
        fits=lambda contents: contents.once and not contents.extras,
    ),
    Column(
        "guarantee",
        -11,
        "guarantee",
        lambda row, name: getattr(row, name) or "–",
        "the [label of its proof](choosing.md#the-guarantee)",
    ),
)


def _columns(rows: Sequence[Compared], chosen: Sequence[str] | None) -> list[Column]:
    """Return the columns of a table: the chosen fields in their order, or all that have numbers and fit a line."""
    if chosen is not None:
        columns_by_field = {column.field: column for column in COLUMNS}
        for name in chosen:
            check_choice("columns", name, tuple(columns_by_field))
        return [columns_by_field[name] for name in chosen]
    contents = Contents(
        frequencies=any(row.heavy_variance is not None for row in rows),
        once=all(row.rounds == 1 for row in rows),
        simulated=any(row.simulated_mse is not None for row in rows),
        poisoned=any(row.poisoning_gain is not None for row in rows),
        absent=any(row.colluding is not None for row in rows),
    )
    columns = [column for column in COLUMNS if column.fits(contents)]
    names = min(max((len(_marked(row)) for row in rows), default=0), LONGEST)
    for name in _LESS:
        if names + _length(columns) > line_width():
            columns = [column for column in columns if column.field != name]
    return columns


def _length(columns: Sequence[Column]) -> int:
    return sum(abs(column.width) + 1 for column in columns)


def table(rows: Sequence[Compared], chosen: Sequence[str] | None = None) -> str:
    """Return the rows by trust model as lines of the width of the terminal, and the excluded rows with reasons.

    `chosen` are the fields of the columns; by default all that fit. Raise ValueError for a field without a column.
    """
    good = [row for row in rows if row.status == "ok"]
    columns = _columns(good, chosen)
    rest = max(min(line_width() - _length(columns), LONGEST), SHORTEST)
    lines: list[str] = []
    for trust, words in TRUST.items():
        part = [row for row in good if row.trust == trust]
        if not part:
            continue
        lines += [*([""] if lines else []), f"Trusted: {words} ({trust})"]
        lines += _lines("protocol", [(column.heading, column.width) for column in columns], rest)
        for row in part:
            cells = [(column.text(row, column.field), column.width) for column in columns]
            lines += _lines(_marked(row), cells, rest)
    if not lines:
        lines.append("No protocol meets the requirements.")
    notes = _notes(good, columns)
    why = _left_out(rows)
    return "\n".join([*lines, *([""] if notes else []), *notes, *([""] if why else []), *why])


def _marked(row: Compared) -> str:
    return (
        row.protocol
        + ("" if row.accounting == "exact" else "*")
        + ("°" if row.biased else "")
        + ("†" if row.idle else "")
    )


def _lines(name: str, cells: Sequence[tuple[str, int]], width: int) -> list[str]:
    """Return a name of at most `width` characters and the cells in one line; a longer name has a line of its own."""
    parts = [f"{text:>{size}}" if size > 0 else f"{text:{-size}}" for text, size in cells]
    lines = [name, ""] if len(name) > width else [name]
    return [*lines[:-1], f"{lines[-1]:{width}} {' '.join(parts)}".rstrip()]


def _notes(rows: Sequence[Compared], columns: Sequence[Column]) -> list[str]:
    """Return explanations of the columns."""
    if not rows:
        return []
    headings = {column.heading: column.field for column in columns}
    quantity, one = ERROR_OF[rows[0].task]
    words = {"quantity": quantity, "one": one, "holder": "an item" if rows[0].task == "sets" else "a value"}
    text = [f"{column.heading}: {column.note.format(**words)}" for column in columns if column.note]
    if "simulated" in headings:
        text.append(_covered(rows))
    if "/floor" in headings and any(row.floor_ratio is not None for row in rows):
        text.append(f"/floor: error divided by the error of a curator's {FLOOR[rows[0].task]}.")
    if "poisoned" in headings:
        text.append(
            "poisoned: largest gain of a value's count, or of the sum, by the fake users; /error: the gain in standard "
            "errors; inf: unbounded; –: unknown."
        )
        enforced = dict.fromkeys(row.enforced for row in rows if row.enforced)
        text += [f"{', '.join(r.protocol for r in rows if r.enforced == rule)}: {rule}" for rule in enforced]
    if "collude" in headings:
        text.append(
            f"collude, dropped: bound on eps at this delta if {100 * (rows[0].colluding or 0):.6g} % of the users "
            "collude with the analyzer, or drop out; inf: no finite eps; –: no bound is known."
        )
        rules = dict.fromkeys(row.when_absent for row in rows if row.when_absent)
        text += [f"{', '.join(r.protocol for r in rows if r.when_absent == rule)}: {rule}" for rule in rules]
    if (rounds := rows[0].rounds) > 1:
        text.append(
            f"eps once, eps all: bounds on eps of one release and of all {rounds:,} releases to the same users, at the "
            "delta of all; error and messages: of one release; messages all: of all releases."
        )
        points = [row.protocol for row in rows if row.rounds_status == "point"]
        text += [f"Composed from one eps and delta alone: {', '.join(points)}."] if points else []
    text += _sent(rows) if {"messages", "bits", "most"} & set(headings) else []
    text += [] if "collude" in headings else _relied_on(rows)  # which users hide a value has just been stated
    text += [f"{row.protocol}: {row.remark}." for row in rows if row.remark]
    if rows[0].task == "sets":
        text.append("All users have one privacy level: eps protects the whole set of a user.")
    slack = "; slack: eps minus spent" if "slack" in headings else ""
    if "spent" in headings or slack:
        text.append(f"spent: smallest eps at which the profile of the protocol meets delta{slack}.")
    other = sorted({row.accounting for row in rows} - {"exact"})
    if other:
        text.append(f"*: not exact accounting but {', '.join(other)}.")
    if len({row.proven for row in rows}) == 2:
        text.append(
            "Rows with printed accounting (the bound as published), or with a guarantee that is neither exact nor "
            "upper, come last in their trust model."
        )
    if any(row.biased for row in rows):
        text.append("°: biased; the error may be larger for other data.")
    if any(row.idle for row in rows):
        text.append(
            f"†: no better than an answer without data, whose error is {_number(rows[0], 'blind_mse')}, or an interval "
            "as long as the known range."
        )
    if any(row.mse_from == "simulated" for row in rows):
        names = ", ".join(row.protocol for row in rows if row.mse_from == "simulated")
        text.append(f"Simulated, as the error has no closed form: {names}.")
    return wrapped([" ".join([*text, *_conditions(rows, headings)])], rest="")


def _conditions(rows: Sequence[Compared], headings: Mapping[str, str]) -> list[str]:
    """Return a sentence on the users and data for which the numbers of the columns hold, with exceptions."""
    usual: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for heading, name in headings.items():
        groups: dict[str, list[str]] = {}
        for row in rows:
            if row.conditions is not None and name in row.conditions:
                groups.setdefault(row.conditions[name].clause, []).append(row.protocol)
        for place, clause in enumerate(sorted(groups, key=lambda clause: -len(groups[clause]))):
            if place == 0:
                usual.setdefault(clause, []).append(heading)
            else:
                others.setdefault(clause, []).append(f"{heading} of {', '.join(groups[clause])}")
    clauses = [
        f"{', '.join(headings_of[clause])} {clause}"
        for headings_of in (usual, others)
        for clause in headings_of
    ]
    return [f"Numbers hold as follows: {'; '.join(clauses)}."] if clauses else []


def _sent(rows: Sequence[Compared]) -> list[str]:
    """Return sentences on the columns of messages and bits."""
    text = [f"messages, bits: average per {sender(rows[0].task)}; most: maximum over all users."]
    if any(row.most_certain is False for row in rows):
        text.append(f"~: exceeded by some user with probability at most {RARE:g}.")
    unknown = [row.protocol for row in rows if row.most_messages is None]
    if unknown:
        text.append(f"most is not stated for {', '.join(unknown)}.")
    return text


def _relied_on(rows: Sequence[Compared]) -> list[str]:
    """Return a sentence on the users who must be honest, and on the protocols that rely on them."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row.relies_on not in (None, "no other user", "not stated"):
            groups.setdefault(str(row.relies_on), []).append(row.protocol)
    reliance = "; on ".join(f"{what}: {', '.join(names)}" for what, names in groups.items())
    silent = [row.protocol for row in rows if row.relies_on == "not stated"]
    text = [f"Privacy also rests on {reliance}."] if reliance else []
    return [*text, f"Who else must be honest is not stated for {', '.join(silent)}."] if silent else text


def _covered(rows: Sequence[Compared]) -> str:
    """Return a sentence on the simulated coverage of intervals, with its smallest and largest value."""
    shares = {row.protocol: row.simulated_coverage for row in rows if row.simulated_coverage is not None}
    if not shares:
        return "simulated: mean error of the simulation."
    least, most = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    span = f" ({least}) to {100 * shares[most]:.1f} % ({most})" if least != most else ""
    return f"simulated: mean error of the simulation; ±95 % covers {100 * shares[least]:.1f} %{span} of its errors."


def _left_out(rows: Sequence[Compared]) -> list[str]:
    reasons: dict[tuple[Status, str], list[str]] = {}
    for row in rows:
        if row.status != "ok":
            reasons.setdefault((row.status, " ".join(row.reason.split())), []).append(row.protocol)
    lines = ["Left out:"] if reasons else []
    for (status, reason), names in reasons.items():
        word = "" if status == "infeasible" else "failed: "
        text = f"{word}{', '.join(names)}: {reason}"
        lines += wrapped([text], "  ", "    ")
    return lines
