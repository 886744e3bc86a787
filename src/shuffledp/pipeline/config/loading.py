"""Loading of the configuration from its files; an error is one line with its place, before any job runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from shuffledp.pipeline.config.baselines import check_baseline_figures, read_baselines
from shuffledp.pipeline.config.config_errors import (
    ConfigurationError,
    check,
    first_error,
    merged_in,
    overridden,
    part_error,
    shown,
    suggestion,
)
from shuffledp.pipeline.config.config_files import (
    DESIGNS,
    DRAWABLE,
    OWN_FOLDER,
    idle_files,
    mapping,
    own_files,
    paper_files,
    place_of,
    read_experiments,
    read_yaml,
)
from shuffledp.pipeline.config.experiments import check_paper, experiment_from
from shuffledp.pipeline.config.folders import results_problem
from shuffledp.pipeline.config.grammar import (
    DesignsFile,
    ExperimentOverride,
    RunFile,
    TrainingOverride,
    TrainingRun as TrainingGrammar,
)
from shuffledp.pipeline.config.settings import Experiment, Paper, Settings
from shuffledp.pipeline.experiments.training_jobs import OWN_FILES, TrainingRun, left_out, missing

OWN_STUDY = "an experiment of our own"
"""Text in place of a citation for a study without one."""


def load_experiments(config: Mapping[str, Any], root: Path) -> Settings:
    """Check the configuration and everything that runs, except the selections of figures and tables."""
    if (root / "config/config.yaml").is_file():
        read_yaml(
            root / "config/config.yaml"
        )  # what Snakemake's own reader overlooks, such as a key given twice
    check(config, RunFile, "config")
    if (problem := results_problem(config["results"], root)) is not None:
        raise ConfigurationError(f"config: {problem}")
    folder = config.get("own", OWN_FOLDER)
    baselines = read_baselines(Path(config["baselines"]), root, folder)
    every = paper_files(root, folder)
    own = [key for key in own_files(root, folder) if key not in config["papers"]]
    if not config["papers"] and not own:
        raise ConfigurationError(
            f"config: papers: the list is empty, and {folder} has no experiment: there is nothing to run."
        )
    for key in config["papers"]:
        if key not in every:
            raise ConfigurationError(
                f"config: papers: no paper {shown(key)}.{suggestion(key, every)} Known: {', '.join(every)}."
            )
    if (root / DESIGNS).is_file():
        check(read_yaml(root / DESIGNS), DesignsFile, DESIGNS)
    raw = {key: read_experiments(root, key, every[key]) for key in (*config["papers"], *own)}
    places = {key: place_of(every[key], root) for key in raw}
    overrides: Mapping[str, Any] = config["overrides"]
    for target, change in overrides.items():
        _check_override(target, change)
    rounds = {key: _rounds_asked_for(value) for key, value in raw.items()}
    contents = dict(raw)
    for target, change in overrides.items():
        _apply_override(target, change, contents, every, root)
    training = {key: _training(key, places[key], value, rounds[key], overrides) for key, value in raw.items()}
    try:
        without = left_out(config.get("learning", "auto"))
    except ValueError as error:
        raise ConfigurationError(f"config: learning: {error}") from None
    papers = {
        key: _paper(key, places[key], value, baselines, root, overrides, training[key], without)
        for key, value in raw.items()
    }
    check_baseline_figures(baselines)
    shortened = frozenset(target.partition(".")[0] for target, change in overrides.items() if change)
    return Settings(
        config["seed"],
        config["results"],
        config["data"]["source"],
        tuple(config["formats"]),
        shortened,
        papers,
        without,
        tuple(idle_files(root, papers)),
        config.get("effort", "full"),
    )


def _check_override(target: str, change: Mapping[str, Any]) -> None:
    of_training = target.partition(".")[2].startswith("training.")
    grammar = TrainingOverride if of_training else ExperimentOverride
    error = first_error(change, grammar)
    if error is not None:
        raise part_error(f"config: overrides.{target}", *error)


def _apply_override(
    target: str, change: Mapping[str, Any], contents: dict[str, Any], every: Mapping[str, Path], root: Path
) -> None:
    """Change the scale of an experiment or a training run; the contents of a paper outside this run are added."""
    key, _, experiment_id = target.partition(".")
    if key not in every:
        raise ConfigurationError(
            f"config: overrides.{target}: no paper {shown(key)}.{suggestion(key, every)} Known: {', '.join(every)}."
        )
    if key not in contents:
        contents[key] = read_experiments(root, key, every[key])
    content = contents[key]
    part, _, run = experiment_id.partition(".")
    if part == "training":
        runs = mapping(content, "training")
        if run not in runs:
            raise ConfigurationError(
                f"config: overrides.{target}: no such training run.{suggestion(run, runs)} "
                f"Known: {', '.join(runs) or 'none'}."
            )
        if isinstance(runs[run], dict):
            runs[run].update(change)
        return
    experiments = mapping(content, "experiments")
    if experiment_id not in experiments:
        known = [f"{key}.{e}" for e in experiments]
        raise ConfigurationError(
            f"config: overrides.{target}: no such experiment.{suggestion(target, known)} Known: {', '.join(known)}."
        )
    grid, other = mapping(experiments[experiment_id], "grid"), change.get("grid", {})
    for name in other:
        if name not in grid:
            raise ConfigurationError(
                f"config: overrides.{target}.grid: no grid variable {name!r}. Known: {', '.join(grid)}."
            )
    if isinstance(experiments[experiment_id], dict):
        experiments[experiment_id].update({**change, "grid": {**grid, **other}} if other else change)


def _rounds_asked_for(raw: Any) -> dict[str, Any]:
    """Return the rounds of the training runs in the paper's file, without overrides."""
    runs = mapping(raw, "training")
    return {name: mapping(runs, name).get("rounds") for name in runs}


def _training(
    key: str, file: str, raw: Any, rounds: Mapping[str, Any], overrides: Mapping[str, Any]
) -> dict[str, TrainingRun]:
    runs = {}
    for name, value in mapping(raw, "training").items():
        with merged_in(overridden(overrides, f"{key}.training.{name}")):
            runs[name] = _training_run(key, f"{file}: training.{name}", name, value, rounds[name])
    return runs


def _training_run(key: str, place: str, name: str, value: Any, rounds: Any) -> TrainingRun:
    error = first_error(value, TrainingGrammar)
    if error is not None:
        raise part_error(place, *error)
    settings = {k: v for k, v in value.items() if k != "data"}
    shortened = f"{settings['rounds']:,} of {rounds:,} rounds" if settings["rounds"] != rounds else ""
    run = TrainingRun(key, name, value["data"]["name"], settings, shortened)
    try:
        run.plan(0)
    except ValueError as problem:
        raise ConfigurationError(f"{place}: {problem}") from None
    return run


def _with_rounds(
    file: str, raw: Any, training: Mapping[str, TrainingRun]
) -> tuple[Any, dict[str, dict[str, TrainingRun]]]:
    """Return a paper's file with rounds in place of ``{evaluated: run}`` in grids, and the changed variables."""
    experiments: dict[str, Any] = {}
    found: dict[str, dict[str, TrainingRun]] = {}
    for name, experiment in mapping(raw, "experiments").items():
        grid = dict(mapping(experiment, "grid"))
        found[name] = {}
        for variable, values in grid.items():
            if not isinstance(values, Mapping) or set(values) != {"evaluated"}:
                continue
            run = values["evaluated"]
            if not isinstance(run, str) or run not in training:
                raise ConfigurationError(
                    f"{file}: experiments.{name}.grid.{variable}.evaluated: no training run {shown(run)}."
                    f"{suggestion(run, training)} Known: {', '.join(training) or 'none'}."
                )
            grid[variable] = training[run].evaluated
            found[name][variable] = training[run]
        experiments[name] = {**experiment, "grid": grid} if found[name] else experiment
    return ({**raw, "experiments": experiments} if any(found.values()) else raw), found


def _paper(
    key: str,
    file: str,
    raw: Any,
    baselines: Sequence[Mapping[str, Any]],
    root: Path,
    overrides: Mapping[str, Any],
    training: Mapping[str, TrainingRun],
    without: str,
) -> Paper:
    raw, rounds = _with_rounds(file, raw, training)
    check_paper(key, file, raw, overrides, rounds)
    experiments = {
        name: replace(
            experiment_from(key, file, name, value, baselines, root, rounds[name], overrides),
            left_out=without,
            study="study" in raw,
        )
        for name, value in raw["experiments"].items()
    }
    _check_training(file, training, experiments, root, without)
    drawn = {part: dict(raw.get(part) or {}) for part in DRAWABLE}
    claims = raw.get("claims") or {}
    for part, others in (("tables", drawn["figures"]), ("claims", {**drawn["figures"], **drawn["tables"]})):
        for name in drawn.get(part, claims):
            if name in others:
                raise ConfigurationError(f"{file}: {part}.{name}: a figure or table has this name already.")
    kind: Literal["paper", "study"] = "study" if "study" in raw else "paper"
    about = raw[kind]
    return Paper(
        key,
        about["title"],
        about.get("citation", OWN_STUDY),
        about.get("doi"),
        experiments,
        drawn["figures"],
        drawn["tables"],
        claims,
        training,
        kind,
        file,
    )


def _check_training(
    file: str,
    training: Mapping[str, TrainingRun],
    experiments: Mapping[str, Experiment],
    root: Path,
    without: str,
) -> None:
    used = {m.training for e in experiments.values() for m in e.methods.values()}
    for name, run in training.items():
        if name not in used:
            raise ConfigurationError(f"{file}: training.{name}: no method uses it.")
        own = root / "data/raw" / OWN_FILES[run.data] if run.data in OWN_FILES else None
        if own is not None and not without and not own.is_file():
            raise ConfigurationError(f"{file}: training.{name}.data: {missing(run.data, own)}")
