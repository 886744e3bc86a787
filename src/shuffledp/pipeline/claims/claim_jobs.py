"""Claims of the papers as plain data, and the jobs that judge them; to save time, no claim is imported."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module, resources
from inspect import isfunction
from pathlib import Path
from typing import Any

from shuffledp.pipeline import yaml_files

PAPERS = Path(str(resources.files("shuffledp.pipeline.papers")))


def papers_with_claims() -> list[str]:
    """Return the papers whose folder has claims, in alphabetical order.

    Raises ValueError for a folder that has ``claims.yaml`` but no ``*_claims.py``, or the reverse.
    """
    texts, rules = (
        {path.parent.name for path in PAPERS.glob(f"*/{name}")} for name in ("claims.yaml", "*_claims.py")
    )
    if alone := sorted(texts ^ rules):
        raise ValueError(
            f"Nobody reads the claims of {', '.join(alone)}: claims.yaml needs *_claims.py beside it."
        )
    return sorted(texts)


@cache
def content(paper: str) -> Mapping[str, Any]:
    """Return the content of a paper's ``claims.yaml``; raise ValueError for a paper without claims."""
    if paper not in (papers := papers_with_claims()):
        raise ValueError(f"There are no claims of {paper!r}. Known: {', '.join(papers)}.")
    file_content: Mapping[str, Any] = yaml_files.read(PAPERS / paper / "claims.yaml")
    return file_content


def results_read(paper: str) -> Mapping[str, Collection[str]]:
    """Return the methods whose results decide the claims, by experiment; none if the file has no ``reads``.

    A rule that reads other results raises an error, because its job would not depend on them.
    """
    methods: Mapping[str, Collection[str]] = content(paper).get("reads", {})
    return methods


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


@cache
def functions(paper: str, kind: str, answer: str) -> Mapping[str, Callable[..., Any]]:
    """Return the public functions of a paper's modules that return an ``answer``, by name.

    The names of the modules end with ``kind``: ``_claims`` or ``witnesses``.
    """
    modules = [
        import_module(f"shuffledp.pipeline.papers.{paper}.{path.stem}")
        for path in sorted((PAPERS / paper).glob(f"*{kind}.py"))
    ]
    return {
        name: function
        for module in modules
        for name, function in vars(module).items()
        if isfunction(function)
        and function.__annotations__.get("return") == answer
        and function.__module__ == module.__name__
        and not name.startswith("_")
    }
