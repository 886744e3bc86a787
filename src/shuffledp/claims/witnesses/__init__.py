"""Witness functions, one module per paper; each lists its functions in ``WITNESSES``."""
