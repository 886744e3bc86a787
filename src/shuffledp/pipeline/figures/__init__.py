"""Figures and tables: they read results and draw; nothing is computed here that a result does not hold."""
