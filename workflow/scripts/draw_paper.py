"""Draw all figures and tables of a paper; write them with captions and manifest."""

from typing import TYPE_CHECKING

from shuffledp.pipeline.figures.paper import publish_paper
from shuffledp.pipeline.jobs import job_of

if TYPE_CHECKING:
    from snakemake.script import snakemake

if __name__ == "__main__":
    with job_of(snakemake):
        publish_paper(snakemake.params.job)
