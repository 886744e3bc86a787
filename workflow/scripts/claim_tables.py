"""Compute the tables of a paper's claims: errata and reading notes, each with a witness, and checked tables."""

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline.claims import claim_tables
from shuffledp.pipeline.jobs import job_of
from shuffledp.storage import publish

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(paper: str, name: str, table: Path) -> None:
    text = claim_tables.table(paper, name).to_csv(index=False, float_format="%.10g", lineterminator="\n")
    publish(table.with_suffix(".sha256"), {table: text.encode()}, folders=2)


if __name__ == "__main__":
    with job_of(snakemake) as job:
        params = snakemake.params
        for name, table in zip(
            params.tables, job.output[::2], strict=True
        ):  # each table precedes its checksum list
            main(params.paper, name, Path(table))
