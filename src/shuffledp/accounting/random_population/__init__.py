"""Wang et al. 2023: amplification and multi-message noise for a random number of users."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
