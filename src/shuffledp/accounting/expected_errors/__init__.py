"""Closed forms of the errors of protocols, and of their numbers of messages and levels."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
