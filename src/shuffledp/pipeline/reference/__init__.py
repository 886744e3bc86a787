"""Reference results: compact tables of a run at the papers' scale, and the comparison of other runs with them."""
