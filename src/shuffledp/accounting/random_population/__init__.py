"""Wang et al. 2023: amplification and multi-message noise for a random number of users."""
