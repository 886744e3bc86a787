"""Loading of the configuration from its files; each mistake is one line with its place, before any job runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from shuffledp.pipeline.config.baselines import Baseline, check_baseline_figures, read_baselines
from shuffledp.pipeline.config.config_errors import (
    ConfigurationError,
    checked,
    collected,
    format_value,
    line_in_file,
    line_in_part,
    merged_in,
    overridden,
    require,
)
from shuffledp.pipeline.config.config_files import (
    DESIGNS,
    idle_files,
    mapping,
    own_files,
    paper_files,
    place_of,
    read_experiments,
    read_yaml,
)
from shuffledp.pipeline.config.experiments import PaperContent, experiment_from
from shuffledp.pipeline.config.folders import results_problem
from shuffledp.pipeline.config.grammar import DesignsFile, Override, RunFile, TrainingRun as TrainingGrammar
from shuffledp.pipeline.config.settings import Experiment, Paper, Settings
from shuffledp.pipeline.experiments.training_jobs import OWN_FILES, TrainingRun, left_out, missing

#: Text in place of a citation for a study without one.
OWN_STUDY = "own experiment, of no paper"


def load_experiments(config: Mapping[str, Any], root: Path) -> Settings:
    """Check the configuration and everything that runs, except the selections of figures and tables."""
    if (root / "config/config.yaml").is_file():
        read_yaml(
            root / "config/config.yaml"
        )  # what Snakemake's own reader overlooks, such as a key given twice
    run: RunFile = checked(RunFile, config, line_in_file("config"))
    if (problem := results_problem(run.results, root)) is not None:
        raise ConfigurationError(f"config: {problem}")
    baselines = read_baselines(Path(run.baselines), root, run.own)
    files = paper_files(root, run.own)
    own_keys = [key for key in own_files(root, run.own) if key not in run.papers]
    if not run.papers and not own_keys:
        raise ConfigurationError(
            f"config: papers: the list is empty, and {run.own} has no experiment: there is nothing to run."
        )
    for key in run.papers:
        require(key, files, f"config: papers: no paper {format_value(key)}")
    if (root / DESIGNS).is_file():
        checked(DesignsFile, read_yaml(root / DESIGNS), line_in_file(DESIGNS))
    keys = [*run.papers, *own_keys]
    read = collected(partial(read_experiments, root, key, files[key]) for key in keys)
    contents = dict(zip(keys, read, strict=True))
    rounds = {key: _rounds_asked_for(value) for key, value in contents.items()}
    for target, change in run.overrides.items():
        _apply_override(target, change, contents, files, root)
    try:
        without = left_out(run.learning)
    except ValueError as error:
        raise ConfigurationError(f"config: learning: {error}") from None
    papers = collected(
        partial(
            _paper,
            key,
            place_of(files[key], root),
            contents[key],
            baselines,
            root,
            run.overrides,
            rounds[key],
            without,
        )
        for key in keys
    )
    check_baseline_figures(baselines)
    changed = {
        target.partition(".")[0] for target, change in run.overrides.items() if change.model_fields_set
    }
    return Settings(
        run.seed,
        run.results,
        run.data.source,
        tuple(run.formats),
        frozenset(changed),
        {paper.key: paper for paper in papers},
        without,
        tuple(idle_files(root, keys)),
        run.effort,
        run.site.plain(),
    )


def _apply_override(
    target: str, override: Override, contents: dict[str, Any], files: Mapping[str, Path], root: Path
) -> None:
    """Change the scale of an experiment or a training run; the contents of a paper outside this run are added."""
    change = override.plain()
    key, _, experiment_id = target.partition(".")
    require(key, files, f"config: overrides.{target}: no paper {format_value(key)}")
    if key not in contents:
        contents[key] = read_experiments(root, key, files[key])
    content = contents[key]
    part, _, run = experiment_id.partition(".")
    if part == "training":
        runs = mapping(content, "training")
        require(run, runs, f"config: overrides.{target}: no such training run")
        if isinstance(runs[run], dict):
            runs[run].update(change)
        return
    experiments = mapping(content, "experiments")
    require(target, [f"{key}.{e}" for e in experiments], f"config: overrides.{target}: no such experiment")
    grid, other = mapping(experiments[experiment_id], "grid"), change.get("grid", {})
    for name in other:
        require(name, grid, f"config: overrides.{target}.grid: no grid variable {format_value(name)}")
    if isinstance(experiments[experiment_id], dict):
        experiments[experiment_id].update({**change, "grid": {**grid, **other}} if other else change)


def _rounds_asked_for(raw: Any) -> dict[str, Any]:
    """Return the rounds of the training runs in the paper's file, without overrides."""
    runs = mapping(raw, "training")
    return {name: mapping(runs, name).get("rounds") for name in runs}


def _training_run(key: str, place: str, name: str, value: Any, rounds: Any) -> TrainingRun:
    settings = checked(TrainingGrammar, value, line_in_part(place)).plain()
    data, seeds = settings.pop("data")["name"], settings.pop("seeds", 1)
    shortened = f"{settings['rounds']:,} of {rounds:,} rounds" if settings["rounds"] != rounds else ""
    run = TrainingRun(key, name, data, settings, shortened, seeds)
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
    runs_of_variables: dict[str, dict[str, TrainingRun]] = {}
    for name, experiment in mapping(raw, "experiments").items():
        grid = dict(mapping(experiment, "grid"))
        runs_of_variables[name] = {}
        for variable, values in grid.items():
            if not isinstance(values, Mapping) or set(values) != {"evaluated"}:
                continue
            run, place = values["evaluated"], f"{file}: experiments.{name}.grid.{variable}.evaluated"
            require(run, training, f"{place}: no training run {format_value(run)}")
            grid[variable] = training[run].evaluated
            runs_of_variables[name][variable] = training[run]
        experiments[name] = {**experiment, "grid": grid} if runs_of_variables[name] else experiment
    return (
        {**raw, "experiments": experiments} if any(runs_of_variables.values()) else raw
    ), runs_of_variables


def _paper(
    key: str,
    file: str,
    raw: Any,
    baselines: Sequence[Baseline],
    root: Path,
    overrides: Mapping[str, Override],
    rounds_of_runs: Mapping[str, Any],
    without: str,
) -> Paper:
    training = {}
    for name, value in mapping(raw, "training").items():
        with merged_in(overridden(overrides, f"{key}.training.{name}")):
            training[name] = _training_run(key, f"{file}: training.{name}", name, value, rounds_of_runs[name])
    content = PaperContent(key, file, *_with_rounds(file, raw, training), overrides)
    about = content.checked()
    fields = {"left_out": without, "study": about.study is not None}
    experiments = collected(
        partial(experiment_from, content, name, value, baselines, root, **fields)
        for name, value in about.experiments.items()
    )
    by_name = {experiment.id: experiment for experiment in experiments}
    _check_training(file, training, by_name, root, without)
    for part, others in (("tables", about.figures), ("claims", about.figures | about.tables)):
        for name in getattr(about, part):
            if name in others:
                raise ConfigurationError(f"{file}: {part}.{name}: a figure or table has this name already.")
    title = about.study or about.paper
    return Paper(
        key,
        title.title,
        title.citation or OWN_STUDY,
        getattr(title, "doi", None),
        by_name,
        about.figures,
        about.tables,
        about.claims,
        training=training,
        kind="study" if about.study else "paper",
        file=file,
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
        user_file = root / "data/raw" / OWN_FILES[run.data] if run.data in OWN_FILES else None
        if user_file is not None and not without and not user_file.is_file():
            raise ConfigurationError(f"{file}: training.{name}.data: {missing(run.data, user_file)}")
