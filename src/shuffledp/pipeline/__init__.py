"""The experiment pipeline: configuration, data sets, experiments, figures, claims, audit and site.

Importing it raises `MissingExtra` where the extra ``pipeline`` is not installed.
"""

from shuffledp.optional_dependencies import require

require("snakemake")
