"""Results that decide the claims of a paper, as ``results_read.py`` in its folder lists them.

A rule that reads other results raises an error, because its job would not depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module, resources
from pathlib import Path

_PAPERS = Path(str(resources.files("shuffledp.pipeline.papers")))


def papers_with_claims() -> list[str]:
    """Return the papers whose folder has claims, in alphabetical order.

    Raises ValueError for texts without functions or functions without texts, which nobody would read.
    """
    texts, functions = (
        {path.parent.name for path in _PAPERS.glob(f"*/{name}")} for name in ("claims.yaml", "*_claims.py")
    )
    if alone := sorted(texts ^ functions):
        raise ValueError(
            f"Nobody reads the claims of {', '.join(alone)}: claims.yaml needs *_claims.py beside it."
        )
    return sorted(texts)


@cache
def results_read(paper: str) -> Mapping[str, tuple[str, ...]]:
    """Return the methods by experiment. Raise ValueError for a paper without a list."""
    if not (_PAPERS / paper / "results_read.py").is_file():
        raise ValueError(
            f"The claims of {paper} need papers/{paper}/results_read.py: write READS, a mapping from an experiment to "
            "the methods whose results the claims read."
        )
    methods: Mapping[str, tuple[str, ...]] = import_module(
        f"shuffledp.pipeline.papers.{paper}.results_read"
    ).READS
    return methods
