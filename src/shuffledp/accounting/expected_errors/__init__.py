"""Errors, messages and levels of protocols in closed form."""
