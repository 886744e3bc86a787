"""Study of random allocation."""
