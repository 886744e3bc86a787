"""Accounting for any shuffle protocol: divergences, the clones and blanket reductions, Renyi conversion."""
