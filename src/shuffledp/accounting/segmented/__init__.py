"""Wang et al., segmented aggregation of sets with several privacy levels."""

from shuffledp.lazy_api import topic

__getattr__, __dir__ = topic(__name__, "shuffledp.accounting")
