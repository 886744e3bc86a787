"""Checks of experiments and methods: of the grammar at every value of the grid, and of all names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from shuffledp.numerics.argument_ranges import checked_arguments, checks_of
from shuffledp.pipeline.config import grammar as model
from shuffledp.pipeline.config.baselines import joined, wanted
from shuffledp.pipeline.config.config_errors import (
    ConfigurationError,
    check,
    dotted,
    first_error,
    merged_in,
    overridden,
    part_error,
    suggestion,
)
from shuffledp.pipeline.config.config_files import mapping
from shuffledp.pipeline.config.settings import Experiment, Method
from shuffledp.pipeline.experiments import user_files
from shuffledp.pipeline.experiments.bundle import RESERVED
from shuffledp.pipeline.experiments.configurable_functions import NAMED_FUNCTIONS
from shuffledp.pipeline.experiments.grid import is_variable, points, resolve, variables
from shuffledp.pipeline.experiments.job_parts import budget_from, population_from, task_from
from shuffledp.pipeline.experiments.sources import OWN, check_data
from shuffledp.pipeline.experiments.sources.user_file import with_domain
from shuffledp.pipeline.experiments.training_jobs import TrainingRun
from shuffledp.protocols import registry
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import TASKS

SHARED_PARTS = ("task", "data", "population", "budget")


def check_paper(
    key: str,
    place: str,
    raw: Any,
    overrides: Mapping[str, Any],
    rounds: Mapping[str, Mapping[str, TrainingRun]],
) -> None:
    """Check a paper's file against the grammar at each value of every grid variable in turn."""
    resolved = {}
    for name, experiment in mapping(raw, "experiments").items():
        here = f"{place}: experiments.{name}"
        changed = overrides.get(f"{key}.{name}", {}).get("grid", {})
        grid = mapping(experiment, "grid")
        places = {
            g: f"config: overrides.{key}.{name}.grid.{g}" if g in changed else f"{here}.grid.{g}"
            for g in grid
        }
        with merged_in(overridden(overrides, f"{key}.{name}", *_runs_of(key, rounds[name]))):
            _check_grid(grid, places, f"{here}.grid")
            if isinstance(experiment, Mapping):
                _check_resolved(experiment, grid, model.Experiment, here, places, rounds[name])
        if isinstance(experiment, Mapping):
            experiment = {**resolve({**experiment, "grid": {}}, _first_point(grid)), "grid": grid}
        resolved[name] = experiment
    check({**raw, "experiments": resolved} if resolved else raw, model.PaperFile, place)
    if "paper" in raw:
        _check_said(raw, place)


def _runs_of(key: str, rounds: Mapping[str, TrainingRun]) -> list[str]:
    """Return the places of the training runs whose rounds are grid values, as overrides name them."""
    return [f"{key}.training.{run.id}" for run in rounds.values()]


def _check_said(raw: Mapping[str, Any], place: str) -> None:
    """Check that a paper's experiments have a source and its drawings a caption."""
    for part, key in (("experiments", "source"), ("figures", "caption"), ("tables", "caption")):
        for name, about in (raw.get(part) or {}).items():
            if key not in about:
                raise ConfigurationError(f"{place}: {part}.{name}: lacks the key {key!r}.")


def _check_grid(grid: Mapping[str, Any], places: Mapping[str, str], place: str) -> None:
    error = first_error(grid, model.Grid)
    if error is not None:
        (name, *inner), text = error
        here = places.get(str(name), f"{place}.{name}")
        raise ConfigurationError(f"{here}{dotted(tuple(inner)) or ': '}{text}")
    for name in grid:
        if name in RESERVED:
            raise ConfigurationError(f"{place}: {name!r} is a column of every result; choose another name.")


def _first_point(grid: Mapping[str, list[Any]]) -> dict[str, Any]:
    return {name: values[0] for name, values in grid.items()}


def _check_resolved(
    raw: Mapping[str, Any],
    grid: Mapping[str, list[Any]],
    grammar: Any,
    place: str,
    grid_places: Mapping[str, str],
    counted: Container[str] = (),
) -> None:
    """Check a part of a file at each value of one grid variable at a time; ``counted`` variables only at their ends."""
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
        error = first_error(whole, grammar)
        if error is None:
            continue
        where, text = error
        at = _variable_at(raw, where)
        if at is None:
            raise part_error(place, where, text)
        raise ConfigurationError(f"{grid_places[at]}[{step.get(at, 0)}]: {text}")


def _variable_at(raw: Any, where: Sequence[str | int]) -> str | None:
    for part in where:
        if is_variable(raw):
            break
        raw = raw[part]
    return str(raw)[1:] if is_variable(raw) else None


def _built(place: str, build: Callable[[Any], Any], raw: Any, grid: Mapping[str, list[Any]]) -> None:
    """Build an object from a part of the configuration at all points. Raise `ConfigurationError` on failure."""
    for point in points(grid, variables(raw)):
        try:
            build(resolve(raw, point))
        except ValueError as error:
            raise ConfigurationError(f"{place}: {error}") from None


def experiment_from(
    key: str,
    file: str,
    name: str,
    raw: Mapping[str, Any],
    baselines: Sequence[Mapping[str, Any]],
    root: Path,
    rounds: Mapping[str, TrainingRun],
    overrides: Mapping[str, Any],
) -> Experiment:
    """Return an experiment of a paper's file with the methods of baselines, after a check of all names."""
    override = overridden(overrides, f"{key}.{name}", *_runs_of(key, rounds))
    with merged_in(override):
        return replace(_experiment(key, file, name, raw, baselines, root, rounds), override=override)


def _experiment(
    key: str,
    file: str,
    name: str,
    raw: Mapping[str, Any],
    baselines: Sequence[Mapping[str, Any]],
    root: Path,
    rounds: Mapping[str, TrainingRun],
) -> Experiment:
    place = f"{file}: experiments.{name}"
    grid = raw["grid"]
    methods = {m: _method(m, value, f"{place}.methods.{m}") for m, value in raw["methods"].items()}
    places = {m: f"{place}.methods.{m}" for m in methods}
    for baseline in baselines:
        if baseline["task"] != mapping(raw, "task").get("kind") or not wanted(baseline, key, name):
            continue
        joins = joined(baseline)
        for method_id, value in baseline["methods"].items():
            here = f"{baseline['place']}: methods.{method_id}"
            if method_id in methods:
                raise ConfigurationError(
                    f"{here}: {place} has a method of this name already; choose another id."
                )
            places[method_id] = f"{here} (for {key}.{name})"
            grid_places = {g: f"{places[method_id]}: grid.{g}" for g in grid}
            _check_resolved(value, grid, model.Method, places[method_id], grid_places)
            methods[method_id] = replace(_method(method_id, value, here), joins=joins)
    experiment = Experiment(
        paper=key,
        id=name,
        parts={part: raw.get(part) for part in SHARED_PARTS},
        grid=grid,
        accounting=tuple(raw.get("accounting") or ("printed",)),
        repeats=raw.get("repeats", 1),
        methods=methods,
        source=raw.get("source", ""),
        assumed=raw.get("assumed") or {},
        rounds=rounds,
        simulated_at=raw.get("simulated_at") or {},
        spent_at=raw.get("spent_at") or {},
        profile_at=raw.get("profile_at") or {},
        ranked=raw.get("ranked") or {},
    )
    _check_places(experiment, "simulated_at", experiment.simulated_at, place)
    _check_places(experiment, "spent_at", experiment.spent_at, place)
    _check_places(experiment, "profile_at", experiment.profile_at, place)
    ranked_at = {name: [value] for name, value in experiment.ranked.get("where", {}).items()}
    _check_places(experiment, "ranked.where", ranked_at, place)
    _check_parts(experiment, place)
    _check_files(experiment, place, root)
    checked = {m: _checked_method(experiment, method, places[m], root) for m, method in methods.items()}
    for m in raw["methods"]:
        if not checked[m].accounting:
            raise ConfigurationError(f"{places[m]}: it offers none of {', '.join(experiment.accounting)}.")
    used = set().union(*(experiment.variables(method) for method in methods.values()))
    for variable in grid:
        if variable not in used:
            raise ConfigurationError(f"{place}.grid.{variable}: no method refers to ${variable}.")
    return replace(experiment, methods=checked)


def _check_places(experiment: Experiment, key: str, at: Mapping[str, list[Any]], place: str) -> None:
    """Check that every variable is a grid variable and that the grid has at least one of the variable's values."""
    for variable, values in at.items():
        known = experiment.grid.get(variable)
        if known is None:
            raise ConfigurationError(
                f"{place}.{key}: {variable!r} is not a grid variable.{suggestion(variable, experiment.grid)} "
                f"Known: {', '.join(experiment.grid)}."
            )
        if not any(value in known for value in values):
            raise ConfigurationError(
                f"{place}.{key}.{variable}: none of {', '.join(map(str, values))} is in the grid. "
                f"Known: {', '.join(map(str, known))}."
            )


def _check_parts(experiment: Experiment, place: str) -> None:
    """Check conditions beyond the grammar, for example that weights sum to 1."""
    task, grid = experiment.parts["task"], experiment.grid
    if task:
        known = inspect.signature(TASKS[task["kind"]]).parameters
        whole = with_some_domain(task, experiment.parts["data"])
        given = {k: v for k, v in whole.items() if k not in ("kind", "truth", "metrics")}
        _check_keywords(list(known.values()), given, f"{place}.task ({task['kind']})")
        metrics = TASKS[task["kind"]].metrics
        for metric in task.get("metrics", ()):
            if metric not in metrics:
                raise ConfigurationError(
                    f"{place}.task.metrics: {metric!r} is not a metric of a {task['kind']} task. "
                    f"Known: {', '.join(metrics)}."
                )
        parts = {"task": task, "data": experiment.parts["data"]}
        _built(f"{place}.task", lambda b: task_from(with_some_domain(b["task"], b["data"])), parts, grid)
    if experiment.parts["population"]:
        _built(f"{place}.population", population_from, experiment.parts["population"], grid)
    if task and experiment.parts["data"]:
        both = {"task": task, "data": experiment.parts["data"]}
        _built(f"{place}.data", _check_both, both, grid)


def _check_both(parts: Mapping[str, Any]) -> None:
    task = with_some_domain(parts["task"], parts["data"])
    check_data(parts["data"], task_from(task))


def with_some_domain(task: Mapping[str, Any], data: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the task, with a placeholder for a domain that comes from a file of the user."""
    if data is None or data["name"] != OWN or task["kind"] not in ("frequency", "sets"):
        return task
    numbers = {k: 1 if is_variable(v) else v for k, v in task.items()}
    whole = with_domain(numbers, data)
    size = whole.get("domain_size", max(2, numbers.get("set_size", 1)) + whole.get("padding_items", 0))
    return {"domain_size": size, **{k: v for k, v in whole.items() if k not in task}, **task}


def _check_files(experiment: Experiment, place: str, root: Path) -> None:
    for asked in experiment.own_requests.values():
        try:
            user_files.check(asked, root)
        except ValueError as error:
            raise ConfigurationError(f"{place}.data: {error}") from None


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
    if "color" in values and values.get("protocol", method_id) == method_id:
        raise ConfigurationError(f"{place}.color: only an option of a protocol has a color here.")
    if "accounting" in values:
        values["accounting"] = tuple(values["accounting"])
    return Method(id=method_id, **values)


def _checked_method(experiment: Experiment, method: Method, place: str, root: Path) -> Method:
    """Return the method after all checks, with the accountings under which it is computed."""
    if method.function:
        _check_function(method, place)
        _check_kinds(experiment, method, f"{place}.arguments")
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
    options = [p for name, p in found.options().items() if name != "accounting"]
    _check_keywords(options, method.options, f"{place}.options")
    _built(f"{place}.options", partial(_check_options, found), method.options, experiment.grid)
    wanted_here = method.accounting or experiment.accounting
    if (
        method.added
    ):  # one file serves many experiments: each has its own accountings, of which it computes fewer
        wanted_here = tuple(a for a in wanted_here if a in experiment.accounting)
    offered = tuple(a for a in wanted_here if a in found.accountings)
    kind, name = shared["task"]["kind"], str(method.protocol)
    named = name if registry.is_plugin(name) else registry.name_of(kind, name)
    return replace(method, accounting=offered, protocol=named)


def _protocol(kind: str, name: str, place: str, root: Path) -> type[ProtocolBase]:
    try:
        return registry.get(kind, name, root=root)
    except registry.UnknownProtocol as error:
        raise ConfigurationError(f"{place}: {error}") from error


def _check_function(method: Method, place: str) -> None:
    named = NAMED_FUNCTIONS.get(str(method.function))
    if named is None:
        raise ConfigurationError(
            f"{place}.function: no function {method.function!r} in shuffledp.accounting that gives a number and may be "
            f"named here.{suggestion(method.function, NAMED_FUNCTIONS)} Known: {', '.join(sorted(NAMED_FUNCTIONS))}."
        )
    parameters = inspect.signature(named.function).parameters.values()
    _check_keywords([p for p in parameters if p.name != "accounting"], method.arguments, f"{place}.arguments")


def _check_kinds(experiment: Experiment, method: Method, place: str) -> None:
    """Check the type and range of each argument separately; of the rounds of a training run, check only the ends."""
    checks = checks_of(NAMED_FUNCTIONS[str(method.function)].function)
    ends = {
        name: experiment.grid[name][:: max(1, len(experiment.grid[name]) - 1)] for name in experiment.rounds
    }
    for name, value in method.arguments.items():
        check = checks.get(name)
        if check is not None and name != "population":
            _built(place, partial(check, name), value, {**experiment.grid, **ends})


def _check_options(protocol: type[ProtocolBase], given: Mapping[str, Any]) -> None:
    """Check the type and range of each option separately, then the protocol's conditions."""
    checked_arguments(protocol.fit, given)
    protocol.check_options(given)


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
