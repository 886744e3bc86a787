"""Options of a comparison, declared once for Python, the command line and the reader of user data.

A field of a dataclass is an argument of a function. Its metadata are the attributes of the option of the command line.
This module does not load NumPy, and neither does ``shuffledp --help``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import click

from shuffledp.comparison.setting_options import INTEGER, NUMBER, Command, Number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from shuffledp.comparison.rows import Compared
    from shuffledp.populations.base import Population
    from shuffledp.tasks import Neighbours, Task

P = ParamSpec("P")
Given = TypeVar("Given")
Result = TypeVar("Result")
#: Types of options by the first word of a field's annotation.
_TYPES = {"int": INTEGER, "float": NUMBER}
#: Tasks of a protocol.
TASKS = ("frequency", "summation", "sets", "vectors")
LAWS = (
    "Law or bound of the number of other users, instead of --users: fixed:N, binomial:TRIALS:RATE, poisson:MEAN, "
    "moments:MEAN:VARIANCE, subgaussian:MEAN:SCALE, subexponential:MEAN:A:B."
)


def flag(help: str, *names: str, **attributes: Any) -> dict[str, Any]:
    """Return the metadata of a field with an option of the command line; `click.option` takes the attributes."""
    return {"names": names, "help": help, **attributes}


def option(help: str, *names: str, default: Any = None, **attributes: Any) -> Any:
    """Return a field that is an option with a default."""
    return field(default=default, metadata=flag(help, *names, **attributes))


_USERS = flag(
    "Number of all users, including user 1; at least 2.",
    type=Number(int, "an integer of at least 2, such as 30k or 3e4"),
)


@dataclass(frozen=True, eq=False)
class SettingOptions:
    """Arguments for users, data and budget, described at `shuffledp.compare`."""

    _: KW_ONLY
    eps: float = field(
        metadata=flag(
            "Central eps, in nats; above 0.",
            "--eps",
            "--epsilon",
            type=Number(float, "a number above 0"),
        )
    )
    delta: float = field(metadata=flag("Central delta, in [0, 1).", type=Number(float, "a number in [0, 1)")))
    users: int | None = field(default=None, metadata=_USERS)
    population: Population | None = option(LAWS)
    dropout: float = option(
        "Share of the users who may drop out, such as 5% or 0.05: the guarantee is for the users who remain.",
        type=Number(float, "a share in [0, 1), such as 5% or 0.05"),
        default=0.0,
    )
    task: Task | None = option(
        "Task; by default the task that the given sizes determine.",
        type=click.Choice(TASKS),
    )
    domain_size: int | None = option("Number N of values (frequency) or items (sets) 0..N-1; at least 2.")
    set_size: int | None = option("Number of items that every user holds (sets).")
    max_value: float | None = option(
        "Largest number N of 0..N (summation); larger numbers of --data are clipped."
    )
    dimension: int | None = option("Number of coordinates of a user's vector (vectors).")
    norm: Literal["l1", "l2"] = option(
        "Norm in which vectors are clipped to 1 (vectors).", type=click.Choice(["l1", "l2"]), default="l2"
    )
    counts: ArrayLike | None = option(
        "File of `shuffledp count` or `shuffledp merge`, instead of --data.",
        type=click.Path(dir_okay=False, path_type=Path),
    )
    data: Any = option(
        "File, folder, pattern or s3:// address: CSV with a header, Parquet or JSON lines; by default a row per user.",
        "--data",
        "--csv",
        type=click.Path(path_type=Path),
    )
    column: str | None = option("Column of --data; for sets, a column with a list per user.")
    separator: str | None = option(
        "Text between two items in a cell of --column (sets); .parquet files have lists instead."
    )
    user: str | None = option("Column of the user, if users have several rows; for sets, also give --item.")
    item: str | None = option("Column of the item (sets); needs --user.")
    values: Sequence[Any] | None = option(
        "Values of the public domain, separated by commas, if the domain is not 0..N-1.", multiple=True
    )
    other: bool = option(
        "Count a user with a value outside of the given list as the value 'other'.",
        is_flag=True,
        default=False,
    )
    bins: str | None = option(
        "LOW:HIGH:WIDTH, such as 0:100:1: numbers are counted in bins, which contain their smallest number.",
        metavar="BINS",
    )
    low: float | None = option(
        "Smallest number of a sum; smaller numbers of --data are clipped. By default 0."
    )
    levels: int | None = option(
        "Number of steps up to --max-value; numbers of --data are rounded to steps (summation)."
    )
    per_user: Literal["random", "first", "sum"] | None = option(
        "Value of a user with several rows: a random value by a keyed hash (default), the first, or the clipped sum.",
        type=click.Choice(["random", "first", "sum"]),
    )
    delimiter: str | None = option(
        "Text between two cells of a CSV file; by default it is read from the header."
    )
    memory: str | None = option("Memory limit of the reader, such as 4GB; by default 1GB.")
    neighbours: Neighbours = option(
        "Neighboring relation: replacement of one input, or one user more or less.",
        "--neighbors",
        type=click.Choice(["replace_one", "add_remove"]),
        default="replace_one",
    )
    rounds: int = option(
        "Number of releases to the same users; eps and delta are for all of them together.",
        type=Number(int, "an integer in [1, 10^6]"),
        metavar="R",
        default=1,
    )
    crowd: Literal["fixed", "shared", "fresh"] | None = option(
        "Number of other users over releases: fixed (--users), shared (drawn once; default with --population), fresh "
        "(drawn anew).",
        type=click.Choice(["fixed", "shared", "fresh"]),
    )
    accounting: str | None = option(
        "Accounting: exact, corrected, simplified or printed; by default the first of these that a protocol has."
    )
    seed: int = option("Seed of the simulation, an integer of at least 0.", type=int, default=0)
    root: Path | None = None

    def given(self, *names: str) -> list[str]:
        """Return the names, out of the given names, whose option is not None."""
        return [name for name in names if getattr(self, name) is not None]

    def only(self, *names: str) -> dict[str, Any]:
        """Return the options of these names, as keywords of another function."""
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class Options(SettingOptions):
    """Arguments of `shuffledp.compare`."""

    users: int | None = field(default=None, metadata=_USERS)
    _: KW_ONLY
    protocols: Sequence[str] | None = option(
        "Names or file.py:Class, separated by commas; 'all' (default) stands for all built-in and installed ones.",
        multiple=True,
    )
    trust: Sequence[str] | None = option(
        "Trust models, separated by commas: shuffler, shuffler_adds, secure_sum, central, local; by default all.",
        multiple=True,
    )
    max_bits: float | None = option("Limit on the largest number of bits per user.")
    max_messages: float | None = option("Limit on the largest number of messages per user.")
    mean_bits: float | None = option("Limit on the average number of bits per user.")
    mean_messages: float | None = option("Limit on the average number of messages per user.")
    simulate: int = option(
        "Number of simulated repeats; with 0, only protocols without a closed form are simulated.",
        metavar="R",
        default=0,
    )
    poisoned: int = option(
        "Number of additional fake users; adds columns with the largest gain of these users.",
        metavar="M",
        default=0,
    )
    colluding: float = option(
        "Share of users, below 1; adds columns with the eps that remains if they collude or drop out.",
        metavar="C",
        default=0,
    )
    progress: Callable[[int, int, str], None] | None = None
    done: Callable[[Compared], None] | None = None


@dataclass(frozen=True, eq=False)
class BatchOptions(SettingOptions):
    """Arguments of `shuffledp.simulate`."""

    data: Any = None
    _: KW_ONLY
    protocol: str
    options: Mapping[str, Any] | None = None


#: Options of the users and the budget, of the task, of several releases, and of limits on a user's communication.
BATCH = ("users", "population", "eps", "delta")
SETTING = (*BATCH, "neighbours", "domain_size", "set_size", "dimension", "norm")
RELEASES = ("rounds", "crowd")
LIMITS = ("max_bits", "max_messages", "mean_bits", "mean_messages")
#: Options about the place of the user's records, about their files, and of all records.
WHERE = ("column", "separator", "user", "item")
FILES = ("per_user", "delimiter", "memory")
RECORDS = ("data", "counts", *WHERE, *FILES, "values", "other", "bins", "low")


def with_options(*names: str, **changes: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds options of a comparison to a command, in this order.

    `changes` has other attributes of `click.option` by option.
    """
    entries = {entry.name: entry for entry in fields(Options)}

    def decorate(command: Command) -> Command:
        for name in reversed(names):
            entry = entries[name]
            attributes = {"type": _TYPES.get(str(entry.type).partition(" ")[0]), **entry.metadata}
            attributes |= changes.get(name, {})
            if entry.default is MISSING:
                attributes.setdefault("required", True)
            elif entry.default is not None:
                attributes |= {"default": entry.default, "show_default": True}
            flags = attributes.pop("names") or (f"--{name.replace('_', '-')}",)
            command = click.option(*flags, name, **attributes)(command)
        return command

    return decorate


def with_arguments_of(
    options: Callable[P, Given],
) -> Callable[[Callable[[Given], Result]], Callable[P, Result]]:
    """Return a decorator for functions of an options object; the new function takes the object's fields."""

    def decorate(function: Callable[[Given], Result]) -> Callable[P, Result]:
        result = inspect.signature(function).return_annotation
        signature = inspect.signature(options).replace(return_annotation=result)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Result:
            if unknown := [name for name in kwargs if name not in signature.parameters]:
                alike = (name for name in signature.parameters if unknown[0].startswith(name[:3]))
                near = next(alike, None)
                hint = f"; did you mean {near}?" if near else "."
                raise TypeError(f"{function.__name__}(): unknown argument {unknown[0]!r}{hint}")
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function.__name__}(): {error}.") from None
            return function(options(*args, **kwargs))

        vars(call)["__signature__"] = signature
        return call

    return decorate
