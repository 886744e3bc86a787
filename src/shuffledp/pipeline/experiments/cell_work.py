"""What the runner asks of a kind of method: one cell after another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.pipeline.experiments.job_parts import Job

Row = dict[str, Any]


@dataclass
class Work(ABC):
    """A job of one kind.

    Parameters
    ----------
    job : Job
        As `Experiment.job` makes it.
    prepared : Path
        Folder of the prepared data sets.
    root : Path
        Folder that plug-in paths start from.
    results : Path or None
        Folder of results, where a method with training finds its curve.
    """

    job: Job
    prepared: Path
    root: Path
    results: Path | None

    @property
    @abstractmethod
    def accountings(self) -> tuple[str, ...]:
        """The accountings that apply."""

    @abstractmethod
    def labels(self) -> Row:
        """What is the same in all cells."""

    @abstractmethod
    def cell(
        self, point: Mapping[str, Any], accounting: str, resolved: Mapping[str, Any]
    ) -> tuple[Row, list[Row]]:
        """A cell's own entries, and its rows of values.

        Raises
        ------
        Infeasible
            If there is nothing that meets the budget.
        """

    @property
    def data(self) -> tuple[str, str]:
        """Source of the data used, and what figures must say about it."""
        return "none", ""

    @property
    def details(self) -> dict[str, Any]:
        """What provenance says of the data besides: files of the user's own with their checksums."""
        return {}
