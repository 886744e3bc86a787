"""Run one method of one experiment; write its two result tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.pipeline.experiments import bundle as results, runner, seeds
from shuffledp.pipeline.jobs import job_of, source
from shuffledp.pipeline.provenance import of_job
from shuffledp.protocols.plugin_errors import in_job
from shuffledp.protocols.registry import is_plugin

if TYPE_CHECKING:
    from snakemake.script import snakemake


def main(job: dict[str, Any], prepared: Path, root: Path, folder: Path, bundle: results.Bundle) -> None:
    try:
        done = runner.run(job, prepared=prepared, root=root, results=folder)
    except (Exception, SystemExit) as error:
        if not is_plugin(job["protocol"] or ""):
            raise
        raise in_job(error, job["protocol"], root) from error  # the user's file, not one of the pipeline
    data = {"source": done.data_source, "note": done.data_note, **done.data_details}
    results.write(bundle, done.cells, done.values, of_job(job, seeds.digest(job), data, root))


if __name__ == "__main__":
    with job_of(snakemake):
        out = snakemake.output
        main(
            snakemake.params.job,
            Path(snakemake.params.prepared),
            source(snakemake.params.root),
            Path(snakemake.params.results),
            results.Bundle(Path(out.cells), Path(out.values_), Path(out.provenance), Path(out.checksum)),
        )
