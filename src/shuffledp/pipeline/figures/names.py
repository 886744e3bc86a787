"""Names of trust models in drawings."""

TRUST = {
    "shuffler": "shuffler permutes",
    "shuffler_adds": "shuffler adds or samples",
    "secure_sum": "secure summation",
    "central": "curator",
    "local": "nobody",
}
"""Trusted party by trust model, in the order of a leaderboard."""
