"""Figures and tables that show results without further computation."""
