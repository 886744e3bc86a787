"""Write the results page: `rule pages`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp import pages
from shuffledp.storage import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(results: Path, papers: Sequence[str], output: Path) -> None:
    """Write the page of these papers; it must lie in the results folder, because its links are relative."""
    if output.parent.resolve() != results.resolve():
        raise ValueError(
            f"The page {output} must lie in {results}, the folder of its figures: correct the rule."
        )
    write_atomically(output, pages.render(results, papers).encode())
    logging.info("Wrote %s: %s.", output, ", ".join(papers))


if __name__ == "__main__":
    snakemake: Any = globals()["snakemake"]
    logging.basicConfig(
        filename=snakemake.log[0], filemode="w", level=logging.INFO, format="%(levelname)s %(message)s"
    )
    try:
        main(Path(snakemake.params.results), list(snakemake.params.papers), Path(snakemake.output[0]))
    except Exception as error:
        logging.error("%s: %s", type(error).__name__, error)
        raise
