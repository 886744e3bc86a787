"""Study of deployed systems."""
