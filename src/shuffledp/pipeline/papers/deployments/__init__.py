"""The study of deployed systems."""
