"""Li et al., DUMP: dummy points."""
