"""Checks of figures and tables: experiments, methods, axes and quantities exist, and no number is drawn twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from shuffledp.pipeline.config import ConfigurationError, Experiment, Paper, Settings, load_experiments
from shuffledp.pipeline.config.config_errors import format_value, merged_in, require
from shuffledp.pipeline.config.grammar import Figure, Table
from shuffledp.pipeline.experiments.bundle import (
    CELL_NUMBERS,
    CELL_TEXTS,
    PARAMETER_PREFIX,
    SPENT_METRICS,
    TRAINED_METRICS,
)
from shuffledp.pipeline.figures.drawing_jobs import PAIR, Fields
from shuffledp.pipeline.figures.names import TRUST as TRUSTED

D = TypeVar("D", Figure, Table)


def load_settings(config: Fields, root: Path) -> Settings:
    """Return the settings after a check of the whole configuration, runs and drawings."""
    settings = load_experiments(config, root)
    return replace(settings, papers={key: _selected(paper) for key, paper in settings.papers.items()})


def _selected(paper: Paper) -> Paper:
    figures = {name: _entry(paper, "figures", name, raw) for name, raw in paper.figures.items()}
    tables = {name: _entry(paper, "tables", name, raw) for name, raw in paper.tables.items()}
    return replace(paper, figures=figures, tables=tables)


def _entry(paper: Paper, part: str, name: str, drawing: D) -> D:
    place, named = f"{paper.file}: {part}.{name}", drawing.experiment
    require(
        named, paper.experiments, f"{place}.experiment: no experiment {format_value(named)}", suggest=False
    )
    experiment = paper.experiments[named]
    with merged_in(experiment.override):
        return drawing.model_copy(
            update={"methods": _methods_of(experiment, paper, place, name, drawing.plain())}
        )


def _methods_of(experiment: Experiment, paper: Paper, place: str, name: str, raw: Fields) -> list[str]:
    """Return the methods of a drawing after all checks: its own, and those of baselines that join it."""
    methods = experiment.methods
    stated_methods = list(raw.get("methods") or [m for m, method in methods.items() if not method.added])
    for method in stated_methods:
        mistake = f"{place}.methods: no method {format_value(method)} in experiment {experiment.id!r}"
        require(method, methods, mistake, suggest=False)
    entry = {**raw, "methods": stated_methods}
    _check_entry(entry, experiment, place)
    for m, method in methods.items():
        named = method.joins is not None and method.joins != "all" and f"{paper.key}.{name}" in method.joins
        if m in stated_methods or not (named or (method.joins == "all" and _tells_methods_apart(raw))):
            continue
        with_it = {**entry, "methods": [*entry["methods"], m]}
        try:
            _check_entry(with_it, experiment, place)
        except ConfigurationError as error:
            if named:  # requested by the user, and the error is not in the figure
                raise ConfigurationError(
                    f"config/baselines: methods.{m} cannot join {paper.key}.{name}: {error}"
                ) from None
            continue  # "all" are all that have room for it
        entry = with_it
    _check_points(entry, paper, place)
    return list(entry["methods"])


def _check_entry(entry: Fields, experiment: Experiment, place: str) -> None:
    _check_named(entry, place)
    if entry.get("kind") == "pareto":
        _check_fronts(entry, experiment, place)
    elif "entries" in entry:
        for index, column in enumerate(entry["entries"]):
            where = {**entry.get("where", {}), **column.get("where", {})}
            column_place = f"{place}.entries.{index}"
            _check_by_accounting(entry, column["value"], where, experiment, column_place, CELL_TEXTS)
    else:
        _check_axes(entry, experiment, place)
        _check_quantity(entry, experiment, place)


def _check_named(entry: Fields, place: str) -> None:
    for method in entry.get("controls", ()):
        require(method, entry["methods"], f"{place}.controls: no method {method!r} is drawn")
    for key in ("over", "relative_to"):
        if key in entry:
            require(entry[key], entry["methods"], f"{place}.{key}: no method {entry[key]!r} is drawn")
    for index, column in enumerate(entry.get("entries", ())):
        if "over" in column and column["over"] not in entry["methods"]:
            raise ConfigurationError(f"{place}.entries.{index}.over: no method {column['over']!r} is shown.")


def _check_fronts(entry: Fields, experiment: Experiment, place: str) -> None:
    """Check a picture of fronts: each method has one cell with cost and error."""
    mistake = f"{place}: the cost must be a number of the cells, got {entry['x']!r}"
    require(entry["x"], CELL_NUMBERS, mistake, suggest=False)
    where = dict(entry.get("where", {}))
    trust = where.pop("trust", None)
    if trust is not None:
        require(trust, TRUSTED, f"{place}.where.trust: no trust model {format_value(trust)}")
    _check_by_accounting(entry, entry["y"], where, experiment, place)


def _check_by_accounting(
    entry: Fields,
    value: str,
    where: Fields,
    experiment: Experiment,
    place: str,
    texts: tuple[str, ...] = (),
) -> None:
    """Check a column with a number per method, under each accounting that its ``where`` lists."""
    column = {"methods": entry["methods"], "rows": ["method"], "value": value}
    listed = where.get("accounting")
    for accounting in listed if isinstance(listed, list) else [listed]:
        selected = where if accounting is None else {**where, "accounting": accounting}
        _check_axes({**column, "where": selected}, experiment, place)
        _check_quantity(column, experiment, place, texts)


def _tells_methods_apart(raw: Fields) -> bool:
    """Return whether a drawing can show several methods: any figure, or a table with methods as rows or columns."""
    return "rows" not in raw or "method" in [
        *raw["rows"],
        *raw["columns"],
    ]  # leaderboards have a row per method


def _check_axes(entry: Fields, experiment: Experiment, place: str) -> None:
    """Check that axes exist, that ``where`` has existing values, and that no two numbers coincide."""
    methods = entry["methods"]
    values = {**experiment.grid, "accounting": experiment.accountings(methods), "method": methods}
    axes = [entry[a] for a in ("x", "along", "panels", "curves") if a in entry]
    axes += ["accounting"] if "files" in entry else []
    axes += [*entry.get("rows", []), *entry.get("columns", [])]
    where = entry.get("where", {})
    if "files" in entry and not set(PAIR) <= set(values["accounting"]):
        raise ConfigurationError(
            f"{place}.files: needs printed and exact numbers, got {values['accounting']}; leave it out."
        )
    if "along" in entry:  # x is a number of the cells, and a grid variable runs along the curve
        mistake = f"{place}.along: belongs to an x that is a number of the cells, not to {entry['x']!r}"
        require(entry["x"], [name for name in CELL_NUMBERS if name not in values], mistake, suggest=False)
        axes.remove(entry["x"])
    for axis in [*axes, *where]:
        require(axis, sorted(values), f"{place}: {axis!r} is not a grid variable")
    for axis, value in where.items():
        problem = "is a list, and where takes one value" if isinstance(value, list) else "is not computed"
        require(value, values[axis], f"{place}.where.{axis}: {format_value(value)} {problem}", suggest=False)
    used = {"accounting"}.union(*(experiment.variables(experiment.methods[m]) for m in methods))
    used |= {"method"} if "rows" in entry else set()  # in a figure every method has curves of its own
    if all(len(experiment.methods[m].accounting or ()) == 1 for m in methods):
        used.discard("accounting")  # each method has its own, so that nothing coincides
    for axis in sorted(used - {*axes, *where}):
        if len(values[axis]) > 1:
            other = "rows or columns" if "rows" in entry else "panels or curves"
            raise ConfigurationError(
                f"{place}: {axis!r} has {len(values[axis])} values, which would be drawn over each other: "
                f"pick one under where, or name it as {other}."
            )


def _check_quantity(entry: Fields, experiment: Experiment, place: str, texts: tuple[str, ...] = ()) -> None:
    key = "y" if "y" in entry else "value"
    methods = [experiment.methods[m] for m in entry["methods"]]
    trained = TRAINED_METRICS if any(m.training for m in methods) else ()
    quantities = [
        *experiment.metrics,
        *(m.returns for m in methods if m.function),
        *trained,
        *(SPENT_METRICS if experiment.spent_at else ()),
        *CELL_NUMBERS,
        *texts,
    ]
    if not entry[key].startswith(PARAMETER_PREFIX):
        mistake = f"{place}.{key}: no quantity {format_value(entry[key])} in experiment {experiment.id!r}"
        require(entry[key], dict.fromkeys(quantities), mistake)


def _check_points(entry: Fields, paper: Paper, place: str) -> None:
    table = entry.get("points", {}).get("claims")
    if table is not None:
        if "panels" in entry["points"] and "panels" not in entry:
            raise ConfigurationError(f"{place}.points.panels: the figure has no panels.")
        require(table, paper.claims, f"{place}.points.claims: no table {table!r} of claims")
