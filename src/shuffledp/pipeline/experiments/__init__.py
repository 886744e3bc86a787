"""Experiments as data: configuration, grids, seeds, the runner and the two result tables."""
