"""Summation by correlated noise: the designs of Ghazi et al. 2021, coarse designs of this project, and their
accounting.
"""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
