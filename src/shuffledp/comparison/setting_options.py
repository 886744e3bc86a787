"""Options of the command line for a setting, which several commands share."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


@contextmanager
def user_errors(*more: type[Exception], one_line: bool = True) -> Iterator[None]:
    """Turn a ValueError, such as Infeasible, and errors of the given kinds into a message of the command."""
    kinds: tuple[type[Exception], ...] = (ValueError, *more)
    try:
        yield
    except kinds as error:
        text = str(error)
        raise click.ClickException(" ".join(text.split()) if one_line else text) from None


class Number(click.ParamType):  # type: ignore[type-arg]
    """Number on the command line; 200k, 2M, 2e5 and 200_000 are allowed."""

    def __init__(self, kind: type[int] | type[float], allowed: str) -> None:
        self.kind, self.allowed, self.name = kind, allowed, "integer" if kind is int else "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or fail with a message for the option."""
        try:
            return whole(value) if self.kind is int or str(value)[-1:] in ("k", "M") else float(value)
        except ValueError:
            raise click.ClickException(
                f"{param.opts[0] if param else self.name} must be {self.allowed}, got {value!r}."
            ) from None


def whole(text: str | int) -> int:
    """Return the integer of a text such as 200k or 2e5. Raise ValueError for other texts."""
    if isinstance(text, int):
        return text
    digits, factor = (text[:-1], {"k": 10**3, "M": 10**6}[text[-1]]) if text[-1:] in ("k", "M") else (text, 1)
    try:
        return int(digits) * factor
    except ValueError:
        number = (
            Decimal(digits) * factor if re.fullmatch(r"[0-9.]+(e[0-9]{1,2})?", digits) else Decimal("0.5")
        )
        if number != int(number):
            raise ValueError(f"{text!r} is no integer.") from None
        return int(number)


INTEGER = Number(int, "an integer, such as 30000, 30k or 3e4")
NUMBER = Number(float, "a number")


def with_batch(
    command: Command,
    *,
    required: tuple[str, ...] = ("eps", "delta"),
    least_users: int = 2,
    deltas: str = "[0, 1)",
    more_laws: str = "",
) -> Command:
    """Add the options for the users and the budget of a shuffled batch to a command."""
    options = (
        click.option(
            "--users",
            type=Number(int, f"an integer of at least {least_users}, such as 30k or 3e4"),
            help=f"Number of all users, including user 1; at least {least_users}.",
        ),
        click.option(
            "--population",
            help="Law or bound of the number of other users, instead of --users: fixed:N, "
            "binomial:TRIALS:RATE, poisson:MEAN, moments:MEAN:VARIANCE, subgaussian:MEAN:SCALE, "
            f"subexponential:MEAN:A:B.{more_laws}",
        ),
        click.option(
            "--eps",
            "--epsilon",
            type=Number(float, "a number above 0"),
            required="eps" in required,
            help="Central eps, in nats; above 0.",
        ),
        click.option(
            "--delta",
            type=Number(float, f"a number in {deltas}"),
            required="delta" in required,
            help=f"Central delta, in {deltas}.",
        ),
    )
    return _with(options, command)


_TASK = (
    click.option(
        "--neighbors",
        "neighbours",
        type=click.Choice(["replace_one", "add_remove"]),
        default="replace_one",
        show_default=True,
        help="Neighboring relation: replacement of one input, or one user more or less.",
    ),
    click.option(
        "--domain-size",
        type=INTEGER,
        help="Number N of values (frequency) or items (sets) 0..N-1; at least 2.",
    ),
    click.option("--set-size", type=INTEGER, help="Number of items that every user holds (sets)."),
    click.option("--dimension", type=INTEGER, help="Number of coordinates of a user's vector (vectors)."),
    click.option(
        "--norm",
        type=click.Choice(["l1", "l2"]),
        default="l2",
        show_default=True,
        help="Norm in which vectors are clipped to 1 (vectors).",
    ),
)
_LIMITS = (
    click.option(
        "--trust",
        multiple=True,
        help="Trust models, separated by commas: shuffler, shuffler_adds, secure_sum, central, local; by default all.",
    ),
    click.option("--max-bits", type=NUMBER, help="Limit on the largest number of bits per user."),
    click.option("--max-messages", type=NUMBER, help="Limit on the largest number of messages per user."),
    click.option("--mean-bits", type=NUMBER, help="Limit on the average number of bits per user."),
    click.option("--mean-messages", type=NUMBER, help="Limit on the average number of messages per user."),
)


def with_setting(command: Command, *, required: tuple[str, ...] = ("eps", "delta")) -> Command:
    """Add the options for a setting to a command: users, budget and task."""
    return with_batch(_with(_TASK, command), required=required)


#: Option for the largest number of a sum of integers.
with_max_value = click.option("--max-value", type=INTEGER, help="Largest number N of 0..N (summation).")


def with_limits(command: Command) -> Command:
    """Add the options for trust and for limits on a user's communication to a command."""
    return _with(_LIMITS, command)


def _with(options: tuple[Callable[[Command], Command], ...], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def words(option: str, given: tuple[str, ...]) -> list[str] | None:
    """Return the words of a repeatable option with comma-separated lists, or None. Raise ValueError for no word."""
    found = [word.strip() for one in given for word in one.split(",") if word.strip()]
    if given and not found:
        raise ValueError(f"--{option} must hold at least one name, got {', '.join(map(repr, given))}.")
    return found or None


def listed(values: tuple[str, ...]) -> list[str] | None:
    """Return the values in a line of CSV, separated by commas; quotes may enclose a value that has commas."""
    import csv

    if not values:
        return None
    try:
        lines = [next(csv.reader([value], skipinitialspace=True, strict=True), []) for value in values]
    except csv.Error as error:
        raise ValueError(
            f"--values {', '.join(map(repr, values))}: not a line of a CSV file ({error})."
        ) from None
    return [cell.strip() for line in lines for cell in line]
