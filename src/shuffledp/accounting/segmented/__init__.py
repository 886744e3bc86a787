"""Wang et al., segmented aggregation of sets with several privacy levels."""
