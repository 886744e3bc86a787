"""Options of the command line that state a setting, for `shuffledp compare` and `describe`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option("--users", type=int, help="All users, user 1 included."),
    click.option(
        "--population",
        help="Number of the other users, for --users: fixed:N, binomial:TRIALS:RATE, poisson:MEAN, "
        "moments:MEAN:VARIANCE, subgaussian:MEAN:SCALE, subexponential:MEAN:A:B.",
    ),
    click.option("--eps", type=float, required=True, help="Central eps, nats."),
    click.option("--delta", type=float, required=True),
    click.option(
        "--neighbors",
        "neighbours",
        type=click.Choice(["replace_one", "add_remove"]),
        default="replace_one",
        show_default=True,
    ),
    click.option("--domain-size", type=int, help="Number of values (frequency) or items (sets): 0..N-1."),
    click.option("--set-size", type=int, help="Items that every user holds (sets)."),
    click.option("--dimension", type=int, help="Coordinates of a user's unit vector (vectors)."),
    click.option(
        "--norm",
        type=click.Choice(["l1", "l2"]),
        default="l2",
        show_default=True,
        help="In which vectors are clipped to 1.",
    ),
)


def with_setting(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
