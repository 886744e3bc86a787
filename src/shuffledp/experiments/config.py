"""Checks the configuration: every mistake is one line with its place, before any job runs.

The configuration is data: a file for the run, one per paper, and any number of files that add baselines. This module
turns them into `Settings`; it neither computes nor draws.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import shuffledp.accounting
from shuffledp.experiments.grid import is_variable, points, resolve, variables
from shuffledp.experiments.participants import budget_from, population_from, task_from
from shuffledp.experiments.results import CELL_NUMBERS, PARAMETER_PREFIX, RESERVED, TRAINED_METRICS
from shuffledp.experiments.schema import (
    ConfigurationError,
    check_schema,
    dotted,
    first_error,
    read_yaml,
    suggestion,
)
from shuffledp.experiments.sources import check_data
from shuffledp.experiments.training import OWN_FILES, TrainingRun, left_out, missing
from shuffledp.protocols import ProtocolBase, registry
from shuffledp.tasks import TASKS

SHARED_PARTS = ("task", "data", "population", "budget")
DRAWABLE = ("figures", "tables")
_PAPER_SCHEMA = "paper.schema.yaml"


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with another laid over it, key by key at every depth, as Snakemake's ``--configfile`` does."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = (
            merged(old if isinstance(old, Mapping) else {}, value) if isinstance(value, Mapping) else value
        )
    return result


# -- the checked configuration -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """One line of a comparison: a protocol, or a function of `shuffledp.accounting`.

    With ``training`` the cells of a function have the accuracy of that run, at the round that they are about. One that
    a file of baselines adds is ``added``.
    """

    id: str
    protocol: str | None = None
    function: str | None = None
    label: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    returns: str = "value"
    budget: Mapping[str, Any] | None = None
    accounting: tuple[str, ...] | None = None
    training: str | None = None
    added: bool = False


@dataclass(frozen=True)
class Experiment:
    """A grid of cells and the methods that are computed on it.

    ``rounds`` are the grid variables whose values are the evaluated rounds of a training run, with that run;
    ``left_out`` says why there is no training, if so.
    """

    paper: str
    id: str
    parts: Mapping[str, Any]
    grid: Mapping[str, list[Any]]
    accounting: tuple[str, ...]
    repeats: int
    methods: Mapping[str, Method]
    source: str
    assumed: Mapping[str, str]
    rounds: Mapping[str, TrainingRun] = field(default_factory=dict)
    left_out: str = ""

    @property
    def dataset(self) -> str | None:
        """Name of the real data set, if one is used."""
        name = (self.parts.get("data") or {}).get("name")
        return None if name in (None, "categorical", "uniform") else str(name)

    def accountings(self, methods: Iterable[str]) -> list[str]:
        """What these methods are computed under, in the experiment's order."""
        used = [a for m in methods for a in self.methods[m].accounting or ()]
        return [a for a in dict.fromkeys([*self.accounting, *used]) if a in used]

    def variables(self, method: Method) -> set[str]:
        """The grid variables that a method refers to, itself or through what all protocols share."""
        own = variables([method.options, method.arguments])
        return own | variables(self.shared(method)) if method.protocol else own

    def round_of(self, method: Method) -> str | None:
        """The grid variable that runs over the evaluated rounds of a method's training run."""
        own = (v for v, run in self.rounds.items() if run.id == method.training)
        return next((v for v in own if v in self.variables(method)), None)

    def shared(self, method: Method) -> dict[str, Any]:
        """Task, data, population and budget as this method sees them."""
        shared = {key: value for key, value in self.parts.items() if value is not None}
        if method.budget is not None:
            shared["budget"] = {**shared.get("budget", {}), **method.budget}
        return shared

    def job(self, method_id: str, seed: int) -> dict[str, Any]:
        """Everything that the job of one method depends on, and nothing else (plain data)."""
        method = self.methods[method_id]
        what = {"options": dict(method.options), "arguments": dict(method.arguments)}
        shared = self.shared(method) if method.protocol else {}
        used = self.variables(method)
        if method.training:
            about = {"run": method.training, "round": self.round_of(method), "left_out": self.left_out}
            what["training"] = about
        return {
            "paper": self.paper,
            "experiment": self.id,
            "method": method.id,
            "protocol": method.protocol,
            "function": method.function,
            "returns": method.returns,
            "accounting": list(method.accounting or self.accounting),
            "repeats": self.repeats if method.protocol else 1,
            "seed": seed,
            "grid": {name: list(values) for name, values in self.grid.items() if name in used},
            **shared,
            **what,
        }


@dataclass(frozen=True)
class Paper:
    """A paper: its experiments and training runs, the figures and tables drawn from them, and the tables of its checked
    claims."""

    key: str
    title: str
    citation: str
    doi: str | None
    experiments: Mapping[str, Experiment]
    figures: Mapping[str, Mapping[str, Any]]
    tables: Mapping[str, Mapping[str, Any]]
    claims: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    training: Mapping[str, TrainingRun] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """The whole configuration, checked.

    ``shortened`` are the papers of which a part runs at another scale; ``left_out`` says why nothing is trained, if so.
    """

    seed: int
    results: str
    data_source: str
    formats: tuple[str, ...]
    shortened: frozenset[str]
    papers: Mapping[str, Paper]
    left_out: str = ""


# -- building ----------------------------------------------------------------------------------------------------


def load_settings(config: Mapping[str, Any], root: Path) -> Settings:
    """Check the configuration and everything it refers to.

    Parameters
    ----------
    config : mapping
        Content of config/config.yaml, already merged with what the command line overrides.
    root : Path
        The project's folder; holds ``config/experiments`` and ``workflow/schemas``.

    Raises
    ------
    ConfigurationError
        At the first mistake, in one line with the place.
    """
    schemas = (root / "workflow/schemas").resolve()
    if (root / "config/config.yaml").is_file():
        read_yaml(
            root / "config/config.yaml"
        )  # what Snakemake's own reader overlooks, such as a key given twice
    check_schema(config, schemas, "config.schema.yaml", "config")
    baselines = _read_baselines(Path(config["baselines"]), root, schemas)
    every = _paper_files(root)
    for key in config["papers"]:
        if key not in every:
            raise ConfigurationError(
                f"config: papers: no paper {key!r}.{suggestion(key, every)} Known: {', '.join(every)}."
            )
    raw = {key: read_yaml(every[key]) for key in config["papers"]}
    overrides: Mapping[str, Any] = config["overrides"]
    rounds = {key: _rounds_asked_for(value) for key, value in raw.items()}
    for target, change in overrides.items():
        _apply_override(target, change, raw, every)
    training = {key: _training(key, value, rounds[key], schemas) for key, value in raw.items()}
    try:
        without = left_out(config.get("learning", "auto"))
    except ValueError as error:
        raise ConfigurationError(f"config: learning: {error}") from None
    papers = {
        key: _paper(key, value, baselines, root, schemas, overrides, training[key], without)
        for key, value in raw.items()
    }
    _check_baseline_figures(baselines)
    shortened = frozenset(target.partition(".")[0] for target, change in overrides.items() if change)
    return Settings(
        config["seed"],
        config["results"],
        config["data"]["source"],
        tuple(config["formats"]),
        shortened,
        papers,
        without,
    )


def _paper_files(root: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted((root / "config/experiments").glob("*.yaml"))}


def _place(key: str) -> str:
    return f"config/experiments/{key}.yaml"


def _mapping(value: Any, key: str) -> Mapping[str, Any]:
    """A part of unchecked YAML, empty where it is not a mapping; the schema complains about that later."""
    part = value.get(key) if isinstance(value, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _apply_override(
    target: str, change: Mapping[str, Any], raw: dict[str, Any], every: Mapping[str, Path]
) -> None:
    """Another scale for an experiment or a training run; grids may only name variables that the experiment has."""
    key, _, experiment_id = target.partition(".")
    if key not in every:
        raise ConfigurationError(
            f"config: overrides.{target}: no paper {key!r}.{suggestion(key, every)} Known: {', '.join(every)}."
        )
    content = raw[key] if key in raw else read_yaml(every[key])  # also if the paper is not part of this run
    part, _, run = experiment_id.partition(".")
    if part == "training":
        runs = _mapping(content, "training")
        if run not in runs:
            raise ConfigurationError(
                f"config: overrides.{target}: no such training run.{suggestion(run, runs)} "
                f"Known: {', '.join(runs) or 'none'}."
            )
        if isinstance(runs[run], dict):
            runs[run].update(change)
        return
    experiments = _mapping(content, "experiments")
    if experiment_id not in experiments:
        known = [f"{key}.{e}" for e in experiments]
        raise ConfigurationError(
            f"config: overrides.{target}: no such experiment.{suggestion(target, known)} Known: {', '.join(known)}."
        )
    grid, other = _mapping(experiments[experiment_id], "grid"), change.get("grid", {})
    for name in other:
        if name not in grid:
            raise ConfigurationError(
                f"config: overrides.{target}.grid: no grid variable {name!r}. Known: {', '.join(grid)}."
            )
    if isinstance(experiments[experiment_id], dict):
        experiments[experiment_id].update({**change, "grid": {**grid, **other}} if other else change)


def _rounds_asked_for(raw: Any) -> dict[str, Any]:
    """Rounds of the training runs as the paper's file has them, before anything overrides them."""
    return {
        name: _mapping(_mapping(raw, "training"), name).get("rounds") for name in _mapping(raw, "training")
    }


def _training(key: str, raw: Any, rounds: Mapping[str, Any], schemas: Path) -> dict[str, TrainingRun]:
    """The training runs of a paper's file, checked."""
    runs = {}
    for name, value in _mapping(raw, "training").items():
        place = f"{_place(key)}: training.{name}"
        error = first_error(value, schemas, f"{_PAPER_SCHEMA}#/$defs/training_run")
        if error is not None:
            where = dotted(error[0])
            raise ConfigurationError(f"{place}.{where}{error[1]}" if where else f"{place}: {error[1]}")
        settings = {k: v for k, v in value.items() if k != "data"}
        changed = settings["rounds"] != rounds[name]
        shortened = f"{settings['rounds']:,} of {rounds[name]:,} rounds" if changed else ""
        run = TrainingRun(key, name, value["data"]["name"], settings, shortened)
        try:
            run.plan(0)
        except ValueError as error:
            raise ConfigurationError(f"{place}: {error}") from None
        runs[name] = run
    return runs


def _with_rounds(
    key: str, raw: Any, training: Mapping[str, TrainingRun]
) -> tuple[Any, dict[str, dict[str, TrainingRun]]]:
    """A paper's file with ``{evaluated: run}`` in grids replaced by the rounds, and which variables these were."""
    experiments: dict[str, Any] = {}
    found: dict[str, dict[str, TrainingRun]] = {}
    for name, experiment in _mapping(raw, "experiments").items():
        grid = dict(_mapping(experiment, "grid"))
        found[name] = {}
        for variable, values in grid.items():
            if not isinstance(values, Mapping) or set(values) != {"evaluated"}:
                continue
            run = values["evaluated"]
            if run not in training:
                raise ConfigurationError(
                    f"{_place(key)}: experiments.{name}.grid.{variable}.evaluated: no training run {run!r}."
                    f"{suggestion(run, training)} Known: {', '.join(training) or 'none'}."
                )
            grid[variable] = training[run].evaluated
            found[name][variable] = training[run]
        experiments[name] = {**experiment, "grid": grid} if found[name] else experiment
    return ({**raw, "experiments": experiments} if any(found.values()) else raw), found


def _paper(
    key: str,
    raw: Any,
    baselines: Sequence[Mapping[str, Any]],
    root: Path,
    schemas: Path,
    overrides: Mapping[str, Any],
    training: Mapping[str, TrainingRun],
    without: str,
) -> Paper:
    raw, rounds = _with_rounds(key, raw, training)
    _check_paper(key, raw, schemas, overrides, rounds)
    experiments = {
        name: replace(_experiment(key, name, value, baselines, root, schemas, rounds[name]), left_out=without)
        for name, value in raw["experiments"].items()
    }
    _check_training(key, training, experiments, root, without)
    drawn = {
        part: {
            name: _drawn(key, part, name, value, experiments, baselines)
            for name, value in (raw.get(part) or {}).items()
        }
        for part in DRAWABLE
    }
    claims = raw.get("claims") or {}
    for part, others in (("tables", drawn["figures"]), ("claims", {**drawn["figures"], **drawn["tables"]})):
        for name in drawn.get(part, claims):
            if name in others:
                raise ConfigurationError(
                    f"{_place(key)}: {part}.{name}: a figure or table has this name already."
                )
    about = raw["paper"]
    return Paper(
        key,
        about["title"],
        about["citation"],
        about.get("doi"),
        experiments,
        drawn["figures"],
        drawn["tables"],
        claims,
        training,
    )


def _check_training(
    key: str,
    training: Mapping[str, TrainingRun],
    experiments: Mapping[str, Experiment],
    root: Path,
    without: str,
) -> None:
    """Every run is used, and data that users supply themselves are there."""
    used = {m.training for e in experiments.values() for m in e.methods.values()}
    for name, run in training.items():
        if name not in used:
            raise ConfigurationError(f"{_place(key)}: training.{name}: no method names it.")
        own = root / "data/raw" / OWN_FILES[run.data] if run.data in OWN_FILES else None
        if own is not None and not without and not own.is_file():
            raise ConfigurationError(f"{_place(key)}: training.{name}.data: {missing(run.data, own)}")


def _check_paper(
    key: str,
    raw: Any,
    schemas: Path,
    overrides: Mapping[str, Any],
    rounds: Mapping[str, Mapping[str, TrainingRun]],
) -> None:
    """Schema check of a paper's file with every grid variable replaced by each of its values in turn."""
    place = _place(key)
    resolved = {}
    for name, experiment in _mapping(raw, "experiments").items():
        here = f"{place}: experiments.{name}"
        changed = overrides.get(f"{key}.{name}", {}).get("grid", {})
        grid = _mapping(experiment, "grid")
        _check_grid(grid, schemas, f"{here}.grid")
        places = {
            g: f"config: overrides.{key}.{name}.grid.{g}" if g in changed else f"{here}.grid.{g}"
            for g in grid
        }
        if isinstance(experiment, Mapping):
            _check_resolved(experiment, grid, schemas, "experiment", here, places, rounds[name])
            experiment = {**resolve({**experiment, "grid": {}}, _first_point(grid)), "grid": grid}
        resolved[name] = experiment
    check_schema({**raw, "experiments": resolved} if resolved else raw, schemas, _PAPER_SCHEMA, place)


def _check_grid(grid: Mapping[str, Any], schemas: Path, place: str) -> None:
    error = first_error(grid, schemas, f"{_PAPER_SCHEMA}#/$defs/grid")
    if error is not None:
        raise ConfigurationError(f"{place}.{dotted(error[0])}{error[1]}")
    for name in grid:
        if name in RESERVED:
            raise ConfigurationError(f"{place}: {name!r} is a column of every result; choose another name.")


def _first_point(grid: Mapping[str, list[Any]]) -> dict[str, Any]:
    return {name: values[0] for name, values in grid.items()}


def _check_resolved(
    raw: Mapping[str, Any],
    grid: Mapping[str, list[Any]],
    schemas: Path,
    part: str,
    place: str,
    grid_places: Mapping[str, str],
    counted: Container[str] = (),
) -> None:
    """Check a part of the paper's schema at every value of every variable; the others stay at their first.

    Of a variable in ``counted``, which counts upwards by whole numbers, the first and the last value stand for all.
    """
    rest = {k: v for k, v in raw.items() if k != "grid"}
    used = variables(rest)
    for name in sorted(used - set(grid)):
        raise ConfigurationError(
            f"{place}: ${name} is not a grid variable.{suggestion(f'${name}', [f'${g}' for g in grid])} "
            f"Known: {', '.join(f'${g}' for g in grid) or 'none'}."
        )
    indices = {g: range(max(1, len(grid[g]) - 1) if g in counted else 1, len(grid[g])) for g in grid}
    steps = [{}, *({g: i} for g in grid if g in used for i in indices[g])]
    for step in steps:
        point = {g: values[step.get(g, 0)] for g, values in grid.items()}
        whole = resolve(rest, point) | ({"grid": grid} if "grid" in raw else {})
        error = first_error(whole, schemas, f"{_PAPER_SCHEMA}#/$defs/{part}")
        if error is None:
            continue
        where, text = error
        at = _variable_at(raw, where)
        if at is None:
            raise ConfigurationError(f"{place}.{dotted(where)}{text}" if where else f"{place}: {text}")
        raise ConfigurationError(f"{grid_places[at]}[{step.get(at, 0)}]: {text}")


def _variable_at(raw: Any, where: Sequence[str | int]) -> str | None:
    """Name of the grid variable that stands at a place of the file."""
    for part in where:
        if is_variable(raw):
            break
        raw = raw[part]
    return str(raw)[1:] if is_variable(raw) else None


def _built(place: str, build: Callable[[Any], Any], raw: Any, grid: Mapping[str, list[Any]]) -> None:
    """Build what a part of the configuration stands for at all of its points; what cannot be built is a mistake."""
    for point in points(grid, variables(raw)):
        try:
            build(resolve(raw, point))
        except ValueError as error:
            raise ConfigurationError(f"{place}: {error}") from None


def _experiment(
    key: str,
    name: str,
    raw: Mapping[str, Any],
    baselines: Sequence[Mapping[str, Any]],
    root: Path,
    schemas: Path,
    rounds: Mapping[str, TrainingRun],
) -> Experiment:
    place = f"{_place(key)}: experiments.{name}"
    grid = raw["grid"]
    methods = {m: _method(m, value, f"{place}.methods.{m}") for m, value in raw["methods"].items()}
    places = {m: f"{place}.methods.{m}" for m in methods}
    for baseline in baselines:
        if baseline["task"] != _mapping(raw, "task").get("kind") or not _wanted(baseline, key, name):
            continue
        for method_id, value in baseline["methods"].items():
            here = f"{baseline['place']}: methods.{method_id}"
            if method_id in methods:
                raise ConfigurationError(
                    f"{here}: {place} has a method of this name already; choose another id."
                )
            places[method_id] = f"{here} (for {key}.{name})"
            grid_places = {g: f"{places[method_id]}: grid.{g}" for g in grid}
            _check_resolved(value, grid, schemas, "method", places[method_id], grid_places)
            methods[method_id] = replace(_method(method_id, value, here), added=True)
    experiment = Experiment(
        paper=key,
        id=name,
        parts={part: raw.get(part) for part in SHARED_PARTS},
        grid=grid,
        accounting=tuple(raw.get("accounting") or ("printed",)),
        repeats=raw.get("repeats", 1),
        methods=methods,
        source=raw["source"],
        assumed=raw.get("assumed") or {},
        rounds=rounds,
    )
    _check_parts(experiment, place)
    checked = {m: _checked_method(experiment, method, places[m], root) for m, method in methods.items()}
    for m in raw["methods"]:
        if not checked[m].accounting:
            raise ConfigurationError(f"{places[m]}: it offers none of {', '.join(experiment.accounting)}.")
    used = set().union(*(experiment.variables(method) for method in methods.values()))
    for variable in grid:
        if variable not in used:
            raise ConfigurationError(f"{place}.grid.{variable}: no method refers to ${variable}.")
    return replace(experiment, methods=checked)


def _check_parts(experiment: Experiment, place: str) -> None:
    """What the schema cannot see: keys of another kind of task, weights that do not sum to 1, and the like."""
    task, grid = experiment.parts["task"], experiment.grid
    if task:
        known = inspect.signature(TASKS[task["kind"]]).parameters
        given = {k: v for k, v in task.items() if k not in ("kind", "truth", "metrics")}
        _check_keywords(list(known.values()), given, f"{place}.task ({task['kind']})")
        metrics = TASKS[task["kind"]].metrics
        for metric in task.get("metrics", ()):
            if metric not in metrics:
                raise ConfigurationError(
                    f"{place}.task.metrics: {metric!r} is not a metric of a {task['kind']} task. "
                    f"Known: {', '.join(metrics)}."
                )
        _built(f"{place}.task", task_from, task, grid)
    if experiment.parts["population"]:
        _built(f"{place}.population", population_from, experiment.parts["population"], grid)
    if task and experiment.parts["data"]:
        both = {"task": task, "data": experiment.parts["data"]}
        _built(f"{place}.data", lambda b: check_data(b["data"], task_from(b["task"])), both, grid)


def _wanted(baseline: Mapping[str, Any], key: str, name: str) -> bool:
    """Whether a baseline takes part in an experiment: it does if any of its figures draws the experiment."""
    figures = baseline.get("figures", "all")
    return figures == "all" or any(
        f.partition(".")[0] == key and baseline["drawn"].get(f) == name for f in figures
    )


def _method(method_id: str, raw: Mapping[str, Any], place: str) -> Method:
    values = dict(raw)
    if "function" not in values:
        values.setdefault("protocol", method_id)
    elif "protocol" in values:
        raise ConfigurationError(f"{place}: give either protocol or function, not both.")
    others = ("options", "budget") if "function" in values else ("arguments", "returns", "training")
    for key in others:
        if key in values:
            kind = "protocol" if "function" in values else "function"
            raise ConfigurationError(f"{place}: {key!r} belongs to a method with a {kind}.")
    if "accounting" in values:
        values["accounting"] = tuple(values["accounting"])
    return Method(id=method_id, **values)


def _checked_method(experiment: Experiment, method: Method, place: str, root: Path) -> Method:
    """The method with the accountings that it is computed under."""
    if method.function:
        _check_function(method, place)
        if method.training and experiment.round_of(method) is None:
            raise ConfigurationError(
                f"{place}.training: needs an argument over the rounds of {method.training!r}, a grid variable with "
                f"the value {{evaluated: {method.training}}}."
            )
        if "population" in method.arguments:
            _built(
                f"{place}.arguments.population",
                population_from,
                method.arguments["population"],
                experiment.grid,
            )
        return replace(method, accounting=method.accounting or experiment.accounting)
    shared = experiment.shared(method)
    for part in SHARED_PARTS:
        if part not in shared:
            raise ConfigurationError(
                f"{place}: a protocol needs the experiment's {part!r}, which is not given."
            )
    if "eps" not in shared["budget"]:
        raise ConfigurationError(f"{place}: its budget lacks the key 'eps'.")
    both = {part: shared[part] for part in ("budget", "population")}
    _built(
        f"{place}: budget",
        lambda b: budget_from(b["budget"], population_from(b["population"])),
        both,
        experiment.grid,
    )
    found = _protocol(shared["task"]["kind"], str(method.protocol), place, root)
    for accounting in method.accounting or ():
        if accounting not in found.accountings:
            raise ConfigurationError(
                f"{place}.accounting: {accounting!r} is not offered by {method.protocol!r}. "
                f"It offers: {', '.join(found.accountings)}."
            )
    keywords = list(inspect.signature(found.calibrate).parameters.values())[3:]  # budget, population, task
    _check_keywords([p for p in keywords if p.name != "accounting"], method.options, f"{place}.options")
    offered = tuple(a for a in method.accounting or experiment.accounting if a in found.accountings)
    return replace(method, accounting=offered)


def _protocol(kind: str, name: str, place: str, root: Path) -> type[ProtocolBase]:
    try:
        return registry.get(kind, name, root=root)
    except registry.UnknownProtocol as error:
        raise ConfigurationError(f"{place}: {error}") from None
    except (Exception, SystemExit) as error:  # whatever a file of the user's does when it is imported
        raise ConfigurationError(
            f"{place}: protocol {name!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _check_function(method: Method, place: str) -> None:
    functions = {n: getattr(shuffledp.accounting, n) for n in shuffledp.accounting.__all__}
    known = [
        n
        for n, f in functions.items()
        if inspect.isfunction(f) and f.__annotations__.get("return") in ("float", float)
    ]
    if method.function not in known:
        raise ConfigurationError(
            f"{place}.function: no function {method.function!r} in shuffledp.accounting that gives a number."
            f"{suggestion(method.function, known)} Known: {', '.join(sorted(known))}."
        )
    parameters = inspect.signature(functions[method.function]).parameters.values()
    _check_keywords([p for p in parameters if p.name != "accounting"], method.arguments, f"{place}.arguments")


def _check_keywords(parameters: list[inspect.Parameter], given: Mapping[str, Any], place: str) -> None:
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    named = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    names = sorted(p.name for p in named)
    for key in sorted(set(given) - set(names)):
        if not open_ended:
            raise ConfigurationError(
                f"{place}: unknown key {key!r}.{suggestion(key, names)} Known: {', '.join(names) or 'none'}."
            )
    for parameter in named:
        if parameter.default is parameter.empty and parameter.name not in given:
            raise ConfigurationError(f"{place}: lacks the key {parameter.name!r}.")


def _drawn(
    key: str,
    part: str,
    name: str,
    raw: Mapping[str, Any],
    experiments: Mapping[str, Experiment],
    baselines: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    place = f"{_place(key)}: {part}.{name}"
    experiment = experiments.get(raw["experiment"])
    if experiment is None:
        raise ConfigurationError(
            f"{place}.experiment: no experiment {raw['experiment']!r}. Known: {', '.join(experiments)}."
        )
    everywhere = _added(baselines, experiment)
    own = list(raw.get("methods") or [m for m in experiment.methods if m not in everywhere])
    for method in own:
        if method not in experiment.methods:
            raise ConfigurationError(
                f"{place}.methods: no method {method!r} in experiment {experiment.id!r}. "
                f"Known: {', '.join(experiment.methods)}."
            )
    added = [
        m for m in _added(baselines, experiment, f"{key}.{name}") if m in experiment.methods and m not in own
    ]
    entry = {**raw, "methods": own + added}
    _check_axes(entry, experiment, place)
    _check_quantity(entry, experiment, place)
    _check_formats(entry, place)
    return entry


def _check_axes(entry: Mapping[str, Any], experiment: Experiment, place: str) -> None:
    """Axes exist, ``where`` picks existing values, and no two numbers end up at the same spot."""
    methods = entry["methods"]
    values = {**experiment.grid, "accounting": experiment.accountings(methods), "method": methods}
    axes = [entry[a] for a in ("x", "along", "panels", "curves", "files") if a in entry]
    axes += [*entry.get("rows", []), *entry.get("columns", [])]
    where = entry.get("where", {})
    if "along" in entry:  # x is a number of the cells, and a grid variable runs along the curve
        if entry["x"] not in CELL_NUMBERS or entry["x"] in values:
            raise ConfigurationError(
                f"{place}.along: belongs to an x that is a number of the cells, not to {entry['x']!r}. "
                f"Known: {', '.join(CELL_NUMBERS)}."
            )
        axes.remove(entry["x"])
    for axis in [*axes, *where]:
        if axis not in values:
            raise ConfigurationError(
                f"{place}: {axis!r} is not a grid variable.{suggestion(axis, values)} "
                f"Known: {', '.join(sorted(values))}."
            )
    for axis, value in where.items():
        if value not in values[axis]:
            raise ConfigurationError(
                f"{place}.where.{axis}: {value!r} is not computed. Known: {', '.join(map(str, values[axis]))}."
            )
    used = {"accounting"}.union(*(experiment.variables(experiment.methods[m]) for m in methods))
    used |= {"method"} if "rows" in entry else set()  # in a figure every method has curves of its own
    if all(len(experiment.methods[m].accounting or ()) == 1 for m in methods):
        used.discard("accounting")  # each method has its own, so that nothing coincides
    for axis in sorted(used - {*axes, *where}):
        if len(values[axis]) > 1:
            other = "rows or columns" if "rows" in entry else "panels, curves or files"
            raise ConfigurationError(
                f"{place}: {axis!r} has {len(values[axis])} values, which would be drawn over each other: "
                f"pick one under where, or name it as {other}."
            )


def _check_quantity(entry: Mapping[str, Any], experiment: Experiment, place: str) -> None:
    key = "y" if "y" in entry else "value"
    methods = [experiment.methods[m] for m in entry["methods"]]
    task = experiment.parts["task"]
    metrics = task.get("metrics") or TASKS[task["kind"]].metrics[:1] if task else ()
    trained = TRAINED_METRICS if any(m.training for m in methods) else ()
    known = [*metrics, *(m.returns for m in methods if m.function), *trained, *CELL_NUMBERS]
    if entry[key] not in known and not entry[key].startswith(PARAMETER_PREFIX):
        raise ConfigurationError(
            f"{place}.{key}: no quantity {entry[key]!r} in experiment {experiment.id!r}."
            f"{suggestion(entry[key], known)} Known: {', '.join(dict.fromkeys(known))}."
        )


def _check_formats(entry: Mapping[str, Any], place: str) -> None:
    for key, apply in (
        ("format", lambda text: format(1.0, text)),
        ("panel_label", lambda text: text.format(1)),
    ):
        try:
            apply(entry.get(key, ""))
        except (ValueError, LookupError, AttributeError) as error:
            raise ConfigurationError(f"{place}.{key}: {entry[key]!r} is not a format: {error}") from None


def _added(
    baselines: Sequence[Mapping[str, Any]], experiment: Experiment, drawn: str | None = None
) -> list[str]:
    task = experiment.parts.get("task") or {}
    return [
        method
        for baseline in baselines
        if baseline["task"] == task.get("kind")
        and (drawn is None or baseline.get("figures", "all") == "all" or drawn in baseline["figures"])
        for method in baseline["methods"]
    ]


def _read_baselines(folder: Path, root: Path, schemas: Path) -> list[dict[str, Any]]:
    """Files that add methods, in the order of their names; which experiment each figure draws is looked up here."""
    baselines = []
    for path in sorted((root / folder).glob("*.y*ml")):
        place = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
        content = read_yaml(path)
        check_schema(_without_variables(content), schemas, "baselines.schema.yaml", place)
        baselines.append({**content, "place": place})
    drawn = _experiments_by_drawing(root) if baselines else {}
    return [{**baseline, "drawn": drawn} for baseline in baselines]


def _without_variables(value: Any) -> Any:
    """Without what depends on a grid; that is checked once an experiment says which values it takes."""
    if isinstance(value, Mapping):
        return {k: _without_variables(v) for k, v in value.items() if not is_variable(v)}
    return value


def _experiments_by_drawing(root: Path) -> dict[str, str]:
    drawn = {}
    for key, path in _paper_files(root).items():
        content = read_yaml(path)
        for part in DRAWABLE:
            for name in _mapping(content, part):
                drawn[f"{key}.{name}"] = str(_mapping(_mapping(content, part), name).get("experiment"))
    return drawn


def _check_baseline_figures(baselines: Sequence[Mapping[str, Any]]) -> None:
    for baseline in baselines:
        figures = baseline.get("figures", "all")
        for figure in [] if figures == "all" else figures:
            if figure not in baseline["drawn"]:
                raise ConfigurationError(
                    f"{baseline['place']}: figures: no figure {figure!r}.{suggestion(figure, baseline['drawn'])} "
                    f"Known: {', '.join(sorted(baseline['drawn']))}."
                )


def cells_of(job: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """All (grid point, accounting) pairs of a job, in a fixed order."""
    for point in points(job["grid"], set(job["grid"])):
        for accounting in job["accounting"]:
            yield point, accounting


__all__ = [
    "ConfigurationError",
    "Experiment",
    "Method",
    "Paper",
    "Settings",
    "TrainingRun",
    "cells_of",
    "check_schema",
    "is_variable",
    "load_settings",
    "merged",
    "read_yaml",
]
