"""Write the page that shows every figure and table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp import pages
from shuffledp.jobs import job as guarded
from shuffledp.storage import write_atomically

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(results: Path, papers: Sequence[str], output: Path) -> None:
    """Write the page of these papers; it must lie in the results folder, because its links are relative."""
    if output.parent.resolve() != results.resolve():
        raise ValueError(
            f"The page {output} must lie in {results}, the folder of its figures: correct the rule."
        )
    write_atomically(output, pages.render(results, papers).encode())


if __name__ == "__main__":
    with guarded(snakemake.log[0]):
        page = Path(snakemake.output[0])
        main(page.parent, snakemake.params.papers, page)
