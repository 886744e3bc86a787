"""Summation by correlated noise (Ghazi et al. 2021): noise designs and their accounting."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
