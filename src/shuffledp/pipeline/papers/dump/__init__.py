"""Li et al. (arXiv 2009.13738): DUMP."""
