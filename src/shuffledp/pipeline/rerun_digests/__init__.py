"""Digests of the code that a job reaches, so that a changed module reruns the jobs that use it."""
