"""Plain data of the job that draws the pictures over all papers, and the files that the job reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from shuffledp.pipeline.config import Experiment, Settings
from shuffledp.pipeline.experiments.bundle import Bundle
from shuffledp.pipeline.figures.drawing_jobs import PAIR, RankedJob, figure_folder
from shuffledp.pipeline.figures.drawings import PAPERS
from shuffledp.pipeline.figures.names import method_label
from shuffledp.pipeline.manifest import CHECKSUMS, MANIFEST, name_of
from shuffledp.storage import sha256_of

#: Key of the page, and name of the folder of its figures.
KEY = "overall"
TITLE = "All protocols and claims together"
CAPTIONS = PAPERS / KEY / "captions"
RANKING = "ranking"
#: Title of each picture, in the order of the page, and of the ranking.
TITLES = {
    "dumbbells": "Printed and exact error beside a curator's, a row per protocol",
    "best_protocols": "Best protocol and its margin to the second, a cell per setting",
    "by_year": "Error of the protocols by year of publication",
    "profiles": "Delta of the protocols at every eps",
    "robustness": "Central eps that remains if users drop out or collude, a line per protocol",
    "verdicts": "Claims by verdict, a bar per paper",
    "gaps": "Printed over exact numbers, a row per method",
    RANKING: "All protocols at every setting",
}
FIGURES = tuple(name for name in TITLES if name != RANKING)
#: Folder with the table of each picture from a run at the papers' scale.
KEPT = Path("reference/overall")
#: Table with the verdict on each claim from a run at the papers' scale.
KEPT_CLAIMS = KEPT / "claims.csv"
#: Pictures that a run at a smaller scale cannot draw in a useful way: they need many settings, or a curator.
SAMPLED = ("dumbbells", "best_protocols", "by_year", "profiles", "robustness")


class GapJob(TypedDict):
    """Methods of an experiment with printed and exact numbers, and the quantity to compare for each method."""

    paper: str
    experiment: str
    methods: dict[str, str]
    labels: dict[str, str | None]


class OverallJob(TypedDict):
    """Everything that the pictures depend on, except the content of their input files."""

    results: str
    kept: str
    captions: dict[str, str]
    formats: list[str]
    run: dict[str, Any]
    names: dict[str, str]
    ranked: list[RankedJob]
    gaps: list[GapJob]


def overall_job(settings: Settings, root: Path) -> OverallJob:
    """Return the plain data that the pictures depend on; `root` has the kept tables."""
    shortened = bool(settings.shortened)
    experiments = [e for paper in settings.papers.values() for e in paper.experiments.values()]
    return {
        "results": settings.results,
        "kept": str(root / KEPT),
        "captions": {name: sha256_of(CAPTIONS / f"{name}.rst") for name in TITLES},
        "formats": list(settings.formats),
        "run": {"seed": settings.seed, "scale": "shortened" if shortened else "paper"},
        "names": {key: name_of(key, paper.title) for key, paper in settings.papers.items()},
        "ranked": [_ranked(e, settings.results) for e in experiments if e.ranked],
        "gaps": [
            {
                "paper": e.paper,
                "experiment": e.id,
                "methods": methods,
                "labels": {m: method_label(e, e.methods[m]) for m in methods},
            }
            for e in experiments
            if settings.papers[e.paper].kind == "paper" and (methods := _compared(e))
        ],
    }


def _ranked(experiment: Experiment, results: str) -> RankedJob:
    return {
        "results": results,
        "paper": experiment.paper,
        "experiment": experiment.id,
        "methods": [m for m, method in experiment.methods.items() if method.protocol],
        "task": experiment.ranked.task,
        "metric": experiment.metrics[0],
        "unit": "counts" if experiment.task.kind == "frequency" else None,
        "where": dict(experiment.ranked.where),
    }


def _compared(experiment: Experiment) -> dict[str, str]:
    return {
        m: experiment.metrics[0] if method.protocol else method.returns
        for m, method in experiment.methods.items()
        if set(PAIR) <= set(method.accounting or experiment.accounting)
    }


def kept_tables(root: Path) -> list[Path]:
    """Return the kept tables of all pictures."""
    return [root / KEPT / f"{name}.csv" for name in FIGURES]


def protocols(settings: Settings) -> list[str]:
    """Return the protocols of the ranking, sorted."""
    ranked = (e for paper in settings.papers.values() for e in paper.experiments.values() if e.ranked)
    return sorted({method.protocol for e in ranked for method in e.methods.values() if method.protocol})


def bundles(job: OverallJob) -> list[Bundle]:
    """Return the results that the job reads."""
    setups = {
        (str(part["paper"]), str(part["experiment"]), m): None
        for part in (*job["ranked"], *job["gaps"])
        for m in part["methods"]
    }
    return [Bundle.locate(Path(job["results"]), *setup) for setup in setups]


def output_files(results: Path, formats: Sequence[str]) -> list[Path]:
    """Return the files that the job writes."""
    folder = figure_folder(results, KEY)
    ends = {name: ("csv", "rst") if name == RANKING else (*formats, "csv", "rst") for name in TITLES}
    files = [folder / f"{name}.{end}" for name in TITLES for end in ends[name]]
    return [folder / MANIFEST, folder / CHECKSUMS, *files]
