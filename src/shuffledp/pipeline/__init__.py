"""The experiment pipeline: configuration, data sets, experiments, figures, claims, audit and site.

Importing this package raises `MissingExtra` if the extra ``pipeline`` is not installed.
"""

from shuffledp.optional_dependencies import require

require("snakemake")
