"""Count a user's file once, for all methods that use it."""

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline.experiments.user_files import prepare
from shuffledp.pipeline.jobs import job as guarded

if TYPE_CHECKING:
    from snakemake.script import snakemake


if __name__ == "__main__":
    with guarded(snakemake.log[0]) as log:
        prepare(
            snakemake.params.asked,
            Path(snakemake.params.root),
            Path(snakemake.output.numbers).parent,
            log.info,
        )
