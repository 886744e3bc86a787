"""Wang et al. 2024 (arXiv 2407.19639): segmented private aggregation."""
