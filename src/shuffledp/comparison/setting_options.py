"""Numbers, lists and errors of the command line, which several commands share."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


@contextmanager
def user_errors(*further: type[Exception], one_line: bool = True) -> Iterator[None]:
    """Turn a ValueError, such as Infeasible, and errors of the given kinds into a message of the command."""
    kinds: tuple[type[Exception], ...] = (ValueError, *further)
    try:
        yield
    except kinds as error:
        text = str(error)
        raise click.ClickException(" ".join(text.split()) if one_line else text) from None


class Number(click.ParamType):  # type: ignore[type-arg]
    """Number on the command line; 200k, 2M, 2e5, 200_000 and 5% are allowed."""

    def __init__(self, kind: type[int] | type[float], allowed: str) -> None:
        self.kind, self.allowed, self.name = kind, allowed, "integer" if kind is int else "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or fail with a message for the option."""
        try:
            if self.kind is float and str(value)[-1:] == "%":
                return float(Decimal(value[:-1]) / 100)
            return whole(value) if self.kind is int or str(value)[-1:] in ("k", "M") else float(value)
        except (ValueError, ArithmeticError):
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


def words(option: str, texts: tuple[str, ...]) -> list[str] | None:
    """Return the words of a repeatable option with comma-separated lists, or None. Raise ValueError for no word."""
    word_list = [word.strip() for text in texts for word in text.split(",") if word.strip()]
    if texts and not word_list:
        raise ValueError(f"--{option} must hold at least one name, got {', '.join(map(repr, texts))}.")
    return word_list or None


VALUES_FILE = click.option(
    "--values-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with a value of the public domain in each line, UTF-8, instead of --values.",
)


def listed(values: tuple[str, ...], file: Path | None = None) -> list[str] | None:
    """Return the values in the lines of a file, or in a line of CSV, where quotes may enclose a value with commas."""
    import csv

    if values and file is not None:
        raise ValueError("Give --values or --values-file, not both.")
    if file is not None:
        try:
            return [line.strip() for line in file.read_text("utf-8-sig").splitlines() if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
            raise ValueError(f"--values-file {file}: {reason}.") from None
    if not values:
        return None
    try:
        lines = [next(csv.reader([value], skipinitialspace=True, strict=True), []) for value in values]
    except csv.Error as error:
        raise ValueError(
            f"--values {', '.join(map(repr, values))}: not a line of a CSV file ({error})."
        ) from None
    listed_cells = [cell.strip() for line in lines for cell in line]
    if len(listed_cells) == 1:
        raise ValueError(
            f"--values must have at least 2 values, got {listed_cells[0]!r}. --domain-size is a number of "
            "values, and --values-file reads a file with a value per line."
        )
    return listed_cells
