"""Plain data of the jobs that judge claims; to save time, no claim is imported."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from shuffledp.pipeline.claims.results_read import papers_with_claims, results_read


def papers(configured: Collection[str]) -> list[str]:
    """Return the configured papers that have claims, in their order."""
    claimed = papers_with_claims()
    return [paper for paper in configured if paper in claimed]


def paper_job(
    results: str,
    paper: str,
    methods: Mapping[str, Collection[str]],
    shortened: Collection[str],
    effort: str,
) -> dict[str, Any]:
    """Return all data on which a paper's verdicts depend, except the content of results."""
    return {
        "results": results,
        "paper": paper,
        "scale": "shortened" if paper in shortened else "paper",
        "effort": effort,
        "methods": {
            experiment: [method for method in methods_read if method in methods.get(experiment, ())]
            for experiment, methods_read in results_read(paper).items()
        },
    }


def modules(paper: str, kind: str) -> list[str]:
    """Return the modules of a paper that end with ``kind``: ``_claims`` or ``witnesses``."""
    folder = Path(str(resources.files("shuffledp.pipeline.papers") / paper))
    return [f"shuffledp.pipeline.papers.{paper}.{path.stem}" for path in sorted(folder.glob(f"*{kind}.py"))]
