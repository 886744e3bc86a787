"""Write the small tables in data/summaries from the raw files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline.datasets import make_summaries
from shuffledp.pipeline.jobs import job_of, source

if TYPE_CHECKING:
    from snakemake.script import snakemake

if __name__ == "__main__":
    with job_of(snakemake) as job:
        written = make_summaries(
            Path(job.output[0]).parent,
            raw_dir=source(snakemake.params.raw_dir),
            mirror=os.environ.get("SHUFFLEDP_MIRROR") or None,
            say=job.log.info,
        )
        job.log.info("wrote %s", ", ".join(path.name for path in written))
