"""Reads and checks the configuration: every mistake is one line with its place, before any job runs.

The configuration is data: a file for the run, one per paper, and any number of files that add baselines. This module
turns them into `Settings`; it neither computes nor draws.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry, Resource

import shuffledp.accounting
from shuffledp.experiments.grid import is_variable, points, resolve, variables
from shuffledp.protocols import registry
from shuffledp.tasks import TASKS

SHARED_PARTS = ("task", "data", "population", "budget")
DRAWABLE = ("figures", "tables")


class ConfigurationError(ValueError):
    """The configuration cannot be run; the message names the place, the value and what is allowed."""


# -- reading ---------------------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """YAML that refuses a key given twice, which plain YAML would silently let the last one win."""


def _unique_mapping(loader: _Loader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=deep)
        if key in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {key!r} is given twice", key_node.start_mark
            )
        seen.add(key)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=deep)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)


def read_yaml(path: Path) -> Any:
    """Content of a YAML file; a missing or malformed file is a `ConfigurationError` that names file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: no such file.") from None
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigurationError(f"{path}{line}: {error.problem}.") from None


@cache
def _validator(schemas: Path, name: str) -> Draft202012Validator:
    contents = {p.name: read_yaml(p) for p in sorted(schemas.glob("*.schema.yaml"))}
    known = Registry().with_resources((key, Resource.from_contents(value)) for key, value in contents.items())
    return Draft202012Validator(contents[name], registry=known)


def check_schema(value: Any, schemas: Path, name: str, place: str) -> None:
    """Raise a one-line `ConfigurationError` if a value does not follow a schema.

    Parameters
    ----------
    value : Any
        Parsed configuration, grid variables already replaced.
    schemas : Path
        Folder of the schemas.
    name : str
        File name of the schema.
    place : str
        Where the value came from, as the message should say.
    """
    error = best_match(_validator(schemas, name).iter_errors(value))
    if error is not None:
        where = ".".join(str(part) for part in error.absolute_path)
        raise ConfigurationError(f"{place}: {where + ': ' if where else ''}{_explained(error)}")


def _looks_like_number(value: Any) -> bool:
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False


def _suggestion(value: Any, known: list[str]) -> str:
    close = get_close_matches(str(value), known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _unknown_key(error: ValidationError) -> str:
    schema, value = cast("dict[str, Any]", error.schema), cast("dict[str, Any]", error.instance)
    known = sorted(schema.get("properties", {}))
    unknown = next(key for key in value if key not in known)
    return f"unknown key {unknown!r}.{_suggestion(unknown, known)} Known: {', '.join(known)}."


def _wrong_type(error: ValidationError) -> str:
    value, wanted = cast("Any", error.instance), cast("str", error.validator_value)
    if wanted in ("number", "integer") and _looks_like_number(value):
        mantissa, _, exponent = value.lower().partition("e")
        advice = (
            f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}"
            if exponent
            else repr(float(value))
        )
        return f"expected a number, got the text {value!r} (YAML reads it as text): write {advice}."
    return f"expected {'an' if wanted[0] in 'aeiou' else 'a'} {wanted}, got {value!r}."


def _explained(error: ValidationError) -> str:
    value, bound = cast("Any", error.instance), cast("Any", error.validator_value)
    explanations: dict[str, Callable[[], str]] = {
        "additionalProperties": lambda: _unknown_key(error),
        "type": lambda: _wrong_type(error),
        "exclusiveMinimum": lambda: f"must be greater than {bound}, got {value!r}.",
        "minimum": lambda: f"must be at least {bound}, got {value!r}.",
        "exclusiveMaximum": lambda: f"must be less than {bound}, got {value!r}.",
        "maximum": lambda: f"must be at most {bound}, got {value!r}.",
        "enum": lambda: (
            f"{value!r} is not one of {', '.join(map(str, bound))}.{_suggestion(value, list(map(str, bound)))}"
        ),
        "required": lambda: f"lacks the key {next(k for k in bound if k not in value)!r}.",
        "minItems": lambda: "must not be empty.",
        "minProperties": lambda: "must not be empty.",
        "uniqueItems": lambda: f"names a value twice: {value!r}.",
        "contains": lambda: f"must contain {bound.get('const')!r}, got {value!r}.",
        "pattern": lambda: f"{value!r} does not have the form {bound}.",
    }
    explain = explanations.get(str(error.validator))
    return explain() if explain else f"{error.message}."


# -- the checked configuration -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """One line of a comparison: a protocol, or a function of `shuffledp.accounting`."""

    id: str
    protocol: str | None = None
    function: str | None = None
    label: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    returns: str = "value"
    budget: Mapping[str, Any] | None = None
    accounting: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Experiment:
    """A grid of cells and the methods that are computed on it."""

    paper: str
    id: str
    parts: Mapping[str, Any]
    grid: Mapping[str, list[Any]]
    accounting: tuple[str, ...]
    repeats: int
    methods: Mapping[str, Method]
    source: str
    assumed: Mapping[str, str]

    @property
    def dataset(self) -> str | None:
        """Name of the real data set, if one is used."""
        name = self.parts.get("data", {}).get("name")
        return None if name in (None, "categorical", "uniform") else str(name)

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
        used = variables(what) | variables(shared)
        return {
            "paper": self.paper,
            "experiment": self.id,
            "method": method.id,
            "protocol": method.protocol,
            "function": method.function,
            "returns": method.returns,
            "accounting": list(method.accounting or self.accounting),
            "repeats": self.repeats,
            "seed": seed,
            "grid": {name: list(values) for name, values in self.grid.items() if name in used},
            **shared,
            **what,
        }


@dataclass(frozen=True)
class Paper:
    """A paper: its experiments, and the figures and tables drawn from them."""

    key: str
    title: str
    citation: str
    doi: str | None
    experiments: Mapping[str, Experiment]
    figures: Mapping[str, Mapping[str, Any]]
    tables: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Settings:
    """The whole configuration, checked."""

    seed: int
    results: str
    data_source: str
    formats: tuple[str, ...]
    scale: str
    papers: Mapping[str, Paper]


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
    schemas = root / "workflow/schemas"
    check_schema(config, schemas, "config.schema.yaml", "config")
    baselines = _read_baselines(Path(config["baselines"]), root, schemas)
    files = {key: root / f"config/experiments/{key}.yaml" for key in config["papers"]}
    for key, path in files.items():
        if not path.is_file():
            known = sorted(p.stem for p in (root / "config/experiments").glob("*.yaml"))
            raise ConfigurationError(f"config: papers: no paper {key!r}. Known: {', '.join(known)}.")
    raw = {key: read_yaml(path) for key, path in files.items()}
    _apply_overrides(raw, config["overrides"])
    papers = {key: _paper(key, value, baselines, root, schemas) for key, value in raw.items()}
    _check_baseline_figures(baselines, papers)
    scale = "shortened" if config["overrides"] else "paper"
    return Settings(
        config["seed"], config["results"], config["data"]["source"], tuple(config["formats"]), scale, papers
    )


def _place(key: str) -> str:
    return f"config/experiments/{key}.yaml"


def _apply_overrides(raw: dict[str, Any], overrides: Mapping[str, Any]) -> None:
    """Another scale for some experiments; grids may only name variables that the experiment has."""
    for target, change in overrides.items():
        key, _, experiment_id = target.partition(".")
        if key not in raw:
            continue  # a paper that is not part of this run
        experiment = (raw[key].get("experiments") or {}).get(experiment_id)
        if experiment is None:
            known = ", ".join(f"{key}.{e}" for e in raw[key].get("experiments") or {})
            raise ConfigurationError(f"config: overrides.{target}: no such experiment. Known: {known}.")
        unknown = set(change.get("grid", {})) - set(experiment.get("grid", {}))
        if unknown:
            raise ConfigurationError(
                f"config: overrides.{target}.grid: no grid variable {sorted(unknown)[0]!r}. "
                f"Known: {', '.join(experiment.get('grid', {}))}."
            )
        experiment["grid"] = {**experiment.get("grid", {}), **change.get("grid", {})}
        if "repeats" in change:
            experiment["repeats"] = change["repeats"]


def _paper(key: str, raw: Any, baselines: list[dict[str, Any]], root: Path, schemas: Path) -> Paper:
    _check_paper(raw, schemas, _place(key))
    experiments = {
        name: _experiment(key, name, value, baselines, root) for name, value in raw["experiments"].items()
    }
    drawn = {
        part: {
            name: _drawn(key, part, name, value, experiments, baselines)
            for name, value in (raw.get(part) or {}).items()
        }
        for part in DRAWABLE
    }
    about = raw["paper"]
    return Paper(
        key,
        about["title"],
        about["citation"],
        about.get("doi"),
        experiments,
        drawn["figures"],
        drawn["tables"],
    )


def _check_paper(raw: Any, schemas: Path, place: str) -> None:
    """Schema check of a paper's file with every grid variable replaced by each of its values in turn."""
    experiments = raw.get("experiments") if isinstance(raw, Mapping) else None
    resolved: dict[str, Any] = {}
    for name, experiment in (experiments or {}).items() if isinstance(experiments, Mapping) else ():
        if not isinstance(experiment, Mapping):
            resolved[name] = experiment
            continue
        grid = experiment.get("grid") if isinstance(experiment.get("grid"), Mapping) else {}
        unknown = variables({k: v for k, v in experiment.items() if k != "grid"}) - set(grid or {})
        if unknown:
            raise ConfigurationError(
                f"{place}: experiments.{name}: ${sorted(unknown)[0]} is not a grid variable. "
                f"Known: {', '.join(f'${g}' for g in grid or {}) or 'none'}."
            )
        resolved[name] = _with_first_values(experiment, grid or {})
    whole = {**raw, "experiments": resolved} if resolved else raw
    check_schema(whole, schemas, "paper.schema.yaml", place)
    for name, experiment in (experiments or {}).items():
        for variable, values in experiment["grid"].items():
            for position, value in enumerate(values):
                first = {g: v[0] for g, v in experiment["grid"].items()} | {variable: value}
                one = {**whole, "experiments": {name: _with_first_values(experiment, first, lists=False)}}
                check_schema(
                    one,
                    schemas,
                    "paper.schema.yaml",
                    f"{place}: experiments.{name}.grid.{variable}[{position}]",
                )


def _with_first_values(
    experiment: Mapping[str, Any], grid: Mapping[str, Any], *, lists: bool = True
) -> dict[str, Any]:
    point = {k: v[0] if lists and isinstance(v, list) and v else v for k, v in grid.items()}
    rest = {k: v for k, v in experiment.items() if k != "grid"}
    return {**resolve(rest, point), **({"grid": experiment["grid"]} if "grid" in experiment else {})}


def _experiment(
    key: str, name: str, raw: Mapping[str, Any], baselines: list[dict[str, Any]], root: Path
) -> Experiment:
    place = f"{_place(key)}: experiments.{name}"
    kind = (raw.get("task") or {}).get("kind")
    methods = {m: _method(m, value) for m, value in raw["methods"].items()}
    for baseline in baselines:
        if baseline["task"] != kind or not _wanted(baseline, key, name, raw):
            continue
        for method_id, value in baseline["methods"].items():
            if method_id in methods:
                raise ConfigurationError(
                    f"{baseline['place']}: methods.{method_id}: {place} has a method of this name already; "
                    "choose another id."
                )
            methods[method_id] = _method(method_id, value)
    experiment = Experiment(
        paper=key,
        id=name,
        parts={part: raw.get(part) for part in SHARED_PARTS},
        grid=raw["grid"],
        accounting=tuple(raw.get("accounting") or ("printed",)),
        repeats=raw.get("repeats", 1),
        methods=methods,
        source=raw["source"],
        assumed=raw.get("assumed") or {},
    )
    for method in methods.values():
        _check_method(experiment, method, f"{place}.methods.{method.id}", root)
    return experiment


def _wanted(baseline: Mapping[str, Any], key: str, name: str, raw: Mapping[str, Any]) -> bool:
    """Whether a baseline takes part in an experiment: it does if any of its figures draws the experiment."""
    figures = baseline.get("figures", "all")
    return figures == "all" or any(
        f.partition(".")[0] == key and baseline["drawn"].get(f) == name for f in figures
    )


def _method(method_id: str, raw: Mapping[str, Any]) -> Method:
    values = dict(raw)
    if "accounting" in values:
        values["accounting"] = tuple(values["accounting"])
    if "function" not in values:
        values.setdefault("protocol", method_id)
    return Method(id=method_id, **values)


def _check_method(experiment: Experiment, method: Method, place: str, root: Path) -> None:
    if method.protocol and method.function:
        raise ConfigurationError(f"{place}: give either protocol or function, not both.")
    if method.function:
        _check_function(experiment, method, place)
        return
    for part in SHARED_PARTS:
        if experiment.shared(method).get(part) is None:
            raise ConfigurationError(
                f"{place}: a protocol needs the experiment's {part!r}, which is not given."
            )
    task = experiment.parts["task"]
    try:
        found = registry.get(task["kind"], str(method.protocol), root=root)
    except registry.UnknownProtocol as error:
        raise ConfigurationError(f"{place}: {error}") from None
    unsupported = set(method.accounting or ()) - set(found.accountings)
    if unsupported:
        raise ConfigurationError(
            f"{place}.accounting: {sorted(unsupported)[0]!r} is not offered by {method.protocol!r}. "
            f"It offers: {', '.join(found.accountings)}."
        )
    _check_keywords(
        found.calibrate,
        method.options,
        f"{place}.options",
        skip=("budget", "population", "task", "accounting"),
    )
    allowed = {"kind", "truth", "metrics", *inspect.signature(TASKS[task["kind"]]).parameters}
    unknown = set(task) - allowed
    if unknown:
        raise ConfigurationError(
            f"{_place(experiment.paper)}: experiments.{experiment.id}.task: {sorted(unknown)[0]!r} does not belong to "
            f"a {task['kind']} task. Known: {', '.join(sorted(allowed))}."
        )
    metrics = TASKS[task["kind"]].metrics
    for metric in task.get("metrics", ()):
        if metric not in metrics:
            raise ConfigurationError(
                f"{_place(experiment.paper)}: experiments.{experiment.id}.task.metrics: {metric!r} is not a metric of "
                f"a {task['kind']} task. Known: {', '.join(metrics)}."
            )


def _check_function(experiment: Experiment, method: Method, place: str) -> None:
    known = [n for n in shuffledp.accounting.__all__ if inspect.isfunction(getattr(shuffledp.accounting, n))]
    if method.function not in known:
        raise ConfigurationError(
            f"{place}.function: no function {method.function!r} in shuffledp.accounting."
            f"{_suggestion(method.function, known)} Known: {', '.join(sorted(known))}."
        )
    _check_keywords(
        getattr(shuffledp.accounting, method.function),
        method.arguments,
        f"{place}.arguments",
        skip=("accounting",),
    )
    for point in points(experiment.grid, variables(method.arguments)):
        resolve(method.arguments, point)


def _check_keywords(
    function: Callable[..., Any], given: Mapping[str, Any], place: str, *, skip: tuple[str, ...]
) -> None:
    parameters = {k: p for k, p in inspect.signature(function).parameters.items() if k not in skip}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    names = sorted(k for k, p in parameters.items() if p.kind is not p.VAR_KEYWORD)
    unknown = sorted(set(given) - set(names))
    if unknown and not open_ended:
        raise ConfigurationError(
            f"{place}: unknown key {unknown[0]!r}.{_suggestion(unknown[0], names)} Known: {', '.join(names) or 'none'}."
        )
    missing = [k for k in names if parameters[k].default is inspect.Parameter.empty and k not in given]
    if missing:
        raise ConfigurationError(f"{place}: lacks the key {missing[0]!r}.")


def _drawn(
    key: str,
    part: str,
    name: str,
    raw: Mapping[str, Any],
    experiments: Mapping[str, Experiment],
    baselines: list[dict[str, Any]],
) -> dict[str, Any]:
    place = f"{_place(key)}: {part}.{name}"
    experiment = experiments.get(raw["experiment"])
    if experiment is None:
        raise ConfigurationError(
            f"{place}.experiment: no experiment {raw['experiment']!r}. Known: {', '.join(experiments)}."
        )
    own = list(
        raw.get("methods") or [m for m in experiment.methods if m not in _added(baselines, experiment)]
    )
    for method in own:
        if method not in experiment.methods:
            raise ConfigurationError(
                f"{place}.methods: no method {method!r} in experiment {experiment.id!r}. "
                f"Known: {', '.join(experiment.methods)}."
            )
    added = [
        m for m in _added(baselines, experiment, f"{key}.{name}") if m in experiment.methods and m not in own
    ]
    axes = {"method", "accounting", *experiment.grid}
    named = [raw[a] for a in ("x", "panels", "curves", "files") if a in raw]
    for axis in [*named, *raw.get("rows", []), *raw.get("columns", []), *raw.get("where", {})]:
        if axis not in axes:
            raise ConfigurationError(
                f"{place}: {axis!r} is not a grid variable. Known: {', '.join(sorted(axes))}."
            )
    return {**raw, "methods": own + added}


def _added(baselines: list[dict[str, Any]], experiment: Experiment, drawn: str | None = None) -> list[str]:
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
    absolute = folder if folder.is_absolute() else root / folder
    files = sorted(absolute.glob("*.yaml")) if absolute.is_dir() else []
    baselines = []
    for path in files:
        place = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
        content = read_yaml(path)
        check_schema(content, schemas, "baselines.schema.yaml", place)
        baselines.append({**content, "place": place, "drawn": _experiments_by_drawing(root)})
    return baselines


def _experiments_by_drawing(root: Path) -> dict[str, str]:
    return {
        f"{path.stem}.{name}": value["experiment"]
        for path in sorted((root / "config/experiments").glob("*.yaml"))
        for part in DRAWABLE
        for name, value in (read_yaml(path).get(part) or {}).items()
    }


def _check_baseline_figures(baselines: list[dict[str, Any]], papers: Mapping[str, Paper]) -> None:
    for baseline in baselines:
        figures = baseline.get("figures", "all")
        for figure in [] if figures == "all" else figures:
            if figure not in baseline["drawn"]:
                raise ConfigurationError(
                    f"{baseline['place']}: figures: no figure {figure!r}. "
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
    "cells_of",
    "check_schema",
    "is_variable",
    "load_settings",
    "read_yaml",
]
