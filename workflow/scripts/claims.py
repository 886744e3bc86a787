"""Join the verdicts of all papers in one table, and the headline claims in another."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline.claims.combined_tables import COLUMNS, HEADLINE_COLUMNS, headlines, published, union
from shuffledp.pipeline.jobs import job_of

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(tables: Sequence[Path], output: Path, checksum: Path, leading: Path, leading_checksum: Path) -> None:
    every = union(tables)
    published(every, COLUMNS, output, checksum, folders=1)
    published(headlines(every), HEADLINE_COLUMNS, leading, leading_checksum, folders=1)


if __name__ == "__main__":
    with job_of(snakemake) as job:
        out = job.output
        main(
            [Path(path) for path in job.input.tables],
            *(Path(p) for p in (out.table, out.checksum, out.headlines, out.headlines_checksum)),
        )
