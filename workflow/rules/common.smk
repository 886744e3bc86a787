# Configuration, file names and helpers that the rules share. No mathematics here.
import json
import os
import signal
import sys

from filelock import FileLock, Timeout
from snakemake.io import _IOFile
from snakemake.logging import logger
from snakemake.script import PythonScript

from shuffledp.pipeline import datasets, forked_jobs, jobs, main_process
from shuffledp.pipeline.claims import claim_jobs
from shuffledp.pipeline.claims import claim_tables as claims
from shuffledp.pipeline.progress import Progress, seconds_before, show
from shuffledp.pipeline.rerun_digests.digest import Code
from shuffledp.pipeline.rerun_digests.source_summaries import Kept, beside_byte_code
from shuffledp.pipeline.experiments.audited import audit_entries, audit_jobs
from shuffledp.pipeline.experiments.bundle import Bundle
from shuffledp.pipeline.experiments.calibrations import share_calibrations
from shuffledp.pipeline.config.config_errors import ConfigurationError
from shuffledp.pipeline.config.config_files import left_aside, read_yaml
from shuffledp.pipeline.experiments.entry_points import entries
from shuffledp.pipeline.experiments.sources.user_file import files_of as files_of_own
from shuffledp.pipeline.experiments.user_files import files_named
from shuffledp.userdata.files import is_remote, located, state_of
from shuffledp.pipeline.experiments.training_jobs import OWN_FILES, TrainingFiles
from shuffledp.pipeline.figures import drawings, overall_jobs
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.pipeline.site.site_files import outputs as site_files

if workflow.remote_exec:  # started on a cluster, for a single job
    jobs.end_with_main_process()
elif not workflow.deployment_settings.deployment_method:
    PythonScript.execute_script = forked_jobs.execute_script
if workflow.is_main_process:
    _IOFile.checksum = main_process.once_per_state(_IOFile.checksum)


def project_file(name):
    """Return the path of a file of the project, which is copied into this folder if the workflow is fetched."""
    path = ROOT / name
    if FETCHED and workflow.is_main_process:
        path.parent.mkdir(parents=True, exist_ok=True)
        with workflow.sourcecache.open(SOURCES.join(f"../{name}"), "rb") as source:
            path.write_bytes(source.read())
    return path


try:
    if FETCHED:
        for paper in config["papers"]:
            project_file(f"config/experiments/{paper}.yaml")
    # Snakemake's own reader overlooks a key given twice.
    for laid_over in map(Path, workflow.overwrite_configfiles):
        if laid_over.suffix in (".yaml", ".yml"):
            read_yaml(laid_over)
    SETTINGS = load_settings(config, ROOT)
    if workflow.is_main_process:  # a job need not look at all others
        main_process.check_writable(map(Path, (".snakemake", "logs", SETTINGS.results)))
except ConfigurationError as mistake:
    sys.exit(f"Configuration error: {mistake}")
except OSError as mistake:
    sys.exit(f"{mistake.filename}: {mistake.strerror}.")

RESULTS = SETTINGS.results
# Folder of a job's files: the folder of the run, or the folder of local copies if a storage provider has the files.
FILES = Path(workflow.modifier.path_modifier.apply_default_storage("files")).parent
os.environ[jobs.FILES] = str(FILES)

PREPARED = "data/prepared"
RAW = "data/raw"
LOGS = "logs"


# The parameter ``code`` of a job is the digest of all code that it reaches, because Snakemake reruns a job only if its
# script changes. Modules as inputs would be slow: every scheduling pass checks every input of every waiting job.
CODE = Code(ROOT, kept=Kept(beside_byte_code()))


def code_of(script, *entries):
    """Return the digest of the code that a script reaches or chooses by name."""
    return CODE.digest(project_file(f"workflow/scripts/{script}"), *entries)


def lock_this_folder():
    """Prevent a second run in this folder by a kernel lock, which is released when the main process ends."""
    global FOLDER_LOCK
    Path(".snakemake").mkdir(exist_ok=True)
    FOLDER_LOCK = FileLock(".snakemake/shuffledp.lock")
    try:
        FOLDER_LOCK.acquire(timeout=0)
    except Timeout:
        raise WorkflowError(
            "Another run is at work in this folder. Wait for it to end, or stop it, then start this one again."
        )


def schedule_when_jobs_end():
    """Lift the limit of the rate of local jobs, which no option can.

    With a limit each job that ends starts one more chain of scheduling passes, which all go on until no job waits.
    """
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


def show_progress():
    """Print a line per finished part, with the remaining time estimated from earlier runs."""
    before = {
        workflow.dag.jobid(job): job.benchmark and seconds_before(Path(job.benchmark))
        for job in workflow.dag.needrun_jobs()
    }
    prefix = (workflow.storage_settings.default_storage_prefix or "").rstrip("/")
    show(logger, Progress(before, (prefix, LOGS, RESULTS)))


def say_what_data_were_used():
    """Print a line per prepared data set, so that substitutes are visible in a long log."""
    for name in datasets.NAMES:
        path = Path(PREPARED) / f"{name}.json"
        if path.is_file():
            about = json.loads(path.read_text(encoding="utf-8"))
            note = f" ({about['note']})" if about["note"] else ""
            print(f"Data {name}: source {about['source']}{note}", file=sys.stderr)
    for key, asked in OWN_DATA.items():
        path = Path(PREPARED) / f"{key}.json"
        if path.is_file():
            about = json.loads(path.read_text(encoding="utf-8"))
            note = f" ({about['note']})" if about["note"] else ""
            print(f"Data {asked['path']}: source own{note}", file=sys.stderr)


def say_what_is_left_out():
    """Print a line if files of experiments are left out, and a line if training runs are left out."""
    if SETTINGS.idle:
        print(left_aside(SETTINGS.idle), file=sys.stderr)
    papers = [paper.key for paper in SETTINGS.papers.values() if paper.training]
    if papers and SETTINGS.left_out:
        print(
            f"Training is left out ({SETTINGS.left_out}): the figures of {', '.join(papers)} show no accuracy.",
            file=sys.stderr,
        )


# -- training --


def prepared_files(name):
    return [
        f"{PREPARED}/{file}"
        for file in (datasets.data_file(name), f"{name}.json", f"{name}.sha256")
    ]


TRAINING = {
    (paper.key, run.id): run
    for paper in SETTINGS.papers.values()
    for run in paper.training.values()
    if not SETTINGS.left_out
}


def training_run(wildcards):
    key = (wildcards.paper, wildcards.run)
    if key not in TRAINING:
        raise WorkflowError(f"No training run {'.'.join(key)} in the configuration.")
    return TRAINING[key]


def data_to_train_on(wildcards):
    name = training_run(wildcards).data
    if name in OWN_FILES:
        return [local(f"{RAW}/{OWN_FILES[name]}")]
    return prepared_files(name)


def training_job(wildcards):
    return training_run(wildcards).job(SETTINGS.seed)


def checkpoint_of(wildcards):
    return str(
        TrainingFiles.of(Path(RESULTS), wildcards.paper, wildcards.run).checkpoint
    )


def curve_of(experiment, method):
    """Return the files of the training run for a method's accuracy."""
    if (experiment.paper, method.training) not in TRAINING:
        return []
    files = TrainingFiles.of(Path(RESULTS), experiment.paper, method.training)
    return [str(files.curve), str(files.provenance), str(files.checksum)]


# -- experiments --

# Requested counts of the user's files; each file is counted once for all methods that use it.
OWN_DATA = {
    key: asked
    for paper in SETTINGS.papers.values()
    for experiment in paper.experiments.values()
    if any(method.protocol for method in experiment.methods.values())
    for key, asked in experiment.own_requests.items()
}


def own_files(experiment):
    """Return the counts of the user's files for an experiment, with their checksums."""
    return [
        str(path)
        for key in experiment.own_requests
        for path in files_of_own(Path(PREPARED), key)
    ]


def own_request(wildcards):
    if wildcards.key not in OWN_DATA:
        raise WorkflowError(f"No data {wildcards.key} in the configuration.")
    return OWN_DATA[wildcards.key]


def own_source(wildcards):
    """Return the user's files, which are never uploaded; changed files are counted again."""
    return [local(str(path)) for path in own_paths(wildcards) if not is_remote(path)]


def own_objects(wildcards):
    """Return times and sizes of the user's files on S3, as a parameter, because Snakemake does not watch these files."""
    return [str(state_of(path)) for path in own_paths(wildcards) if is_remote(path)]


def own_paths(wildcards):
    return files_named(located(ROOT, own_request(wildcards)["path"]))


def setup_of(experiment, method):
    """Return data, code and parameters of one job, which are its only dependences."""
    name = experiment.dataset if method.protocol else None
    data = prepared_files(name) if name else []
    data += own_files(experiment) if method.protocol else []
    job = experiment.job(method.id, SETTINGS.seed)
    return {
        "data": data + curve_of(experiment, method),
        "code": code_of("run_method.py", *entries(job, ROOT)),
        "job": job,
    }


# Computed while the workflow is read, so that mistakes are reported before any job runs.
SETUPS = {
    (paper.key, experiment.id, method.id): setup_of(experiment, method)
    for paper in SETTINGS.papers.values()
    for experiment in paper.experiments.values()
    for method in experiment.methods.values()
}


def setup_for(wildcards):
    key = (wildcards.paper, wildcards.experiment, wildcards.method)
    if key not in SETUPS:
        raise WorkflowError(f"No method {'.'.join(key)} in the configuration.")
    return SETUPS[key]


def data_of(wildcards):
    return setup_for(wildcards)["data"]


def code_of_method(wildcards):
    """Return the digest of a method's code; a change of this code reruns only the jobs of the method."""
    return setup_for(wildcards)["code"]


def results_folder(wildcards):
    """Return the folder of the results, for curves of training runs and pictures of the site."""
    return RESULTS


def job_of(wildcards):
    return setup_for(wildcards)["job"]


# -- figures and tables --

# Digest of all drawing code, for both scripts: neither repeats a drawing of the other.
FIGURE_CODE = code_of("draw_paper.py")


def bundles_for(files):
    """Return the results that some drawings read."""
    wanted = dict.fromkeys(
        (file.experiment.paper, file.experiment.id, method)
        for file in files
        for method in file.entry["methods"]
    )
    bundles = [Bundle.of(Path(RESULTS), *setup) for setup in wanted]
    points = drawings.points_files(Path(RESULTS), files)
    return [
        *(
            str(p)
            for b in bundles
            for p in (b.cells, b.values, b.provenance, b.checksum)
        ),
        *map(str, points),
    ]


def claims_of(paper):
    tables = [
        drawings.claim_file(Path(RESULTS), paper.key, name) for name in paper.claims
    ]
    return [
        str(path) for table in tables for path in (table, table.with_suffix(".sha256"))
    ]


def code_of_claim(wildcards):
    return code_of("claim_table.py", *claims.entries(wildcards.paper, wildcards.claim))


# Verdicts on every claim of a paper, and verdicts of all papers with the headlines; each table has a checksum.
def with_checksum(stem):
    return [f"{RESULTS}/claims/{stem}.csv", f"{RESULTS}/claims/{stem}.sha256"]


CLAIMS, HEADLINES = with_checksum("claims"), with_checksum("headlines")
OPEN_QUESTIONS = with_checksum("open_questions")
VERDICT_JOBS = {
    key: claim_jobs.paper_job(
        RESULTS,
        key,
        {e.id: list(e.methods) for e in SETTINGS.papers[key].experiments.values()},
        SETTINGS.shortened,
        SETTINGS.effort,
    )
    for key in claim_jobs.papers(SETTINGS.papers)
}


def verdict_job(wildcards):
    if wildcards.paper not in VERDICT_JOBS:
        raise WorkflowError(f"No paper with claims is called {wildcards.paper}.")
    return VERDICT_JOBS[wildcards.paper]


def bundles_of_verdicts(wildcards):
    """Return the results that the claims of a paper read."""
    bundles = (
        Bundle.of(Path(RESULTS), wildcards.paper, experiment, method)
        for experiment, methods in verdict_job(wildcards)["methods"].items()
        for method in methods
    )
    return [
        str(path)
        for b in bundles
        for path in (b.cells, b.values, b.provenance, b.checksum)
    ]


def code_of_verdicts(wildcards):
    return code_of("verdicts.py", *claim_jobs.entries(wildcards.paper))


def verdict_tables():
    return [with_checksum(f"{key}/verdicts") for key in VERDICT_JOBS]


def drawn_files(paper):
    return [
        str(path)
        for path in drawings.output_files(Path(RESULTS), paper, SETTINGS.formats)
    ]


def results_of(paper):
    """Return the results of all methods in the configuration."""
    bundles = (
        Bundle.of(Path(RESULTS), paper.key, experiment.id, method)
        for experiment in paper.experiments.values()
        for method in experiment.methods
    )
    return [
        str(path)
        for b in bundles
        for path in (b.cells, b.values, b.provenance, b.checksum)
    ]


def computed_files(paper):
    """Return all inputs of a paper's drawings, including prepared data, so that files removed by repair are rebuilt.

    Snakemake does not rebuild a missing file between a source and an existing figure.
    """
    used = (
        e.dataset
        for e in paper.experiments.values()
        if e.dataset in datasets.NAMES and any(m.protocol for m in e.methods.values())
    )
    return [
        *results_of(paper),
        *(path for name in dict.fromkeys(used) for path in prepared_files(name)),
        *dict.fromkeys(
            path
            for e in paper.experiments.values()
            if any(m.protocol for m in e.methods.values())
            for path in own_files(e)
        ),
        *(
            str(path)
            for key, run in TRAINING
            if key == paper.key
            for files in [TrainingFiles.of(Path(RESULTS), key, run)]
            for path in (files.curve, files.provenance, files.checksum)
        ),
    ]


# -- the audit --

AUDIT = with_checksum("audit")
AUDIT_JOBS = audit_jobs(
    (
        experiment.job(method.id, SETTINGS.seed)
        for paper in SETTINGS.papers.values()
        for experiment in paper.experiments.values()
        for method in experiment.methods.values()
        if not method.added
    ),
    SETTINGS.effort,
)


def audit_job(wildcards):
    if wildcards.share not in AUDIT_JOBS:
        raise WorkflowError(f"No part of the audit is called {wildcards.share}.")
    return AUDIT_JOBS[wildcards.share]


def code_of_audit(wildcards):
    return code_of("audit.py", *audit_entries(audit_job(wildcards)))


def audit_tables():
    return [with_checksum(f"audit/{share}") for share in AUDIT_JOBS]


# The ranking and the pictures over all papers.
OVERALL_JOB = overall_jobs.overall_job(SETTINGS, ROOT)
OVERALL = [
    str(path) for path in overall_jobs.output_files(Path(RESULTS), SETTINGS.formats)
]
PROTOCOLS = overall_jobs.protocols(OVERALL_JOB, SETTINGS)


def kept_overall():
    """Return the tables of the reference for pictures that this run cannot draw."""
    names = [str(path.relative_to(ROOT)) for path in overall_jobs.kept_tables(ROOT)]
    return [local(str(project_file(name))) for name in names]


def bundles_of_overall():
    return [
        str(path)
        for b in overall_jobs.bundles(OVERALL_JOB)
        for path in (b.cells, b.values, b.provenance, b.checksum)
    ]


# All files of the site.
SITE = [f"{RESULTS}/{name}" for name in site_files(list(SETTINGS.papers), PROTOCOLS)]


def captions_of(jobs):
    """Return the captions that some drawings read."""
    return [local(path) for path in sorted({job["caption"] for job in jobs} - {""})]
