"""Study of ranges of ordered values."""
