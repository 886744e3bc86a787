"""The command ``shuffledp compare``: its options, and the files that it writes.

Modules that need NumPy are imported inside of functions, so that ``shuffledp --help`` does not load it.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shuffledp.comparison.count_commands import make_percent_printer
from shuffledp.comparison.options import (
    FILES,
    LIMITS,
    RECORDS,
    RELEASES,
    SETTING,
    TASKS,
    WHERE,
    Options,
    with_options,
)
from shuffledp.comparison.setting_options import VALUES_FILE, listed, user_errors, words
from shuffledp.outputs import printable

if TYPE_CHECKING:
    from shuffledp.comparison.recommendation import Recommendation
    from shuffledp.comparison.rows import Compared
    from shuffledp.comparison.user_data import Own
    from shuffledp.outputs import Output
    from shuffledp.tasks import Task

#: Seconds between two progress lines.
PATIENCE = 1.0

_file = click.Path(dir_okay=False, path_type=Path)
_DEFAULT = click.core.ParameterSource.DEFAULT


@click.command()
@with_options(
    *SETTING,
    *RELEASES,
    "task",
    "max_value",
    "levels",
    *RECORDS,
    "protocols",
    "accounting",
    "trust",
    *LIMITS,
    "simulate",
    "poisoned",
    "colluding",
    "dropout",
    "seed",
    task={"type": click.Choice([*TASKS, "mean", "ranges"])},
)
@VALUES_FILE
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Time limit for one protocol, in seconds; above 0.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the recommendation and the rows as a JSON object."
)
@click.option(
    "--columns",
    metavar="FIELDS",
    multiple=True,
    help="Columns of the table, by their fields in the JSON, separated by commas; by default all that fit the line.",
)
@click.option("--rows-only", is_flag=True, help="Print the rows without the recommendation.")
@click.option(
    "--csv-out", type=_file, help="CSV file for all columns; - prints nothing else on standard output."
)
@click.option(
    "--plot", type=_file, help="File for a picture of error against bits: .png, .svg, .pdf or .html."
)
def compare(
    task: str | None,
    population: str | None,
    seconds: float,
    as_json: bool,
    columns: tuple[str, ...],
    rows_only: bool,
    csv_out: Path | None,
    plot: Path | None,
    counts: Path | None,
    values_file: Path | None,
    **arguments: Any,
) -> None:
    """Compare all protocols for your setting, and recommend one: errors, bits, privacy, trust.

    For example: shuffledp compare --users 30000 --domain-size 20 --eps 1 --delta 1e-8
    """
    from shuffledp.accountant.wording import population_named
    from shuffledp.comparison.drawing import checked
    from shuffledp.comparison.rows import table
    from shuffledp.outputs import DASH

    with user_errors(OSError):
        if task in _OWN_OPTIONS:
            named = {"protocols": words("protocols", arguments["protocols"]), "trust": None, "values": None}
            _check_own(task)
            show = {"mean": _mean, "ranges": _ranges}[task]
            show(Options(**arguments | named), seconds, as_json)
            return
        if plot is not None:  # before anything takes long
            checked(plot)
        chosen = words("columns", columns)
        table((), chosen)  # checks the names
        law = None if population is None else population_named(population)
        lists = {name: words(name, arguments[name]) for name in ("protocols", "trust")}
        targets = _targets(csv_out, plot, counts or arguments["data"], lists["protocols"])
        options = Options(
            **arguments | lists | {"population": law, "values": listed(arguments["values"], values_file)}
        )
        if counts is None:
            kind = _kind(task, options)
            _check(kind, options)
        else:
            kind, options = _of_counts(counts, task, options)
        own_data = None if options.data is None else _counted(options)
        for remark in [] if own_data is None else own_data.remarks:
            click.echo(f"Warning: {remark}", err=True)
        cleared: dict[str, Any] = dict.fromkeys(
            (*SIZES[kind], *WHERE, *FILES, "data", "values", "bins", "levels", "low")
        )
        settled = replace(
            options,
            other=False,
            **cleared,
            norm="l2",
            task=_task(kind, own_data, options),
            counts=None if own_data is None else own_data.counts,
        )
        rows, problems = _rows(settled, seconds)
        if own_data is not None and own_data.step != 1:
            rows = tuple(row.scaled(own_data.step) for row in rows)
        about = f"{_who(options, population, own_data)}, {_estimated(kind, own_data, options)}"
        terms = f"{options.neighbours}, {options.accounting or 'best'} accounting"
        budget = f"eps = {options.eps:g} nats, delta = {options.delta:g}, {terms}"
    if csv_out != DASH:
        data_users = 0 if own_data is None else own_data.users
        users_words = f"--population {population}" if population else f"--users {options.users or data_users}"
        if options.dropout:
            users_words += f" --dropout {options.dropout!r}"
        domain = (
            f"{users_words} {_domain_words(settled.task, options, counts, arguments['values'], values_file)}"
        )
        hint = "" if counts or options.values or options.bins else _places(kind, own_data)
        total = float(own_data.counts @ own_data.values) if own_data and kind == "summation" else 0.0
        _show(rows, settled, seconds, _Form(chosen, as_json, rows_only), _Data(domain, hint, total))
    with user_errors(OSError):  # after the table, which a file that cannot be written leaves as it is
        _write(rows, targets, f"{about}, {budget}")
    if problems:
        raise click.ClickException(" ".join(problems))


#: Options of the tasks with rows of their own; the first ones are required.
_OWN_OPTIONS = {
    "mean": ("users", "max_value", "task", "eps", "delta", "protocols", "accounting", "seconds", "as_json"),
    "ranges": ("users", "domain_size", "task", "eps", "delta", "protocols", "as_json"),
}


def _check_own(task: str) -> None:
    """Raise ValueError for an option of other tasks, or without an option of this task."""
    context, names = click.get_current_context(), _OWN_OPTIONS[task]
    for option in context.command.params:
        if option.name not in names and context.get_parameter_source(str(option.name)) is not _DEFAULT:
            raise ValueError(f"{option.opts[0]} must be left out for --task {task}.")
    if any(context.params[name] is None for name in names[:2]):
        raise ValueError(f"--task {task} needs {' and '.join(map(_option, names[:2]))}.")


def _mean(options: Options, seconds: float, as_json: bool) -> None:
    """Print the rows of mean and variance for uniform numbers."""
    import numpy as np

    from shuffledp.comparison.moments import moment_rows, moment_table

    _check("summation", options)
    counts = np.ones(int(options.max_value or 0) + 1, np.int64)
    sums = replace(options, max_value=None)
    rows = moment_rows(sums, counts, lambda of_sum: _rows(of_sum, seconds)[0])
    written = json.dumps({"rows": [row.as_dict() for row in rows]}, indent=2, allow_nan=False)
    click.echo(written if as_json else moment_table(rows))


def _ranges(options: Options, _: float, as_json: bool) -> None:
    """Print the rows of ranges for uniform values."""
    from dataclasses import asdict

    from shuffledp.comparison.ranges import range_rows, range_table

    rows = range_rows(
        options.users or 0, options.domain_size or 0, options.eps, options.delta, options.protocols
    )
    written = json.dumps({"rows": [asdict(row) for row in rows]}, indent=2, allow_nan=False)
    click.echo(written if as_json else range_table(rows))


#: Options that give the sizes of each task.
SIZES = {
    "frequency": ("domain_size",),
    "summation": ("max_value",),
    "sets": ("domain_size", "set_size"),
    "vectors": ("dimension",),
}
_SETTINGS = (
    "--domain-size for frequencies, with --set-size for sets, --max-value for a sum, --dimension for vectors"
)


def _option(size: str) -> str:
    return f"--{size.replace('_', '-')}"


def _kind(task: str | None, options: Options) -> str:
    """Return the task named on the command line, or the task that the given sizes determine."""
    data = options.data
    sizes = options.given(*dict.fromkeys(name for names in SIZES.values() for name in names))
    if task is None:
        task_sizes = sizes if data is None or sizes not in ([], ["set_size"]) else [*sizes, "domain_size"]
        task = next((kind for kind, names in SIZES.items() if set(task_sizes) == set(names)), None)
    if task is None:
        several = "" if len(sizes) < 2 else f" not {' and '.join(map(_option, sizes))} together,"
        raise ValueError(f"Give {_SETTINGS},{several} or --data and --column.")
    for name in sizes:
        if name not in SIZES[task]:
            owner = next(kind for kind, names in SIZES.items() if name in names)
            raise ValueError(f"{_option(name)} belongs to --task {owner}.")
    data_sizes = ("domain_size",) if data is not None else ()  # in the data
    missing = [name for name in SIZES[task] if name not in (*sizes, *data_sizes)]
    if missing:
        raise ValueError(f"--task {task} needs {' and '.join(map(_option, missing))}.")
    return task


def _of_counts(path: Path, task: str | None, options: Options) -> tuple[str, Options]:
    """Return the task and the options for a file of counts. Raise ValueError for options of other data."""
    from shuffledp.userdata.counting import CountsFile
    from shuffledp.userdata.counts import read

    sizes = ("domain_size", "set_size", "max_value", "dimension")
    if wrong_options := options.given("data", *WHERE, *FILES, "values", "bins", "levels", "low", *sizes):
        raise ValueError(
            f"{_option(wrong_options[0])} must be left out with --counts, whose file has the domain."
        )
    if options.other:
        raise ValueError("--other must be left out with --counts, whose file has the domain.")
    content = read(path)
    if task not in (None, content.kind):
        raise ValueError(f"--task {task}: {path} has counts for --task {content.kind}.")
    most = float(content.values[-1]) if content.kind == "summation" else None
    return content.kind, replace(options, data=CountsFile(path), max_value=most)


def _check(kind: str, options: Options) -> None:
    columns, data, max_value = options.given(*WHERE), options.data, options.max_value
    if data is not None and kind == "vectors":
        raise ValueError("--data must be left out for --task vectors, which is compared without data.")
    if kind == "sets" and data is not None:
        if columns not in (["column"], ["column", "separator"], ["user", "item"]):
            raise ValueError(
                "Sets of --data need --column (lists, or texts with a --separator) or --user and --item."
            )
    elif data is None and (
        named := columns or options.given("values", "bins") or (["other"] if options.other else [])
    ):
        raise ValueError(f"--{named[0]} needs --data.")
    elif data is not None and columns not in (["column"], ["column", "user"]):
        surplus = [name for name in columns if name not in ("column", "user")]
        raise ValueError(
            f"--{surplus[0]} is for sets and needs --set-size."
            if surplus
            else "--data needs --column, the name of a column of the file."
        )
    if max_value is not None and options.low is None and not 0 < max_value < math.inf:
        raise ValueError(f"--max-value must be a positive finite number, got {max_value:g}.")
    if (few := options.given("levels", "low")) and (data is None or max_value is None):
        raise ValueError(f"--{few[0]} needs --data and --max-value: it is for the numbers of a file.")
    if data is None and max_value is not None and max_value != round(max_value):
        raise ValueError(f"--max-value must be an integer without --data, got {max_value:g}.")
    if options.norm != "l2" and kind != "vectors":
        raise ValueError(f"--norm {options.norm} belongs to --task vectors.")


def _who(options: Options, population: str | None, own_data: Own | None) -> str:
    """Return a description of the participants, for the title of a picture."""
    data_users = None if own_data is None else own_data.users
    return f"others {population}" if population is not None else f"{options.users or data_users:,} users"


def _estimated(kind: str, own_data: Own | None, options: Options) -> str:
    """Return a description of the estimate, for the title of a picture."""
    size = _domain(own_data, options)
    texts = {
        "frequency": f"{size:,} values",
        "summation": f"sum of numbers up to {options.max_value or 0:g}",
        "sets": f"sets of {options.set_size or 0:,} of {size:,} items",
        "vectors": f"vectors of {options.dimension or 0:,} coordinates, {options.norm} norm at most 1",
    }
    return texts[kind]


def _domain(own_data: Own | None, options: Options) -> int:
    """Return the number of values or items in the domain."""
    return int(options.domain_size or 0) if own_data is None else len(own_data.counts)


def _counted(options: Options) -> Own:
    from shuffledp.comparison.user_data import own

    return own(options, how="give --domain-size or --values", percent=make_percent_printer(options.data))


def _task(kind: str, own_data: Own | None, options: Options) -> Task:
    from shuffledp.tasks import Frequency, Sets, Summation, Vectors

    size = _domain(own_data, options)
    tasks: dict[str, Callable[[], Task]] = {
        "frequency": lambda: Frequency(size),
        "summation": lambda: Summation(int(options.max_value or 0) if own_data is None else size - 1),
        "sets": lambda: Sets(size, options.set_size or 0),
        "vectors": lambda: Vectors(options.dimension or 0, clip=1.0, norm=options.norm),
    }
    return tasks[kind]()


class _Progress:
    """Progress line that names the running protocol, printed at most once per `PATIENCE`."""

    def __init__(self) -> None:
        self.last, self.line = math.inf, ""

    def begins(self, place: int, of: int, name: str) -> None:
        """Store the progress line for the next protocol; the first call starts the clock."""
        self.last = min(self.last, time.monotonic())
        self.line = f"{place} of {of} protocols done, next: {name}"

    def __call__(self) -> None:
        """Print the line if it is new and `PATIENCE` has passed since the last printed line."""
        if self.line and time.monotonic() - self.last > PATIENCE:
            self.last = time.monotonic()
            click.echo(printable(self.line), err=True)
            self.line = ""


def _rows(options: Options, seconds: float) -> tuple[tuple[Compared, ...], list[str]]:
    """Return the rows, and a sentence for each plug-in that cannot be imported or does not return."""
    from shuffledp.comparison.worker import compare_within
    from shuffledp.protocols.registry import is_plugin

    say = _Progress()
    rows, failed = compare_within(seconds, options, say.begins, say)
    return rows, [f"{row.protocol}: {row.reason}" for row in failed if is_plugin(row.protocol)]


def _targets(
    csv_out: Path | None, plot: Path | None, data: Path | None, protocols: list[str] | None
) -> dict[str, Output]:
    """Return the files to write, by option. Raise ValueError if a target is the data or a plug-in."""
    from shuffledp.outputs import checked
    from shuffledp.protocols.registry import is_plugin
    from shuffledp.userdata.files import files_or_path

    outputs = {
        option: path for option, path in (("--csv-out", csv_out), ("--plot", plot)) if path is not None
    }
    plugins = [Path(name.rpartition(":")[0]) for name in protocols or () if is_plugin(name)]
    return checked(outputs, [*plugins, *([] if data is None else files_or_path(data))])


def _write(rows: tuple[Compared, ...], targets: Mapping[str, Output], setting: str) -> None:
    from shuffledp.comparison.rows import as_csv

    if (table := targets.get("--csv-out")) is not None:
        table.write(as_csv(rows).encode())
    if (picture := targets.get("--plot")) is not None:
        from shuffledp.comparison.drawing import draw_rows

        picture.write(draw_rows(rows, picture.path.suffix, setting=setting))


@dataclass(frozen=True)
class _Form:
    """What is printed: the columns of the table, or JSON, with or without a recommendation."""

    columns: list[str] | None
    as_json: bool
    rows_only: bool


@dataclass(frozen=True)
class _Data:
    """Options of `client` for the users and the domain, a line on its values, and the sum of the data."""

    domain: str
    hint: str
    total: float


def _show(rows: tuple[Compared, ...], options: Options, seconds: float, form: _Form, data: _Data) -> None:
    from dataclasses import asdict

    from shuffledp.comparison.recommendation import loosening, recommended, sentences, unfit
    from shuffledp.comparison.rows import table

    best, loosen = None if form.rows_only else recommended(rows), None
    if best is None and not form.rows_only:
        limits = {name: getattr(options, name) for name in options.given(*LIMITS)}

        def rows_of(changes: Mapping[str, float], names: list[str]) -> tuple[Compared, ...]:
            changed: dict[str, Any] = {**changes, "protocols": names}
            return _rows(replace(options, **changed), seconds)[0]

        loosen = loosening(rows, limits, options.eps, rows_of)
    if form.as_json:
        written: Any = [row.as_dict() for row in rows]
        if not form.rows_only:
            best_dict = best and best.as_dict() | {"privacy": _claim(rows, best, options)}
            loosen_dict = loosen and asdict(loosen)
            written = {"recommendation": best_dict, "loosen": loosen_dict, "rows": written}
        click.echo(json.dumps(written, indent=2, allow_nan=False))
    else:
        first = "" if form.rows_only else f"{sentences(best) if best else unfit(loosen)}\n\n"
        if best and data.total and not options.users and not options.dropout:
            share = best.conditions["half_width"].text(100 * best.half_width / abs(data.total))
            first = f"{first[:-1]}The half-width is {share} % of the sum of the data.\n\n"
        if best and (command := _client_command(best.protocol, options, data.domain)):
            first = f"{first[:-1]}Next command:\n  {command}\n{data.hint}\n"
        click.echo(first + table(rows, form.columns))


def _claim(rows: tuple[Compared, ...], best: Recommendation, options: Options) -> dict[str, Any]:
    """Return the privacy claim of the recommended row."""
    from shuffledp.comparison.registry_record import privacy_claim
    from shuffledp.tasks import Budget

    row = next(row for row in rows if row.protocol == best.protocol)
    names = (
        "trust",
        "relies_on",
        "eps_local",
        "guarantee",
        "accounting",
        "dropout",
        "colluding",
        "eps_colluding",
        "rounds",
    )
    facts: dict[str, Any] = {name: getattr(row, name) for name in names}
    budget = Budget(options.eps, options.delta, options.neighbours)
    return privacy_claim(budget, if_shuffler_fails=best.if_shuffler_fails, **facts)


def _places(kind: str, own_data: Own | None) -> str:
    """Return a line on the values of the client if they are places in a list that was found in the data."""
    if kind != "frequency" or own_data is None or own_data.values == tuple(range(len(own_data.values))):
        return ""
    some = ", ".join(map(str, own_data.values[:5])) + (", .." if len(own_data.values) > 5 else "")
    return (
        f"The client's value is the place in this list, from 0 on: {some}.\n"
        "With --values-file, the client takes the value itself.\n"
    )


def _domain_words(
    task: Task | None, options: Options, counts: Path | None, values: tuple[str, ...], file: Path | None
) -> str:
    """Return the options of `client` for the domain, as a part of its command."""
    from shlex import join

    if counts is not None:
        return join(["--counts", str(counts)])
    if file is not None or values:
        named = (
            ["--values-file", str(file)]
            if file
            else [word for value in values for word in ("--values", value)]
        )
        return join([*named, *(["--other"] if options.other else [])])
    if options.bins is not None:
        return join(["--bins", options.bins])
    if options.data is None or options.max_value is None:
        size = {"frequency": "domain_size", "summation": "max_value"}.get(getattr(task, "kind", ""))
        return f"{_option(size)} {getattr(task, size)}" if size else ""
    words = ["--max-value", f"{options.max_value:.15g}"]
    for name in options.given("low", "levels"):
        words += [_option(name), f"{getattr(options, name):.15g}"]
    return join([*words, "--unit", str(options.column)])


def _client_command(protocol: str, options: Options, domain: str) -> str | None:
    """Return the command that writes the client of a protocol; None without a client. `domain` has the users, too."""
    from shuffledp.protocols.base import ProtocolBase
    from shuffledp.protocols.registry import get

    assert options.task is not None
    kind = options.task.kind
    if get(kind, protocol).client is ProtocolBase.client:
        return None
    words = ["shuffledp client", protocol, domain]
    if options.rounds > 1:
        words.append(f"--rounds {options.rounds}")
    words += [f"--eps {options.eps!r}", f"--delta {options.delta!r}"]
    if options.neighbours != "replace_one":
        words.append(f"--neighbors {options.neighbours}")
    if options.accounting is not None:
        words.append(f"--accounting {options.accounting}")
    return " ".join([*words, "-o client"])
