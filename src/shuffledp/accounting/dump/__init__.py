"""Li et al., DUMP: dummy points."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
