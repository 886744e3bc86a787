"""Ghazi et al. 2021: sums with noise that cancels."""
