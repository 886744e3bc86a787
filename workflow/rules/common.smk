# Configuration, file names and helpers that the rules share. No mathematics here.
import os
import sys

from filelock import FileLock, Timeout

import shuffledp
from shuffledp import datasets
from shuffledp.experiments.config import ConfigurationError, load_settings
from shuffledp.experiments.results import Bundle
from shuffledp.figures import drawings
from shuffledp.protocols import module_path

ROOT = Path(workflow.basedir)
PACKAGE = Path(os.path.relpath(Path(shuffledp.__file__).parent))

try:
    SETTINGS = load_settings(config, ROOT)
except ConfigurationError as mistake:
    sys.exit(f"Configuration error: {mistake}")

RESULTS = SETTINGS.results
PREPARED = "data/prepared"
LOGS = "logs"


def modules(*rooms):
    """Source files of some rooms. Snakemake reruns a job when its script changes but not when a module does; naming
    the modules as inputs closes that gap."""
    return [str(p) for room in rooms for p in sorted(PACKAGE.glob(room))]


# Protocol files are left out on purpose: a job lists its own only, so that adding one reruns nothing else.
CORE = modules(
    "tasks.py",
    "populations.py",
    "storage.py",
    "numerics/*.py",
    "accounting/*.py",
    "protocols/*.py",
    "protocols/*/_*.py",
    "experiments/*.py",
)


def experiment_of(wildcards):
    return SETTINGS.papers[wildcards.paper].experiments[wildcards.experiment]


def lock_this_folder():
    """Keep a second run out of this folder: a kernel lock that the main process holds until it ends, however it ends."""
    global FOLDER_LOCK
    Path(".snakemake").mkdir(exist_ok=True)
    FOLDER_LOCK = FileLock(".snakemake/shuffledp.lock")
    try:
        FOLDER_LOCK.acquire(timeout=0)
    except Timeout:
        raise WorkflowError(
            "Another run is at work in this folder. Wait for it to end, or stop it, then start this one again."
        )
