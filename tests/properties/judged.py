"""Permitted outcomes of faulty inputs, and the limit of CPU time."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

#: CPU seconds that one input may take.
SECONDS = 5.0
#: Largest number of letters of a message.
LONGEST = 1500


@dataclass(frozen=True)
class Outcome:
    """Outcome of an input: accepted and correct, rejected in one clear line, or a fault, which no input may cause."""

    kind: Literal["accepted", "refused", "fault"]
    text: str = ""


ACCEPTED = Outcome("accepted")


def refused(message: str, *named: tuple[str, ...]) -> Outcome:
    """Return a rejection if its message is one clear line that has a part of every group."""
    if "\n" in message or len(message) > LONGEST:
        return Outcome(
            "fault",
            f"a message of {message.count(chr(10)) + 1} lines, {len(message)} letters: {message[:200]}",
        )
    for group in named:
        if group and not any(part in message for part in group):
            return Outcome("fault", f"the message names none of {group}: {message}")
    return Outcome("refused", message)


class TooLong(BaseException):
    """Signal that an input takes too much CPU time; it is no Exception, so that no code catches it."""


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Interrupt code that takes more CPU seconds, in the main thread."""

    def late(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
