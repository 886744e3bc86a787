"""Checks of experiments and methods beyond the grammar: names, and conditions at all points of the grid."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from shuffledp.numerics.argument_ranges import checked_arguments, checks_of
from shuffledp.pipeline.config.baselines import Baseline
from shuffledp.pipeline.config.config_errors import (
    ConfigurationError,
    Place,
    checked,
    collected,
    dotted,
    format_value,
    line_in_file,
    line_in_part,
    merged_in,
    overridden,
    require,
    wrong_key,
)
from shuffledp.pipeline.config.grammar import (
    Experiment as ExperimentGrammar,
    Method as MethodGrammar,
    Override,
    PaperFile,
    grid_values,
)
from shuffledp.pipeline.config.settings import SHARED_PARTS, Experiment, Method
from shuffledp.pipeline.experiments import user_files
from shuffledp.pipeline.experiments.configurable_functions import NAMED_FUNCTIONS
from shuffledp.pipeline.experiments.grid import is_variable, points, resolve, variables
from shuffledp.pipeline.experiments.job_parts import budget_from, population_from, task_from
from shuffledp.pipeline.experiments.sources import OWN, check_data
from shuffledp.pipeline.experiments.sources.user_file import with_domain
from shuffledp.pipeline.experiments.training_jobs import TrainingRun
from shuffledp.protocols import registry
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import TASKS


@dataclass(frozen=True)
class PaperContent:
    """Content of a paper's file with the overrides merged in, and the training run of each variable over rounds."""

    key: str
    file: str
    raw: Any
    rounds: Mapping[str, Mapping[str, TrainingRun]]
    overrides: Mapping[str, Override]

    def override(self, name: str) -> str:
        """Return the places of the overrides of an experiment and its training runs, for messages."""
        runs = (f"{self.key}.training.{run.id}" for run in self.rounds.get(name, {}).values())
        return overridden(self.overrides, f"{self.key}.{name}", *runs)

    def checked(self) -> PaperFile:
        """Return the object that the file describes, with each value of a variable checked where it is used."""
        content: PaperFile = checked(PaperFile, self.raw, self._line, {"grid": None, "depth": 2})
        for part, key in (("experiments", "source"), ("figures", "caption"), ("tables", "caption")):
            for name, about in getattr(content, part).items() if content.paper else ():
                if not getattr(about, key):
                    raise ConfigurationError(f"{self.file}: {part}.{name}: lacks the key {key!r}.")
        return content

    def _line(self, where: Place, text: str) -> str:
        """Return the line of a mistake; a grid of an override has its place there."""
        if where[:1] != ("experiments",) or len(where) == 1:
            return line_in_file(self.file)(where, text)
        name, override = str(where[1]), self.override(str(where[1]))
        changed = self.overrides.get(f"{self.key}.{name}", Override()).grid or ()
        if where[2:3] == ("grid",) and where[3:] and where[3] in changed:
            return f"config: overrides.{self.key}.{name}.{dotted(where[2:])}{text}"
        line = line_in_file(self.file)(where, text)
        return f"{line} (with {override} merged in)" if override else line


def _built(place: str, build: Callable[[Any], Any], raw: Any, grid: Mapping[str, list[Any]]) -> None:
    """Build an object from a part of the configuration at all points. Raise `ConfigurationError` on failure."""
    for point in points(grid, variables(raw)):
        try:
            build(resolve(raw, point))
        except ValueError as error:
            raise ConfigurationError(f"{place}: {error}") from None


def experiment_from(
    content: PaperContent,
    name: str,
    about: ExperimentGrammar,
    baselines: Sequence[Baseline],
    root: Path,
    **fields: Any,
) -> Experiment:
    """Return an experiment of a paper's file with the methods of baselines, after a check of all names."""
    with merged_in(override := content.override(name)):
        experiment = _experiment(content, name, about, baselines, root)
    return experiment.model_copy(update={"override": override, **fields})


def _experiment(
    content: PaperContent, name: str, about: ExperimentGrammar, baselines: Sequence[Baseline], root: Path
) -> Experiment:
    key, place = content.key, f"{content.file}: experiments.{name}"
    methods = {m: _method(m, value, f"{place}.methods.{m}") for m, value in about.methods.items()}
    places = {m: f"{place}.methods.{m}" for m in methods}
    for baseline in baselines:
        if about.task is None or baseline.task != about.task.kind or not baseline.joins(key, name):
            continue
        for method_id, raw in baseline.methods.items():
            method_place = f"{baseline.place}: methods.{method_id}"
            if method_id in methods:
                raise ConfigurationError(
                    f"{method_place}: {place} has a method of this name already; choose another id."
                )
            places[method_id] = f"{method_place} (for {key}.{name})"
            context = {"grid": grid_values(about.grid), "depth": 0}
            value = checked(MethodGrammar, raw, line_in_part(places[method_id]), context)
            methods[method_id] = _method(method_id, value, method_place, baseline.figures)
    experiment = Experiment.model_construct(
        about.model_fields_set,
        **{**dict(about), "methods": methods},
        paper=key,
        id=name,
        rounds=content.rounds.get(name, {}),
    )
    ranked = (
        {}
        if experiment.ranked is None
        else {v: [condition] for v, condition in experiment.ranked.where.items()}
    )
    for part, at in (
        ("simulated_at", experiment.simulated_at),
        ("spent_at", experiment.spent_at),
        ("profile_at", experiment.profile_at),
        ("ranked.where", ranked),
    ):
        _check_places(experiment, part, at, place)
    _check_parts(experiment, place)
    _check_budgets(experiment, places)
    _check_files(experiment, place, root)
    checked_methods = collected(
        partial(_checked_method, experiment, methods[m], places[m], root) for m in methods
    )
    for method in checked_methods:
        if not method.accounting and not method.added:
            raise ConfigurationError(
                f"{places[method.id]}: it offers none of {', '.join(experiment.accounting)}."
            )
    used = set().union(*(experiment.variables(method) for method in methods.values()))
    for variable in experiment.grid:
        if variable not in used:
            raise ConfigurationError(f"{place}.grid.{variable}: no method refers to ${variable}.")
    return experiment.model_copy(update={"methods": {method.id: method for method in checked_methods}})


def _check_places(experiment: Experiment, key: str, at: Mapping[str, list[Any]], place: str) -> None:
    """Check that every variable is a grid variable and that the grid has at least one of the variable's values."""
    for variable, values in at.items():
        require(variable, experiment.grid, f"{place}.{key}: {format_value(variable)} is not a grid variable")
        grid_values = experiment.grid[variable]
        if not any(value in grid_values for value in values):
            raise ConfigurationError(
                f"{place}.{key}.{variable}: none of {', '.join(map(str, values))} is in the grid. "
                f"Known: {', '.join(map(str, grid_values))}."
            )


def _check_parts(experiment: Experiment, place: str) -> None:
    """Check conditions beyond the grammar, for example that weights sum to 1."""
    parts, grid = experiment.shared_parts, experiment.grid
    if "task" in parts:
        whole = with_some_domain(parts["task"], parts.get("data"))
        if "domain_size" in inspect.signature(TASKS[whole["kind"]]).parameters and "domain_size" not in whole:
            raise ConfigurationError(f"{place}.task: lacks the key 'domain_size'.")
        both = {"task": parts["task"], "data": parts.get("data")}
        _built(f"{place}.task", lambda b: task_from(with_some_domain(b["task"], b["data"])), both, grid)
    if "population" in parts:
        _built(f"{place}.population", population_from, parts["population"], grid)
    if "task" in parts and "data" in parts:
        _built(f"{place}.data", _check_both, {part: parts[part] for part in ("task", "data")}, grid)


def _check_budgets(experiment: Experiment, places: Mapping[str, str]) -> None:
    """Check each different budget once, with the place of the first method that has it."""
    checked_before = []
    for method in experiment.methods.values():
        shared = experiment.shared(method)
        if not method.protocol or shared in checked_before:
            continue
        checked_before.append(shared)
        place = places[method.id]
        for part in SHARED_PARTS:
            if part not in shared:
                raise ConfigurationError(
                    f"{place}: a protocol needs the experiment's {part!r}, which is not given."
                )
        if "eps" not in shared["budget"]:
            raise ConfigurationError(f"{place}: its budget lacks the key 'eps'.")
        both = {part: shared[part] for part in ("budget", "population")}
        _built(f"{place}: budget", _check_budget, both, experiment.grid)


def _check_budget(parts: Mapping[str, Any]) -> None:
    budget_from(parts["budget"], population_from(parts["population"]))


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
    for count_request in experiment.own_requests.values():
        try:
            user_files.check(count_request, root)
        except ValueError as error:
            raise ConfigurationError(f"{place}.data: {error}") from None


def _method(
    method_id: str, about: MethodGrammar, place: str, joins: str | Sequence[str] | None = None
) -> Method:
    protocol = about.protocol or (None if about.function else method_id)
    fields = {**dict(about), "protocol": protocol, "id": method_id, "joins": joins}
    return Method.model_construct(about.model_fields_set, **fields)


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
        if "population" in method.given:
            where = f"{place}.arguments.population"
            _built(where, population_from, method.given["population"], experiment.grid)
        return method.model_copy(update={"accounting": method.accounting or experiment.accounting})
    kind, name = experiment.task.kind, str(method.protocol)
    protocol_class = _protocol(kind, name, place, root)
    for accounting in method.accounting or ():
        if accounting not in protocol_class.accountings:
            raise ConfigurationError(
                f"{place}.accounting: {format_value(accounting)} is not offered by {method.protocol!r}. "
                f"It offers: {', '.join(protocol_class.accountings)}."
            )
    options = [p for name, p in protocol_class.options().items() if name != "accounting"]
    _check_keywords(options, method.options, f"{place}.options")
    _built(f"{place}.options", partial(_check_options, protocol_class), method.options, experiment.grid)
    wanted_here = method.accounting or experiment.accounting
    if (
        method.added
    ):  # one file serves many experiments: each has its own accountings, of which it computes fewer
        wanted_here = [a for a in wanted_here if a in experiment.accounting]
    offered = [a for a in wanted_here if a in protocol_class.accountings]
    named = name if registry.is_plugin(name) else registry.name_of(kind, name)
    return method.model_copy(update={"accounting": offered, "protocol": named})


def _protocol(kind: str, name: str, place: str, root: Path) -> type[ProtocolBase]:
    try:
        return registry.get(kind, name, root=root)
    except registry.UnknownProtocol as error:
        raise ConfigurationError(f"{place}: {error}") from error


def _check_function(method: Method, place: str) -> None:
    mistake = (
        f"no function {method.function!r} in shuffledp.accounting that gives a number and may be named here"
    )
    require(method.function, sorted(NAMED_FUNCTIONS), f"{place}.function: {mistake}")
    parameters = inspect.signature(NAMED_FUNCTIONS[method.function].function).parameters.values()
    _check_keywords([p for p in parameters if p.name != "accounting"], method.given, f"{place}.arguments")


def _check_kinds(experiment: Experiment, method: Method, place: str) -> None:
    """Check the type and range of each argument separately; of the rounds of a training run, check only the ends."""
    checks = checks_of(NAMED_FUNCTIONS[str(method.function)].function)
    ends = {
        name: experiment.grid[name][:: max(1, len(experiment.grid[name]) - 1)] for name in experiment.rounds
    }
    for name, value in method.given.items():
        check = checks.get(name)
        if check is not None and name != "population":
            _built(place, partial(check, name), value, {**experiment.grid, **ends})


def _check_options(protocol: type[ProtocolBase], options: Mapping[str, Any]) -> None:
    """Check the type and range of each option separately, then the protocol's conditions."""
    checked_arguments(protocol.fit, options)
    protocol.check_options(options)


def _check_keywords(parameters: list[inspect.Parameter], arguments: Mapping[str, Any], place: str) -> None:
    named = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    needed = [p.name for p in named if p.default is p.empty]
    keywords = {p.name for p in named} | (
        {*arguments} if any(p.kind is p.VAR_KEYWORD for p in parameters) else set()
    )
    if wrong := wrong_key(arguments, needed, keywords):
        raise ConfigurationError(f"{place}: {wrong}")
