"""Files in config/baselines/: the user's methods that join experiments and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from shuffledp.pipeline.config.config_errors import ConfigurationError, check, suggestion
from shuffledp.pipeline.config.config_files import DRAWABLE, NONE, mapping, paper_files, read_yaml
from shuffledp.pipeline.config.grammar import BaselineFile
from shuffledp.pipeline.experiments.grid import is_variable


def read_baselines(folder: Path, root: Path, own: str = NONE) -> list[dict[str, Any]]:
    """Read the files that add methods, in the order of their names, with the experiment of each joined drawing."""
    if (root / folder).resolve() == (root / "config").resolve():
        raise ConfigurationError(
            f"config: baselines: must be a folder of files that add methods, and {folder} has the configuration."
        )
    baselines = []
    for path in sorted((root / folder).glob("*.y*ml")):
        place = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
        content = read_yaml(path)
        check(_without_variables(content), BaselineFile, place)
        baselines.append({**content, "place": place})
    drawn = _experiments_by_drawing(root, own) if baselines else {}
    return [{**baseline, "drawn": drawn} for baseline in baselines]


def wanted(baseline: Mapping[str, Any], key: str, name: str) -> bool:
    """Return whether a baseline joins an experiment: it joins all drawings, or a drawing of this experiment."""
    figures = baseline.get("figures", "all")
    return figures == "all" or any(
        f.partition(".")[0] == key and baseline["drawn"].get(f) == name for f in figures
    )


def joined(baseline: Mapping[str, Any]) -> tuple[str, ...] | Literal["all"]:
    """Return the drawings that a baseline joins, as ``paper.name``."""
    figures = baseline.get("figures", "all")
    return "all" if figures == "all" else tuple(figures)


def _without_variables(value: Any) -> Any:
    """Return a value without grid variables, which are checked later with the experiment's grid."""
    if isinstance(value, Mapping):
        return {k: _without_variables(v) for k, v in value.items() if not is_variable(v)}
    return value


def _experiments_by_drawing(root: Path, own: str) -> dict[str, str]:
    drawn = {}
    for key, path in paper_files(root, own).items():
        content = read_yaml(path)
        for part in DRAWABLE:
            for name in mapping(content, part):
                drawn[f"{key}.{name}"] = str(mapping(mapping(content, part), name).get("experiment"))
    return drawn


def check_baseline_figures(baselines: Sequence[Mapping[str, Any]]) -> None:
    """Raise a `ConfigurationError` if a baseline names a drawing that does not exist."""
    for baseline in baselines:
        figures = baseline.get("figures", "all")
        for figure in [] if figures == "all" else figures:
            if figure not in baseline["drawn"]:
                raise ConfigurationError(
                    f"{baseline['place']}: figures: no figure {figure!r}.{suggestion(figure, baseline['drawn'])} "
                    f"Known: {', '.join(sorted(baseline['drawn']))}."
                )
