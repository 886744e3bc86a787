"""Baselines: accounting of the protocols that the papers compare with."""
