"""Study of amplification bounds."""
