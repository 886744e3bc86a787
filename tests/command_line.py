"""Calls of ``shuffledp`` in the process of the tests."""

from __future__ import annotations

from click.testing import CliRunner, Result

from shuffledp.cli import main


def typed(text: str) -> tuple[str, ...]:
    """Return the words of a part of a command line, which has no quotes."""
    return tuple(text.split())


def invoked(first: str, *more: str) -> Result:
    """Return the outcome of a command, whose first words may be one text."""
    return CliRunner().invoke(main, [*typed(first), *more])


def printed(*words: str) -> str:
    """Return the standard output of a command that succeeds."""
    done = invoked(*words)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*words: str) -> str:
    """Return the only line of a command that fails."""
    done = invoked(*words)
    assert done.exit_code == 1, done.output
    assert done.output.count("\n") == 1
    return done.output


def one_line(*words: str) -> str:
    """Return the words that a command prints, without line breaks."""
    return unwrapped(printed(*words))


def unwrapped(text: object) -> str:
    """Return a text without line breaks."""
    return " ".join(str(text).split())
