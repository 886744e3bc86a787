"""Decide every claim of one paper."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.pipeline.claims.combined_tables import COLUMNS, published
from shuffledp.pipeline.claims.verdict_rows import table
from shuffledp.pipeline.jobs import job_of

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(job: Mapping[str, Any], output: Path, checksum: Path) -> None:
    published(table(job), COLUMNS, output, checksum, folders=2)


if __name__ == "__main__":
    with job_of(snakemake) as job:
        out = job.output
        main(snakemake.params.job, Path(out.table), Path(out.checksum))
