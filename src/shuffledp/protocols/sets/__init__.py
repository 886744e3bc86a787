"""Protocols that estimate how many users hold each item of their sets."""
