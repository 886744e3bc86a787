"""All imports of the golden table from internal modules; if a module moves, only this file changes.

Everything else of the table uses public names: `shuffledp.protocols`, `shuffledp.accounting`, `shuffledp.populations`,
`shuffledp.tasks`, `shuffledp.compare` and the command line.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import yaml

from shuffledp.cli import main as command_line  # noqa: F401  (the golden table calls it)
from shuffledp.pipeline.claims import errata_data, stated_claims, verdict_rows
from shuffledp.pipeline.claims.claim_jobs import papers_with_claims
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.config.loading import load_experiments
from shuffledp.pipeline.datasets.preparation import prepare
from shuffledp.pipeline.datasets.registry import NAMES as DATASETS  # noqa: F401  (the golden table reads it)
from shuffledp.pipeline.datasets.source_errors import SourceError
from shuffledp.pipeline.experiments import runner

ROOT = Path(__file__).resolve().parents[2]
#: Name by which `prepare` calls the search for the published data.
OBTAIN = "shuffledp.pipeline.datasets.preparation.obtain"
Job = Mapping[str, Any]


def _config() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8")))


def jobs(paper: str) -> Iterator[tuple[str, str, Job]]:
    """Yield the jobs of a paper at its scale: experiment, method, job; no model is trained."""
    shipped = {"papers": [paper], "own": "none", "baselines": "none", "learning": "skip", "overrides": {}}
    settings = load_experiments({**_config(), **shipped}, ROOT)
    for experiment in settings.papers[paper].experiments.values():
        for method in experiment.methods:
            yield experiment.id, method, experiment.job(method, settings.seed)


def cells(job: Job) -> list[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Return all cells of a job: grid point, accounting and resolved parts."""
    return [(point, accounting, job.resolve_point(point)) for point, accounting in job.cells()]


def run(job: Job, prepared: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Run a job in this process, and return the rows of cells and values."""
    done = runner.run(job, prepared=prepared, root=ROOT)
    return done.cells.to_pylist(), done.values.to_pylist()


def prepare_shipped(dataset: str, folder: Path) -> None:
    """Prepare a data set from the repository's summaries and stand-ins, without network or mirror."""
    shutil.copytree(_shipped(dataset).name, folder, dirs_exist_ok=True)


@cache
def _shipped(dataset: str) -> TemporaryDirectory[str]:
    kept = TemporaryDirectory()
    folder = Path(kept.name)
    with mock.patch(OBTAIN, side_effect=SourceError("nothing is downloaded for the golden table")):
        prepare(dataset, raw_dir=folder / "raw", output_dir=folder, say=lambda line: None)
    return kept


def claims_of(paper: str) -> tuple[Any, ...]:
    """Return the claims of a paper, possibly none."""
    return stated_claims.claims(paper) if paper in papers_with_claims() else ()


def stated(claim: Any) -> dict[str, Any]:
    """Return a claim as plain data: the rule by name, the errata as a list, and the wrong side separately."""
    wrong, _, difference = claim.wrong.partition(": ")
    errata = tuple(claim.errata.split())
    fields = dict(claim)
    return {
        "where": fields.pop("place"),
        "says": fields.pop("statement"),
        **fields,
        "errata": errata,
        "wrong": wrong,
        "difference": difference,
    }


def verdicts(claim: Any) -> list[dict[str, str]]:
    """Judge a claim without results, with short searches; a claim that needs results is untestable."""
    return list(verdict_rows.rows(claim, Evidence(Path(), claim.paper, {}), "quick", "paper"))


def findings(paper: str) -> tuple[list[Any], list[Any]]:
    """Return errata, reading notes and withdrawn errata of a paper."""
    found = errata_data.findings(paper)
    return [*found.errata, *found.notes], list(found.withdrawn)


def canonical(value: Any) -> str:
    """Return plain data as a unique text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
