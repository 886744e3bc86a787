"""Run the searches for the open questions, and write their extent and results."""

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline.claims.combined_tables import published
from shuffledp.pipeline.jobs import job_of
from shuffledp.pipeline.papers.open_questions import COLUMNS, Effort, table

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(effort: Effort, output: Path, checksum: Path) -> None:
    published(table(effort), COLUMNS, output, checksum, folders=1)


if __name__ == "__main__":
    with job_of(snakemake) as job:
        out = job.output
        main(snakemake.params.effort, Path(out.table), Path(out.checksum))
