"""Searches for what would decide an open question: pure functions, the settings drawn from named seeds."""
