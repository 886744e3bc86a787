"""Accounting for any shuffle protocol: divergences, the clones and blanket reductions, conversion of Renyi
divergences.
"""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
