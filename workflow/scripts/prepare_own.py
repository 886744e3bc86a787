"""Count a user's file once, for all methods that use it."""

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline.experiments.user_files import prepare
from shuffledp.pipeline.jobs import job_of, source

if TYPE_CHECKING:
    from snakemake.script import snakemake


if __name__ == "__main__":
    with job_of(snakemake) as job:
        prepare(
            snakemake.params.asked,
            source(snakemake.params.root),
            Path(job.output.numbers).parent,
            job.log.info,
        )
