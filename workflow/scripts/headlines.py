"""Decide the headline claim of every paper."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.claims.headlines import table
from shuffledp.jobs import job as guarded
from shuffledp.storage import publish

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(job: Mapping[str, Any], output: Path, checksum: Path) -> None:
    publish(checksum, {output: table(job).to_csv(index=False, lineterminator="\n").encode()}, folders=1)


if __name__ == "__main__":
    with guarded(snakemake.log[0]):
        out = snakemake.output
        main(snakemake.params.job, Path(out.table), Path(out.checksum))
