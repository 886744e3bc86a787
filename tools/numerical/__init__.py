"""References in 50-digit arithmetic for the public functions of the accounting, one module per family."""
