"""Draw one figure or table of a paper, which may be several files."""

from typing import TYPE_CHECKING

from shuffledp.pipeline.figures.paper import write_drawings
from shuffledp.pipeline.jobs import job_of

if TYPE_CHECKING:
    from snakemake.script import snakemake

if __name__ == "__main__":
    with job_of(snakemake):
        write_drawings(snakemake.params.drawings)
