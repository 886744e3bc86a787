"""Write the ranking of all protocols, and the pictures over all papers."""

from typing import TYPE_CHECKING

from shuffledp.pipeline.figures.overall import publish_overall
from shuffledp.pipeline.jobs import job_of

if TYPE_CHECKING:
    from snakemake.script import snakemake

if __name__ == "__main__":
    with job_of(snakemake):
        publish_overall(snakemake.params.job)
