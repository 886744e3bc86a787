"""Accountant of deployments: central eps, local budget and smallest batch, each with its guarantee."""
