"""Train one run of a paper, and write its curve."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.pipeline.experiments import seeds, training_jobs
from shuffledp.pipeline.jobs import job_of, source
from shuffledp.pipeline.provenance import of_job

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(
    job: dict[str, Any], prepared: Path, raw: Path, root: Path, files: training_jobs.TrainingFiles
) -> None:
    curve, data = training_jobs.train_run(job, prepared=prepared, raw=raw, checkpoint=files.checkpoint)
    training_jobs.write(files, curve, of_job(job, seeds.digest(job), data, root))


if __name__ == "__main__":
    with job_of(snakemake) as job:
        out, params = job.output, snakemake.params
        main(
            params.job,
            Path(params.prepared),
            source(params.raw),
            source(params.root),
            training_jobs.TrainingFiles(
                Path(out.curve), Path(out.provenance), Path(out.checksum), Path(params.checkpoint)
            ),
        )
