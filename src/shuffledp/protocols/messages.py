"""Messages of users, and their communication cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.numerics.argument_types import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Messages:
    """Messages of one repeat: ``payload`` (M,) or (M, width), one row per message.

    No sender is attached and the order carries no meaning once the messages went through the shuffler.
    """

    payload: NDArray[np.generic]

    def __post_init__(self) -> None:
        if not isinstance(self.payload, np.ndarray) or self.payload.ndim == 0:
            raise ValueError(f"Messages: payload must be an array of messages, got {shown(self.payload)}.")

    def __len__(self) -> int:
        return len(self.payload)

    @staticmethod
    def joined(*parts: Messages) -> Messages:
        """Return all messages of several senders."""
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
        Part of ``messages_per_user`` for the user's report; the rest counts as extra messages.
    shuffler_messages : float
        Total added by the shuffler or the server, in expectation.
    most_messages : float, optional
        The most messages that any of the users sends. Without a bound, the number that any of them exceeds with a
        probability of at most `shuffledp.accounting.expected_errors.most_messages.RARE`. None if it is unknown.
    most_certain : bool
        True if ``most_messages`` is a bound; otherwise users exceed it with at most that probability.
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
        """Bits of ``most_messages``; None if these are unknown."""
        return None if self.most_messages is None else self.most_messages * self.bits_per_message


def message_bits(kinds: int) -> float:
    """Return the payload of one of `kinds` different messages: whole bits, at least one.

    Parameters
    ----------
    kinds : int
        At least 1. A message of the only kind still takes a bit.
    """
    return float(max((kinds - 1).bit_length(), 1))
