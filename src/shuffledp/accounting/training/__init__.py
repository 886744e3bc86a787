"""Accounting of training: random allocation, shuffled batches, and sampled Gaussian noise."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
