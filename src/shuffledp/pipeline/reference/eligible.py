"""Requirements on a run that becomes a reference: complete, of this configuration, at its scale."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shuffledp.pipeline.config.settings import Settings
from shuffledp.pipeline.experiments.bundle import Bundle
from shuffledp.pipeline.experiments.trained import TrainingFiles
from shuffledp.storage import read_verified


def objections(settings: Settings, results: Path, *, quick: bool) -> Iterator[str]:
    """Yield the objections to a run as the reference, one line each. Raise `IntegrityError` for a wrong checksum.

    Only the reference of the quick run, `quick`, may have smaller experiments than the papers, and no training.
    """
    for key in () if quick else sorted(settings.shortened):
        yield f"{key}: the configuration shortens a part of it, the reference is at the papers' scale"
    for paper in settings.papers.values():
        for experiment in paper.experiments.values():
            for method in experiment.methods:
                bundle = Bundle.locate(results, paper.key, experiment.id, method)
                yield from _judged(
                    f"{paper.key}.{experiment.id}.{method}",
                    bundle.provenance,
                    bundle.checksum,
                    experiment.job(method, settings.seed).plain(),
                )
        for run in paper.training.values() if not (settings.left_out or quick) else ():
            files = TrainingFiles.locate(results, paper.key, run.id)
            job = run.job(settings.seed)
            yield from _judged(f"{paper.key}.training.{run.id}", files.provenance, files.checksum, job)


def _judged(name: str, provenance: Path, checksum: Path, job: Mapping[str, Any]) -> Iterator[str]:
    if not checksum.is_file():
        yield f"{name}: there is no result"
        return
    about = json.loads(read_verified(provenance, checksum))
    if _compared(about["job"]) != _compared(job):
        yield f"{name}: its result is of another configuration"


def _compared(job: Mapping[str, Any]) -> Any:
    """Return a job in the form of its provenance, without the training run, which only adds accuracies."""
    return json.loads(
        json.dumps({key: value for key, value in job.items() if key != "training" or "method" not in job})
    )
