"""Wang et al. 2023 (TPDS): aggregation for a random population."""
