"""Audit the registered protocols of one family: compare claims with results that use no accounting."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.pipeline.audit.table import lines_of, text_of
from shuffledp.pipeline.jobs import job_of
from shuffledp.storage import publish

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(job: Mapping[str, Any], output: Path, checksum: Path) -> None:
    publish(checksum, {output: text_of(lines_of(job)).encode()}, folders=2)


if __name__ == "__main__":
    with job_of(snakemake) as job:
        out = job.output
        main(snakemake.params.job, Path(out.table), Path(out.checksum))
