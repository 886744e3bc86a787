"""Files in config/baselines/: the user's methods that join experiments and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.pipeline.config.config_errors import (
    ConfigurationError,
    checked,
    format_value,
    line_in_file,
    require,
)
from shuffledp.pipeline.config.config_files import DRAWABLE, NONE, mapping, paper_files, place_of, read_yaml
from shuffledp.pipeline.config.grammar import BaselineFile


@dataclass(frozen=True)
class Baseline:
    """A file that adds methods; ``methods`` has them as the file has them, because each experiment has its own grid.

    ``figures`` are the joined drawings (``paper.name``) or ``"all"``, and ``drawn`` has the experiment of each drawing.
    """

    place: str
    task: str
    methods: Mapping[str, Any]
    figures: Sequence[str]
    drawn: Mapping[str, str]

    def joins(self, key: str, name: str) -> bool:
        """Return whether the methods join an experiment: they join all drawings, or a drawing of this experiment."""
        figures = (f for f in self.figures if f.partition(".")[0] == key)
        return self.figures == "all" or any(self.drawn.get(figure) == name for figure in figures)


def read_baselines(folder: Path, root: Path, own_folder: str = NONE) -> list[Baseline]:
    """Read the files that add methods, in the order of their names, with the experiment of each joined drawing."""
    if (root / folder).resolve() == (root / "config").resolve():
        raise ConfigurationError(
            f"config: baselines: must be a folder of files that add methods, and {folder} has the configuration."
        )
    paths = sorted((root / folder).glob("*.y*ml"))
    experiment_of_drawing = _experiments_by_drawing(root, own_folder) if paths else {}
    baselines = []
    for path in paths:
        place, content = place_of(path, root), read_yaml(path)
        file: BaselineFile = checked(BaselineFile, content, line_in_file(place))
        baselines.append(Baseline(place, file.task, content["methods"], file.figures, experiment_of_drawing))
    return baselines


def _experiments_by_drawing(root: Path, own_folder: str) -> dict[str, str]:
    experiment_of_drawing = {}
    for key, path in paper_files(root, own_folder).items():
        content = read_yaml(path)
        for part in DRAWABLE:
            for name in mapping(content, part):
                experiment_of_drawing[f"{key}.{name}"] = str(
                    mapping(mapping(content, part), name).get("experiment")
                )
    return experiment_of_drawing


def check_baseline_figures(baselines: Sequence[Baseline]) -> None:
    """Raise a `ConfigurationError` if a baseline names a drawing that does not exist."""
    for baseline in baselines:
        for figure in () if baseline.figures == "all" else baseline.figures:
            require(
                figure, sorted(baseline.drawn), f"{baseline.place}: figures: no figure {format_value(figure)}"
            )
