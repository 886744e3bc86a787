"""Jobs that the workflow would schedule, from the functions for params and inputs, without Snakemake.

workflow/rules/common.smk is run unchanged; `planned` repeats the directives of the other rule files. test_pipeline.py
compares a dry run of the workflow with it.
"""

import json
import os
import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import pytest

from shuffledp.pipeline import datasets
from shuffledp.pipeline.config import baselines, config_errors, experiments, loading
from shuffledp.pipeline.config.config_files import paper_files, read_yaml
from shuffledp.pipeline.experiments.bundle import Bundle
from shuffledp.pipeline.experiments.training_jobs import TrainingFiles
from shuffledp.pipeline.figures import drawings
from shuffledp.pipeline.rerun_digests import digest as code_digest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Job:
    """Properties of a job that Snakemake compares: its params as text, its input files, and its outputs."""

    params: str
    inputs: frozenset[str]
    outputs: frozenset[str] = frozenset()


Jobs = Mapping[str, Job]


class EntriesAlone:
    """Substitute for the digest of code that lists a job's entries and reads no source."""

    def __init__(self, root: Path, *, kept: object) -> None:
        """Ignore the stored summaries, because no source is read."""

    def digest(self, *entries: str | Path) -> str:
        return str([str(entry) for entry in entries])


class Workflow:
    """Helpers of the workflow, run on configurations that are in no file.

    ``papers`` has the content of config/experiments/ by key. A load does not check an unchanged experiment again, so
    that it is fast.
    """

    def __init__(self, patch: pytest.MonkeyPatch, root: Path = ROOT) -> None:
        self.root = root
        self.papers = {key: _apart(read_yaml(path)) for key, path in paper_files(root).items()}
        self.config = _apart(read_yaml(root / "config/config.yaml"))
        self._code = _compiled(root / "workflow/rules/common.smk")
        by_file = {path.resolve(): key for key, path in paper_files(root).items()}
        key_of = cache(lambda path: by_file.get(path.resolve()))
        read_once = cache(lambda path: pickle.dumps(read_yaml(path)))

        def reading(path: Path) -> Any:
            """Return a separate copy, because overrides are written into it."""
            key = key_of(path)
            return pickle.loads(read_once(path) if key is None else pickle.dumps(self.papers[key]))

        for module in (loading, baselines):
            patch.setattr(module, "read_yaml", reading)
        patch.setattr(loading, "_paper", _remembered(loading._paper))
        patch.setattr(loading, "experiment_from", _remembered(loading.experiment_from))
        patch.setattr(experiments, "_check_resolved", _remembered(experiments._check_resolved))
        grammar_followed = _remembered(config_errors.first_error)
        for module in (config_errors, experiments, loading):
            patch.setattr(module, "first_error", grammar_followed)
        patch.setattr(Bundle, "of", staticmethod(cache(Bundle.of)))
        patch.setattr(code_digest, "Code", EntriesAlone)

    def jobs(self, config: Mapping[str, Any], papers: Mapping[str, Any] | None = None) -> Jobs:
        """Return every job behind the default target.

        Raises
        ------
        SystemExit
            If the configuration is refused, with the message.
        """
        usual = self.papers
        self.papers = dict(papers or usual)
        names: dict[str, Any] = {
            "Path": Path,
            "ROOT": Path(os.path.relpath(self.root)),
            "FETCHED": False,
            "WorkflowError": RuntimeError,
            # Not the main process, which tries every method: no plan depends on that.
            "workflow": SimpleNamespace(
                basedir=str(self.root),
                remote_exec=False,
                overwrite_configfiles=[],
                is_main_process=False,
                deployment_settings=SimpleNamespace(deployment_method=frozenset()),
                modifier=SimpleNamespace(path_modifier=SimpleNamespace(apply_default_storage=str)),
            ),
            "local": str,
            "config": config,
            "report": lambda path, **_: path,
        }
        try:
            exec(self._code, names)
        finally:
            self.papers = usual
        return planned(names)


def _compiled(path: Path) -> CodeType:
    return compile(path.read_text(encoding="utf-8"), str(path), "exec")


def _apart(content: Any) -> Any:
    """Return a copy in which every use of an anchor has its own value."""
    return json.loads(json.dumps(content))


def _remembered(function: Any) -> Any:
    """Return a function that is called once per arguments."""
    results: dict[str, Any] = {}

    def remembered(*arguments: Any) -> Any:
        key = repr(arguments)
        if key not in results:
            results[key] = function(*arguments)
        return results[key]

    return remembered


# -- the rules' directives -----------------------------------------------------------------------------------------


def planned(names: Mapping[str, Any]) -> Jobs:
    """Return all jobs by name; ``names`` are the names that common.smk defines.

    The jobs are ``dataset D``, ``training P.R``, ``method P.E.M``, ``claims P.C``, ``draw P``, ``verdicts P``,
    ``headlines`` (all verdicts together, and the headlines), ``open_questions``, ``audit_share S``, ``audit``,
    ``overall`` and ``pages``. The parts of ``draw P`` are named ``drawing P.F``. A part is drawn again only if the
    part or one of its inputs has changed.
    """
    return dict(_with_data(dict(_made(names)), names))


def _made(names: Mapping[str, Any]) -> Iterator[tuple[str, Job]]:
    settings, results = names["SETTINGS"], names["RESULTS"]
    for paper, run in names["TRAINING"]:
        where = SimpleNamespace(paper=paper, run=run)
        files = TrainingFiles.of(Path(results), paper, run)
        params = [names["training_job"](where), names["checkpoint_of"](where)]
        made = (files.curve, files.provenance, files.checksum)
        yield f"training {paper}.{run}", _job(params, names["data_to_train_on"](where), made)
    for paper, experiment, method in names["SETUPS"]:
        where = SimpleNamespace(paper=paper, experiment=experiment, method=method)
        params = [names[part](where) for part in ("job_of", "code_of_method", "results_folder")]
        bundle = Bundle.of(Path(results), paper, experiment, method)
        yield f"method {paper}.{experiment}.{method}", _job(params, names["data_of"](where), _files(bundle))
    pages: list[str] = []
    for paper in settings.papers.values():
        job = drawings.paper_job(paper, settings, names["ROOT"])
        for claim in paper.claims:
            table = drawings.claim_file(Path(results), paper.key, claim)
            code = names["code_of_claim"](SimpleNamespace(paper=paper.key, claim=claim))
            yield f"claims {paper.key}.{claim}", _job(code, [], [table, table.with_suffix(".sha256")])
        files = drawings.drawings_of(paper)
        for name in dict.fromkeys(part["name"] for part in job["drawings"]):
            own = [part for part in job["drawings"] if part["name"] == name]
            read = names["bundles_for"]([file for file in files if file.name == name])
            tables = [part["table"] for part in own if part["kind"] == "claims"]
            yield f"drawing {paper.key}.{name}", _job(own, [*read, *tables, *names["captions_of"](own)])
        read = names["bundles_for"](files) + names["claims_of"](paper)
        drawn = names["drawn_files"](paper)
        pages += drawn
        yield f"draw {paper.key}", _job(job, read + names["captions_of"](job["drawings"]), drawn)
    for key in names["VERDICT_JOBS"]:
        where = SimpleNamespace(paper=key)
        params = [names["verdict_job"](where), names["code_of_verdicts"](where)]
        table = names["with_checksum"](f"{key}/verdicts")
        yield f"verdicts {key}", _job(params, names["bundles_of_verdicts"](where), table)
    together = [*names["CLAIMS"], *names["HEADLINES"]]
    yield "headlines", _job([], chain(*names["verdict_tables"]()), together)
    yield "open_questions", _job(settings.effort, [], names["OPEN_QUESTIONS"])
    for share in names["AUDIT_JOBS"]:
        where = SimpleNamespace(share=share)
        params = [names["audit_job"](where), names["code_of_audit"](where)]
        yield f"audit_share {share}", _job(params, [], names["with_checksum"](f"audit/{share}"))
    yield "audit", _job([], chain(*names["audit_tables"]()), names["AUDIT"])
    read = [*names["bundles_of_overall"](), *names["CLAIMS"]]
    yield "overall", _job(names["OVERALL_JOB"], read, names["OVERALL"])
    shown = [*pages, *names["OVERALL"], *together, *names["AUDIT"], *names["OPEN_QUESTIONS"]]
    yield "pages", _job([list(settings.papers), names["PROTOCOLS"]], shown, [f"{results}/index.html"])


def _with_data(jobs: Jobs, names: Mapping[str, Any]) -> Iterator[tuple[str, Job]]:
    """Return the jobs, with the data sets that they need."""
    needed = frozenset().union(*(job.inputs for job in jobs.values()))
    yield from jobs.items()
    for name in datasets.NAMES:
        files = names["prepared_files"](name)
        if needed & set(files):
            yield f"dataset {name}", _job([name, names["SETTINGS"].data_source], [], files)


def _files(bundle: Bundle) -> list[Path]:
    return [bundle.cells, bundle.values, bundle.provenance, bundle.checksum]


def _job(params: Any, inputs: Iterable[Any], outputs: Iterable[Any] = ()) -> Job:
    return Job(json.dumps(params), frozenset(map(str, inputs)), frozenset(map(str, outputs)))


def replaced(value: Any, place: tuple[str | int, ...], new: Any) -> Any:
    """Return the value with a new part at a place; all other parts are shared."""
    part, *rest = place
    copy = value.copy()
    copy[part] = replaced(value[part], tuple(rest), new) if rest else new
    return copy


def scheduled(before: Jobs, after: Jobs) -> set[str]:
    """Return the jobs that run after a change: new jobs, changed params or files, and jobs that read their outputs."""
    changed = {name for name, job in after.items() if before.get(name) != job}
    while True:
        anew = frozenset().union(*(after[name].outputs for name in changed)) if changed else frozenset()
        more = {name for name, job in after.items() if job.inputs & anew} - changed
        if not more:
            return changed
        changed |= more


def by_rule(jobs: Collection[str]) -> dict[str, int]:
    """Return the number of jobs per rule in Snakemake's list; parts of drawing jobs do not count."""
    counts: dict[str, int] = {}
    for name in jobs:
        kind, _, what = name.partition(" ")
        rules = {"dataset": f"dataset_{what}", "draw": f"draw_{what}", "claims": "claim_table"}
        rule = (rules | {"headlines": "claims"}).get(kind, kind)
        if kind != "drawing":
            counts[rule] = counts.get(rule, 0) + 1
    return counts
