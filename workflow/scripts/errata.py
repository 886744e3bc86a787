"""Compute the witnesses of a paper's errata; write them as a table. Fails if one does not show its erratum."""

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp import claims
from shuffledp.jobs import job as guarded
from shuffledp.storage import publish

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(paper: str, table: Path, checksum: Path) -> None:
    claims.check(paper)
    text = claims.evaluate(paper).to_csv(index=False, float_format="%.10g", lineterminator="\n")
    publish(checksum, {table: text.encode()})


if __name__ == "__main__":
    with guarded(snakemake.log[0]):
        main(snakemake.params.paper, Path(snakemake.output.table), Path(snakemake.output.checksum))
