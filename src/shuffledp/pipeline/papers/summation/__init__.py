"""Ghazi et al. 2021 (ICML): summation with correlated noise."""
