"""Draw one figure or table of a paper, which may be several files."""

from typing import TYPE_CHECKING

from shuffledp.pipeline.figures.paper import write_drawings
from shuffledp.pipeline.jobs import job as guarded

if TYPE_CHECKING:
    from snakemake.script import snakemake

if __name__ == "__main__":
    with guarded(snakemake.log[0]):
        write_drawings(snakemake.params.drawings, snakemake.params.code)
