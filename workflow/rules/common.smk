# Configuration, file names and helpers that the rules share. No mathematics here.
import json
import os
import sys

from filelock import FileLock, Timeout

from shuffledp.pipeline import code_keys, datasets, jobs
from shuffledp.pipeline.config.config_errors import ConfigurationError
from shuffledp.pipeline.config.config_files import left_aside, read_yaml
from shuffledp.pipeline.experiments.calibrations import share_calibrations
from shuffledp.pipeline.experiments.user_files import files_named
from shuffledp.pipeline.figures import drawings, overall_jobs
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.pipeline.plan import (
    LOGS,
    PREPARED,
    RAW,
    Plan,
    bundle_files,
    prepared_files,
)
from shuffledp.pipeline.run_folders import check_writable
from shuffledp.pipeline.site.site_files import outputs as site_files
from shuffledp.userdata.files import is_remote, located, state_of

# Words of the command line that are no value of an option, as in --cores all.
TARGETS = {
    word
    for before, word in zip(sys.argv, sys.argv[1:])
    if before == "--" or not before.startswith("-")
}


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
        project_file("config/designs.yaml")
        for paper in config["papers"]:
            project_file(f"config/experiments/{paper}.yaml")
    # Snakemake's own reader overlooks a key given twice.
    for laid_over in map(Path, workflow.overwrite_configfiles):
        if laid_over.suffix in (".yaml", ".yml"):
            read_yaml(laid_over)
    SETTINGS = load_settings(config, ROOT)
    if workflow.is_main_process:  # a job need not look at all others
        check_writable(map(Path, (".snakemake", LOGS, SETTINGS.results)))
except ConfigurationError as mistake:
    sys.exit(f"Configuration error: {mistake}")
except OSError as mistake:
    sys.exit(f"{mistake.filename}: {mistake.strerror}.")

PLAN = Plan(SETTINGS, ROOT)
RESULTS = SETTINGS.results
# Folder of a job's files: the folder of the run, or the folder of local copies if a storage provider has the files.
FILES = Path(workflow.modifier.path_modifier.apply_default_storage("files")).parent
os.environ[jobs.FILES] = str(FILES)

# Digests of the code that jobs may use, as parameters of these jobs.
CODE = code_keys.CodeKeys(ROOT)


def prepare_local_jobs():
    """Tell jobs of this machine the number of the main process, and give each one thread of linear algebra."""
    os.environ[jobs.MAIN] = str(os.getpid())
    # Threads of linear algebra double the time of a job.
    os.environ |= {
        f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")
    }
    share_calibrations(Path(".snakemake"))


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


def say_what_data_were_used():
    """Print a line per prepared data set, so that substitutes are visible in a long log."""
    shown = {name: name for name in datasets.NAMES}
    shown |= {key: request["path"] for key, request in PLAN.own_data.items()}
    for name, title in shown.items():
        path = Path(PREPARED) / f"{name}.json"
        if path.is_file():
            about = json.loads(path.read_text(encoding="utf-8"))
            source = "own" if name in PLAN.own_data else about["source"]
            note = f" ({about['note']})" if about["note"] else ""
            print(f"Data {title}: source {source}{note}", file=sys.stderr)


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


def unless_unknown(kind, names, name):
    """Return the entry of a name; raise an error for a name that is not in the configuration."""
    if name not in names:
        raise WorkflowError(f"No {kind} {name} in the configuration.")
    return names[name]


def read_by_checksum(files):
    """Return inputs of which only the checksum lists count: a list names the content of the files of its bundle."""
    lists = [file for file in files if file.endswith(".sha256")]
    return lists + ancient([file for file in files if file not in set(lists)])


def results_folder(wildcards):
    """Return the folder of the results, for bundles of methods and pictures of the site."""
    return RESULTS


def prepared_folder(wildcards):
    """Return the folder of prepared data."""
    return PREPARED


# -- training --


def training_run(wildcards):
    return unless_unknown(
        "training run", PLAN.training, (wildcards.paper, wildcards.run)
    )


def data_to_train_on(wildcards):
    training_run(wildcards)
    files = PLAN.training_data(wildcards.paper, wildcards.run)
    return [local(file) if file.startswith(RAW) else file for file in files]


def training_job(wildcards):
    return training_run(wildcards).job(SETTINGS.seed)


def checkpoint_of(wildcards):
    return str(PLAN.training_files(wildcards.paper, wildcards.run).checkpoint)


# -- files of the user --


def own_request(wildcards):
    return unless_unknown("data", PLAN.own_data, wildcards.key)


def own_paths(wildcards):
    return files_named(located(ROOT, own_request(wildcards)["path"]))


def own_source(wildcards):
    """Return the user's files, which are never uploaded; changed files are counted again."""
    return [local(str(path)) for path in own_paths(wildcards) if not is_remote(path)]


def own_objects(wildcards):
    """Return times and sizes of the user's files on S3, as a parameter, because Snakemake does not watch these files."""
    return [str(state_of(path)) for path in own_paths(wildcards) if is_remote(path)]


# -- claims, the audit and drawings --

CLAIMS, HEADLINES = PLAN.table("claims"), PLAN.table("headlines")
AUDIT, OPEN_QUESTIONS = PLAN.table("audit"), PLAN.table("open_questions")
# Open questions are searched at the papers' scale only.
ASKED = OPEN_QUESTIONS if SETTINGS.effort == "full" else []


def verdict_job(wildcards):
    return unless_unknown("paper with claims", PLAN.verdicts, wildcards.paper)


def bundles_of_verdicts(wildcards):
    verdict_job(wildcards)
    return read_by_checksum(PLAN.verdict_inputs(wildcards.paper))


def verdict_tables():
    return [PLAN.table(f"{key}/verdicts") for key in PLAN.verdicts]


def audit_job(wildcards):
    return unless_unknown("part of the audit", PLAN.audits, wildcards.share)


def audit_tables():
    return [PLAN.table(f"audit/{share}") for share in PLAN.audits]


def kept_overall():
    """Return the tables of the reference for pictures that this run cannot draw."""
    return [
        kept_file(path.relative_to(ROOT)) for path in overall_jobs.kept_tables(ROOT)
    ]


def kept_file(path):
    """Return a file of the reference as an input that no storage provider copies."""
    return local(str(project_file(str(path))))


def kept_claims(wildcards):
    """Return the path of the kept verdicts."""
    return str(ROOT / overall_jobs.KEPT_CLAIMS)


def captions_of(drawing_jobs):
    """Return the captions that some drawings read."""
    return [
        local(path) for path in sorted({job["caption"] for job in drawing_jobs} - {""})
    ]


if workflow.is_main_process:
    outside = {name for planned in PLAN.experiment_jobs for name in planned.outside}
    os.environ[jobs.PLANNED] = json.dumps(CODE.keys(*code_keys.PARTS, *sorted(outside)))
    CODE.save()  # with the digests of all these files, so that no job parses them
