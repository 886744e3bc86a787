"""Write the prepared form of a data set from the first available source."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.pipeline.datasets import Provenance, data_file, prepare
from shuffledp.pipeline.jobs import job_of, source

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(
    name: str,
    data: Path,
    say: Callable[[str], None],
    *,
    mirror: str,
    policy: Any = "auto",
    raw_dir: Path = Path("data/raw"),
) -> Provenance:
    """Prepare `name` in the folder of `data`, and report the source."""
    if data.name != data_file(name):
        raise ValueError(f"The output is {data}, expected a file called {data_file(name)}: correct the rule.")
    return prepare(
        name, raw_dir=raw_dir, output_dir=data.parent, mirror=mirror or None, policy=policy, say=say
    )


if __name__ == "__main__":
    with job_of(snakemake) as job:
        main(
            snakemake.params.dataset,
            Path(job.output.data),
            job.log.info,
            mirror=os.environ.get("SHUFFLEDP_MIRROR", ""),  # the parameter leaves out a password
            policy=snakemake.params.policy,
            raw_dir=source(snakemake.params.raw_dir),
        )
