"""Write the ranking of all protocols, and the pictures over all papers."""

from typing import TYPE_CHECKING

from shuffledp.pipeline.figures.overall import publish_overall
from shuffledp.pipeline.jobs import job as guarded

if TYPE_CHECKING:
    from snakemake.script import snakemake

if __name__ == "__main__":
    with guarded(snakemake.log[0]):
        publish_overall(snakemake.params.job)
