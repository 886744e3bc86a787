"""References in 50-digit arithmetic for the public functions of the accounting, a module per family."""
