"""Experiments as data: configuration, grids, seeds, the one runner, the two result tables."""
