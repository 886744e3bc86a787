"""Rules that decide claims: a module per paper with its ``RULES`` by name, and those that any paper may use."""
