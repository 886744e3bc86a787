"""Errors, messages and levels in closed form: what a protocol is worth, whatever it costs in privacy."""
