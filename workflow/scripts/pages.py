"""Write the site with every figure and table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline import site
from shuffledp.pipeline.jobs import job_of, source

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(
    results: Path,
    papers: Sequence[str],
    protocols: Sequence[str],
    questions: bool,
    links: Mapping[str, str],
    kept: Path | None,
    outputs: Sequence[Path],
) -> None:
    """Write the site of these papers into the results folder; the rule must list exactly the site's files."""
    expected = {results / name for name in site.outputs(papers, protocols)}
    if expected != set(outputs):
        wrong = sorted(map(str, expected ^ set(outputs)))
        raise ValueError(
            f"The rule lists other files than the site has: {', '.join(wrong)}. Correct the rule."
        )
    site.publish(results, papers, protocols, questions, links, kept)


if __name__ == "__main__":
    with job_of(snakemake) as job:
        main(
            Path(snakemake.params.results),
            snakemake.params.papers,
            snakemake.params.protocols,
            snakemake.params.questions,
            snakemake.params.links,
            source(snakemake.params.kept),
            [Path(path) for path in job.output],
        )
