"""Files and parameters of the workflow's jobs, known from the configuration before any job runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shuffledp.pipeline import datasets
from shuffledp.pipeline.claims import claim_jobs
from shuffledp.pipeline.code_keys import PARTS
from shuffledp.pipeline.config import Experiment, Method, Paper, Settings
from shuffledp.pipeline.experiments.audited import audit_jobs
from shuffledp.pipeline.experiments.bundle import Bundle
from shuffledp.pipeline.experiments.configurable_functions import NAMED_FUNCTIONS
from shuffledp.pipeline.experiments.job_parts import Job
from shuffledp.pipeline.experiments.sources.user_file import files_of as files_of_own
from shuffledp.pipeline.experiments.trained import TrainingFiles
from shuffledp.pipeline.experiments.training_jobs import OWN_FILES, TrainingRun
from shuffledp.pipeline.figures import drawings, overall_jobs
from shuffledp.protocols.registry import is_plugin, source_files

PREPARED = "data/prepared"
RAW = "data/raw"
LOGS = "logs"


def prepared_files(name: str) -> list[str]:
    """Return the files of a prepared data set: numbers, description and checksum list."""
    return [f"{PREPARED}/{file}" for file in (datasets.data_file(name), f"{name}.json", f"{name}.sha256")]


def bundle_files(bundles: Iterable[Bundle]) -> list[str]:
    """Return the files of bundles of results."""
    return [str(path) for b in bundles for path in (b.cells, b.values, b.provenance, b.checksum)]


@dataclass(frozen=True)
class ExperimentJob:
    """Methods that one job computes: all of the library in an experiment, or one of the user."""

    name: str
    log: str
    experiment: Experiment
    methods: tuple[Method, ...]

    @property
    def outside(self) -> list[str]:
        """Names of further keys: the file of a user's class, ``<task>.<name>``, or the package of a function."""
        names = {outside_key(self.experiment, method) for method in self.methods}
        names |= {package_key(method) for method in self.methods}
        return sorted(names - {""})

    def jobs(self, seed: int) -> list[Job]:
        """Return the job of each method."""
        return [self.experiment.job(method.id, seed) for method in self.methods]

    @property
    def priority(self) -> int:
        """Number of cells times repeats, an estimate of the job's length."""
        return sum(len(list(job.cells())) * job.repeats for job in self.jobs(seed=0))


@dataclass(frozen=True)
class Plan:
    """Jobs of a configuration; paths are relative to the folder of the run."""

    settings: Settings
    root: Path

    @property
    def results(self) -> Path:
        """Folder of the results."""
        return Path(self.settings.results)

    @property
    def experiments(self) -> Iterator[Experiment]:
        """Experiments of all papers."""
        return (e for paper in self.settings.papers.values() for e in paper.experiments.values())

    # -- data and training --

    @cached_property
    def own_data(self) -> dict[str, Mapping[str, Any]]:
        """Requested counts of the user's files; each file is counted once for all methods that use it."""
        return {
            key: request
            for experiment in self.experiments
            if _simulated(experiment.methods.values())
            for key, request in experiment.own_requests.items()
        }

    @cached_property
    def training(self) -> dict[tuple[str, str], TrainingRun]:
        """Training runs by paper and name, one for each seed; none if training is left out."""
        if self.settings.left_out:
            return {}
        runs = (run for paper in self.settings.papers.values() for run in paper.training.values())
        return {(run.paper, run.name): run for each in runs for run in each.repeats}

    def training_data(self, paper: str, run: str) -> list[str]:
        """Return the files with the data of a training run."""
        name = self.training[paper, run].data
        return [f"{RAW}/{OWN_FILES[name]}"] if name in OWN_FILES else prepared_files(name)

    def training_files(self, paper: str, run: str) -> TrainingFiles:
        """Return the files of a training run."""
        return TrainingFiles.locate(self.results, paper, run)

    def _curve(self, paper: str, run: str) -> list[str]:
        files = self.training_files(paper, run)
        return [str(files.curve), str(files.provenance), str(files.checksum)]

    # -- experiments --

    @cached_property
    def experiment_jobs(self) -> list[ExperimentJob]:
        """Jobs of all experiments; a method of the user has a job of its own, so that it changes no other results."""
        return [job for experiment in self.experiments for job in _jobs_of(experiment)]

    def inputs(self, job: ExperimentJob) -> list[str]:
        """Return the data that the methods read."""
        experiment, methods = job.experiment, job.methods
        trained = {(experiment.paper, str(method.training)) for method in methods}
        runs = [key for key, run in self.training.items() if (run.paper, run.id) in trained]
        curves = [file for run in runs for file in self._curve(*run)]
        return [*(self._data(experiment) if _simulated(methods) else ()), *curves]

    def outputs(self, job: ExperimentJob) -> list[str]:
        """Return the bundles of the methods."""
        return bundle_files(self._bundle(job.experiment, method.id) for method in job.methods)

    def _data(self, experiment: Experiment) -> list[str]:
        name = experiment.dataset
        user_files = (path for key in experiment.own_requests for path in files_of_own(Path(PREPARED), key))
        return [*(prepared_files(name) if name else ()), *map(str, user_files)]

    def _bundle(self, experiment: Experiment, method: str) -> Bundle:
        return Bundle.locate(self.results, experiment.paper, experiment.id, method)

    def paper_results(self, paper: Paper) -> list[str]:
        """Return the results of all methods of a paper."""
        pairs = ((e, method) for e in paper.experiments.values() for method in e.methods)
        return bundle_files(self._bundle(*pair) for pair in pairs)

    def computed(self, paper: Paper) -> list[str]:
        """Return all inputs of a paper's drawings with prepared data, so that files removed by repair are rebuilt.

        Snakemake does not rebuild a missing file between a source and an existing figure.
        """
        simulated = [e for e in paper.experiments.values() if _simulated(e.methods.values())]
        data = dict.fromkeys(path for experiment in simulated for path in self._data(experiment))
        runs = [key for key in self.training if key[0] == paper.key]
        return [*self.paper_results(paper), *data, *(path for run in runs for path in self._curve(*run))]

    # -- claims and the audit --

    def table(self, name: str) -> list[str]:
        """Return a table of claims and its checksum list."""
        return [f"{self.results}/claims/{name}.{end}" for end in ("csv", "sha256")]

    def claim_tables(self, paper: Paper) -> list[str]:
        """Return the computed tables of a paper's claims."""
        return [path for name in paper.claims for path in self.table(f"{paper.key}/{name}")]

    @cached_property
    def verdicts(self) -> dict[str, dict[str, Any]]:
        """Parameters of the jobs that judge the claims of a paper, by paper."""
        settings = self.settings
        return {
            key: claim_jobs.paper_job(
                settings.results,
                key,
                {e.id: list(e.methods) for e in settings.papers[key].experiments.values()},
                settings.shortened,
                settings.effort,
            )
            for key in claim_jobs.papers(settings.papers)
        }

    def verdict_inputs(self, paper: str) -> list[str]:
        """Return the results that the claims of a paper read."""
        pairs = ((e, method) for e, methods in self.verdicts[paper]["methods"].items() for method in methods)
        return bundle_files(Bundle.locate(self.results, paper, *pair) for pair in pairs)

    @cached_property
    def audits(self) -> dict[str, dict[str, Any]]:
        """Parameters of the jobs of the audit; a method of the user is not audited."""
        pairs = ((e, m) for e in self.experiments for m in e.methods.values() if not m.added)
        return audit_jobs((e.job(m.id, self.settings.seed) for e, m in pairs), self.settings.effort)

    # -- drawings --

    def drawing_inputs(self, files: Sequence[drawings.Drawing]) -> list[str]:
        """Return the results and tables that some drawings read."""
        methods = dict.fromkeys(
            (file.experiment.paper, file.experiment.id, method)
            for file in files
            for method in file.entry["methods"]
        )
        bundles = (Bundle.locate(self.results, *names) for names in methods)
        return [*bundle_files(bundles), *map(str, drawings.points_files(self.results, files))]

    def list_drawings(self, paper: Paper) -> list[str]:
        """Return the files that the drawing job of a paper writes."""
        return [str(path) for path in drawings.output_files(self.results, paper, self.settings.formats)]

    @cached_property
    def overall(self) -> overall_jobs.OverallJob:
        """Parameters of the job that draws the pictures over all papers."""
        return overall_jobs.overall_job(self.settings, self.root)

    @property
    def overall_drawn(self) -> list[str]:
        """Files of the pictures over all papers."""
        return [str(path) for path in overall_jobs.output_files(self.results, self.settings.formats)]

    @property
    def protocols(self) -> list[str]:
        """Protocols of the ranking."""
        return overall_jobs.protocols(self.settings)


def outside_key(experiment: Experiment, method: Method) -> str:
    """Return the name of the key of a protocol outside the library; empty for the others."""
    name = method.protocol
    if not name:
        return ""
    if is_plugin(name):
        return name.rpartition(":")[0]
    kind = experiment.task.kind
    return f"{kind}.{name}" if source_files(kind, name) else ""


def package_key(method: Method) -> str:
    """Return the name of the key of a function's package; empty for packages in the key of all experiments."""
    if not method.function:
        return ""
    package = NAMED_FUNCTIONS[method.function].package.rpartition(".")[2]
    return package if package in PARTS else ""


def _simulated(methods: Iterable[Method]) -> bool:
    return any(method.protocol for method in methods)


def _jobs_of(experiment: Experiment) -> Iterator[ExperimentJob]:
    name, log = f"{experiment.paper}_{experiment.id}", f"{experiment.paper}/{experiment.id}"
    of_user = [m for m in experiment.methods.values() if m.added or outside_key(experiment, m)]
    of_library = tuple(m for m in experiment.methods.values() if m not in of_user)
    if of_library:
        yield ExperimentJob(f"experiment_{name}", log, experiment, of_library)
    for method in of_user:
        yield ExperimentJob(f"baseline_{name}_{method.id}", f"{log}/{method.id}", experiment, (method,))
