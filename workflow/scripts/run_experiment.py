"""Run methods of one experiment; write two result tables for each."""

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.pipeline.experiments.run_experiment import run_experiment
from shuffledp.pipeline.jobs import job_of, source

if TYPE_CHECKING:
    from snakemake.script import snakemake

if __name__ == "__main__":
    with job_of(snakemake):
        params = snakemake.params
        run_experiment(
            params.jobs,
            prepared=Path(params.prepared),
            root=source(params.root),
            results=Path(params.results),
        )
