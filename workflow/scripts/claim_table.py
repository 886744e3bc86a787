"""Compute one table of a paper's claims: errata or reading notes, each with a witness, or a checked table."""

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline.claims import claim_tables
from shuffledp.pipeline.jobs import job_of
from shuffledp.storage import publish

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(paper: str, name: str, table: Path, checksum: Path) -> None:
    text = claim_tables.table(paper, name).to_csv(index=False, float_format="%.10g", lineterminator="\n")
    publish(checksum, {table: text.encode()}, folders=2)


if __name__ == "__main__":
    with job_of(snakemake):
        names = snakemake.wildcards
        main(names.paper, names.claim, Path(snakemake.output.table), Path(snakemake.output.checksum))
