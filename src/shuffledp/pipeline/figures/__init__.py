"""Figures and tables drawn from results, without further computation."""
