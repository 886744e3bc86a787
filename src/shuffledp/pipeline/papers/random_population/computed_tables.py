"""Checked tables of the paper."""

from shuffledp.pipeline.papers.random_population.lower_bounds import table_two

#: Tables by the name in the configuration.
TABLES = {"table2": table_two}
