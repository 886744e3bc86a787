"""Protocols that estimate relative frequencies."""
