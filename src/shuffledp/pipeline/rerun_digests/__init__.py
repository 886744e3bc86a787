"""Digests of the code that a job uses, so that a changed module reruns the jobs that use it."""
