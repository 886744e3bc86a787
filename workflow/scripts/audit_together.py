"""Join the audits of all protocols in one table; fail if a sound claim is violated."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline.audit.combined_table import join_tables
from shuffledp.pipeline.jobs import job_of
from shuffledp.storage import publish

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(tables: Sequence[Path], output: Path, checksum: Path) -> None:
    publish(checksum, {output: join_tables(tables).encode()}, folders=1)


if __name__ == "__main__":
    with job_of(snakemake) as job:
        out = job.output
        main([Path(path) for path in job.input.tables], Path(out.table), Path(out.checksum))
