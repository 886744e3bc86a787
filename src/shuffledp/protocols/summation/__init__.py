"""Protocols that estimate sums of bounded numbers."""
