"""Draw all figures and tables of a paper, or one of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.experiments.config import load_settings
from shuffledp.figures.paper import draw_paper, publish_paper
from shuffledp.jobs import job as guarded
from shuffledp.storage import write_atomically

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(config: dict[str, Any], root: Path, paper_key: str, only: str | None) -> None:
    settings = load_settings(config, root)
    paper = settings.papers[paper_key]
    contents = draw_paper(paper, settings, root / "workflow/report", only=[only] if only else None)
    if only is None:
        publish_paper(settings, paper, contents)
        return
    for path, content in contents.items():
        write_atomically(path, content)


if __name__ == "__main__":
    with guarded(snakemake.log[0]):
        main(
            dict(snakemake.config),
            Path(snakemake.params.root),
            snakemake.params.paper,
            snakemake.params.get("only"),
        )
