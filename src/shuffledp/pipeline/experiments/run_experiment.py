"""Methods of one experiment, computed in one job; each method has its own bundle of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shuffledp.pipeline.experiments import bundle, runner, seeds
from shuffledp.pipeline.experiments.job_parts import Job
from shuffledp.pipeline.provenance import of_job
from shuffledp.protocols.plugin_errors import in_job
from shuffledp.protocols.registry import is_plugin


def run_experiment(plain: Sequence[Mapping[str, Any]], *, prepared: Path, root: Path, results: Path) -> None:
    """Run the methods and publish the results of each; at the end raise the errors of those that failed, in a group.

    ``plain`` has the jobs as plain data.
    """
    jobs = [Job(**content) for content in plain]
    errors: dict[str, Exception] = {}
    for job in jobs:
        try:
            computed = runner.run(job, prepared=prepared, root=root, results=results)
        except (Exception, SystemExit) as error:
            errors[job.name] = _in_users_words(error, job, root)
            continue
        data = {"source": computed.data_source, "note": computed.data_note, **computed.data_details}
        files = bundle.Bundle.locate(results, job.paper, job.experiment, job.method)
        bundle.write(
            files, computed.cells, computed.values, of_job(job.plain(), seeds.digest(job.plain()), data, root)
        )
    if len(jobs) == len(errors) == 1:
        raise next(iter(errors.values()))
    if errors:
        reasons = "; ".join(f"{name}: {type(error).__name__}: {error}" for name, error in errors.items())
        raise ExceptionGroup(f"{len(errors)} of {len(jobs)} methods failed. {reasons}", list(errors.values()))


def _in_users_words(error: BaseException, job: Job, root: Path) -> Exception:
    """Return the error of a method, with the line of the user's file for a class of the user."""
    protocol = job.protocol or ""
    if is_plugin(protocol):
        return in_job(error, protocol, root)
    return error if isinstance(error, Exception) else RuntimeError(f"ended with {error}")
