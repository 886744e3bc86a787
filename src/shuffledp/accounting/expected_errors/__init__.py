"""Errors, messages and levels of protocols in closed form."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
