"""Messages of a repeat, and the expected communication of a participant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import format_value


@dataclass(frozen=True)
class Messages:
    """Messages of one repeat: ``payload`` (M,) or (M, width) has one row per message, without its sender.

    After the shuffler, the order of messages carries no information.
    """

    payload: NDArray[np.generic]

    def __post_init__(self) -> None:
        if not isinstance(self.payload, np.ndarray) or self.payload.ndim == 0:
            raise ValueError(
                f"Messages: payload must be an array of messages, got {format_value(self.payload)}."
            )

    def __len__(self) -> int:
        return len(self.payload)

    @staticmethod
    def joined(*parts: Messages) -> Messages:
        """Return the messages of several senders as one object."""
        return Messages(np.concatenate([part.payload for part in parts]))


@dataclass(frozen=True)
class Cost:
    """Expected communication.

    Parameters
    ----------
    messages_per_user : float
        Messages that one participant sends, its report included.
    bits_per_message : float
        Size of one message in bits.
    own_messages : float
        Messages per user for the user's report; the others count as extra messages.
    shuffler_messages : float
        Expected number of messages that the shuffler or the server adds, in all.
    most_messages : float, optional
        Largest number of messages of any user. If it is unbounded, the number that any user exceeds with a probability
        of at most `shuffledp.accounting.expected_errors.most_messages.RARE`. None if unknown.
    most_certain : bool
        True if ``most_messages`` is a bound, False if users may exceed it.
    """

    messages_per_user: float
    bits_per_message: float
    own_messages: float = 1.0
    shuffler_messages: float = 0.0
    most_messages: float | None = None
    most_certain: bool = True

    @property
    def extra_messages(self) -> float:
        """Messages per user beyond the user's report."""
        return self.messages_per_user - self.own_messages

    @property
    def bits_per_user(self) -> float:
        """Bits that one participant sends."""
        return self.messages_per_user * self.bits_per_message

    @property
    def most_bits(self) -> float | None:
        """Bits of ``most_messages``; None if this number is unknown."""
        return None if self.most_messages is None else self.most_messages * self.bits_per_message


def message_bits(kinds: int) -> float:
    """Return the bits of one of `kinds` >= 1 different messages, rounded up to whole bits, at least one."""
    return float(max((kinds - 1).bit_length(), 1))
