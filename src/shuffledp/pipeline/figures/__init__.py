"""Figures and tables: drawings of results, which compute no number that a result does not hold."""
