"""The study of random allocation."""
