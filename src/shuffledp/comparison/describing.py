"""The commands ``shuffledp describe`` and ``client``: a calibrated protocol in sentences, as a record, or as programs.

Modules that need NumPy are imported inside of functions, so that ``shuffledp --help`` does not load it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shuffledp.comparison.options import LIMITS, RELEASES, SETTING, Options, with_options
from shuffledp.comparison.setting_options import (
    INTEGER,
    NUMBER,
    VALUES_FILE,
    Command,
    Number,
    listed,
    user_errors,
    words,
)
from shuffledp.outputs import printable, wrapped

if TYPE_CHECKING:
    from shuffledp.comparison.registry_record import Described
    from shuffledp.userdata.counts import Content

#: Options of the budget, which a deployed system already has.
_BUDGET = {"eps": "'--eps' / '--epsilon'", "delta": "'--delta'"}


#: Changes of options for a protocol that has all sizes as integers.
WHOLE = {"type": INTEGER, "help": "Largest number N of 0..N (summation)."}


def with_calibration(
    required: bool = True, max_value: Mapping[str, Any] = WHOLE
) -> Callable[[Command], Command]:
    """Return a decorator that adds the argument and the options of a calibrated protocol; `calibrated` reads them."""
    budget = {"required": required}
    accounting = (
        "Accounting: exact, corrected, simplified or printed; by default the first that the protocol has."
    )
    options = with_options(
        *SETTING,
        *RELEASES,
        "trust",
        *LIMITS,
        "dropout",
        "max_value",
        "accounting",
        eps=budget,
        delta=budget,
        max_value=max_value,
        accounting={"help": accounting},
    )

    def decorate(command: Command) -> Command:
        return click.argument("protocol")(options(command))

    return decorate


def calibrated(protocol: str, population: str | None, accounting: str | None, **arguments: Any) -> Described:
    """Return the protocol for the options of `with_calibration`. Raise ValueError for inconsistent options."""
    from shuffledp.accountant.wording import population_named
    from shuffledp.comparison.comparing import ACCOUNTINGS, best_accounting, exceeded, limits_of, over
    from shuffledp.comparison.registry_record import described
    from shuffledp.comparison.setting import setting_of
    from shuffledp.numerics.argument_ranges import check_choice
    from shuffledp.protocols.registry import get

    law = None if population is None else population_named(population)
    arguments["trust"] = words("trust", arguments["trust"])
    options = Options(**arguments, population=law, accounting=accounting)
    where, limits = setting_of(options), limits_of(options)
    protocol_class = get(where.task.kind, protocol)
    if options.trust is not None and protocol_class.trust not in options.trust:
        raise ValueError(
            f"{protocol} has the trust model {protocol_class.trust}, not {' or '.join(options.trust)}."
        )
    if accounting is not None:
        check_choice("accounting", accounting, ACCOUNTINGS)
    result = described(protocol_class, where, accounting or best_accounting(protocol_class))
    cost = result.protocol.cost()
    if beyond := exceeded(cost, limits):
        raise ValueError(f"{protocol}: {over(result.where.task.kind, cost, limits, beyond)}")
    return result


@click.command()
@with_calibration(required=False)
@click.option(
    "--registry",
    is_flag=True,
    help="Print a YAML record for the registry of deployments (opendp/deployments-registry-data). Entries that only "
    "the operator can fill in are marked.",
)
@click.option(
    "--until-eps",
    type=Number(float, "a number above 0"),
    help="Print how many releases in all have at most this eps at the same delta.",
)
def describe(registry: bool, until_eps: float | None, **arguments: Any) -> None:
    """Describe PROTOCOL, calibrated for a setting: parameters, messages, guarantee, trust. Or describe a deployed
    system, which has its own setting.

    For example: shuffledp describe grr_blanket --users 30000 --domain-size 20 --eps 1 --delta 1e-8 --registry

    Or: shuffledp describe "Cobalt, 1m report" --registry
    """
    from shuffledp.accountant.deployed import deployments
    from shuffledp.comparison.deployed_record import deployed_record, deployed_sentences
    from shuffledp.comparison.registry_record import as_yaml, composition, record, releases_until

    protocol = arguments["protocol"]
    with user_errors(OSError):
        if protocol not in deployments():
            for name, option in _BUDGET.items():
                if arguments[name] is None:
                    raise click.UsageError(f"Missing option {option}.")
            description = calibrated(**arguments)
            content = record(description)
            lines = _sentences(
                content["deployment"], composition(description) if description.releases else None
            )
            lines += [] if until_eps is None else [releases_until(description, until_eps)]
            text = as_yaml(content) if registry else "\n".join(wrapped(lines))
        elif registry:
            text = as_yaml(deployed_record(protocol))
        else:
            text = "\n".join(wrapped(deployed_sentences(protocol)))
    click.echo(printable(text), nl=not registry)


@click.command()
@with_calibration(max_value={"type": NUMBER, "help": "Largest number of a sum."})
@with_options("counts", "values")
@VALUES_FILE
@with_options("other", "bins", "low", "levels")
@click.option(
    "--fan-outs",
    help="For shares and quantiles of ordered values: fan-outs of a tree of counts, such as 16,16, or best.",
)
@click.option(
    "--moments", is_flag=True, help="For mean and variance of a number: users also send its square."
)
@click.option("--unit", help="Name of the unit of a sum, such as minutes.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    help="New folder: parameters.json, client.py, shuffler.py, analyzer.py, test_vectors.json.",
)
def client(
    folder: Path,
    counts: Path | None,
    values: tuple[str, ...],
    values_file: Path | None,
    other: bool,
    bins: str | None,
    fan_outs: str | None,
    moments: bool,
    low: float | None,
    levels: int | None,
    unit: str | None,
    **arguments: Any,
) -> None:
    """Calibrate PROTOCOL for a setting, and write its client, shuffler and analyzer as Python programs.

    With the list of values, or the range and levels of a sum, the client takes a value itself, and the analyzer names
    the values of its estimates.

    For example: shuffledp client grr_blanket --users 30000 --domain-size 20 --eps 1 --delta 1e-8 -o visits
    """
    with user_errors(OSError):
        content = None if counts is None else _read(counts)
        names = listed(values, values_file)
        domain = _domain(content, names, other, bins, low, levels, unit, arguments)
        if fan_outs is None and not moments:
            description = calibrated(**arguments)
            export = description.protocol.export_client
        else:
            description, export = _composed(fan_outs, moments, arguments)
        budget = description.where.budget
        about = {
            "eps": budget.largest_eps,
            "delta": budget.delta,
            "neighbors": budget.neighbours,
            "accounting": description.accounting,
            "privacy": _claim(description),
            **({"dropout": arguments["dropout"]} if arguments["dropout"] else {}),
            **({"rounds": description.where.rounds, "round": 1} if description.where.rounds > 1 else {}),
            **domain,
        }
        export(folder, **about)
    for remark in () if content is None else _remarks(content, arguments["users"]):
        click.echo(f"Warning: {remark}", err=True)
    programs = description.protocol.client()
    users_option = "" if programs.one_message else " --users N"
    mixes = (
        "samples or adds messages, and permutes them"
        if programs.shuffler
        else "permutes the messages of all users"
    )
    click.echo(
        f"{folder}: `python client.py VALUE` writes the messages of a user, `python shuffler.py FILE{users_option}` "
        f"{mixes}, `python analyzer.py FILE{users_option}` estimates. "
        f"{description.protocol.if_shuffler_fails(description.where.rounds)}"
    )


def _composed(
    fan_outs: str | None, moments: bool, arguments: dict[str, Any]
) -> tuple[Described, Callable[..., None]]:
    """Return the protocol on a tree, or of the first of two sums, and the function that writes its programs.

    Raises ValueError for options that these do not have.
    """
    from shuffledp.comparison.best_trees import calibrate_tree
    from shuffledp.comparison.moment_clients import TwoSums
    from shuffledp.comparison.registry_record import Described
    from shuffledp.comparison.setting import setting_of

    if fan_outs is not None and moments:
        raise ValueError("Give --fan-outs for ordered values or --moments for numbers, not both.")
    name, size, how = (
        ("--moments", "max_value", "--max-value or --counts of a sum")
        if moments
        else ("--fan-outs", "domain_size", "--domain-size, --bins, --values or --counts")
    )
    context, default = click.get_current_context(), click.core.ParameterSource.DEFAULT
    allowed = {"protocol", "users", "eps", "delta", size}
    for option in context.command.params:
        if (
            str(option.name) in {*arguments} - allowed
            and context.get_parameter_source(str(option.name)) is not default
        ):
            raise ValueError(f"{option.opts[0]} must be left out with {name}.")
    if arguments["users"] is None or arguments[size] is None:
        raise ValueError(f"{name} needs --users, and {how}.")
    sizes = {key: arguments[key] for key in ("users", size, "eps", "delta")}
    where = setting_of(Options(**sizes))
    if fan_outs is not None:
        tree = calibrate_tree(arguments["protocol"], fan_outs, **sizes)
        return Described(tree.protocol, where, "exact", None), partial(
            tree.export_client, inputs=arguments["domain_size"]
        )
    sums = TwoSums.calibrate(arguments["protocol"], **sizes)
    return Described(sums.numbers, where, "exact", None), sums.export_client


def _remarks(content: Content, users: int | None) -> Iterator[str]:
    """Yield the remarks on a file of counts for a client of this number of users."""
    if content.found:
        from shuffledp.userdata.counting import domain_remark

        yield domain_remark(len(content.values), "give --values-file")
    if users not in (None, content.users):
        yield f"--users is {users:,}, but the counts are of {content.users:,} users."


def _claim(description: Described) -> dict[str, Any]:
    """Return the privacy claim of a calibrated protocol."""
    from shuffledp.comparison.registry_record import privacy_claim

    protocol = description.protocol
    return privacy_claim(
        description.where.budget,
        trust=protocol.trust,
        relies_on=protocol.relies_on,
        eps_local=protocol.local_epsilon(),
        if_shuffler_fails=protocol.if_shuffler_fails(description.where.rounds),
        guarantee=description.guarantee,
        accounting=description.accounting,
        dropout=description.where.dropout,
        rounds=description.where.rounds,
    )


def _read(counts: Path) -> Content:
    from shuffledp.userdata.counts import read  # needs the extra `data`

    return read(counts)


def _domain(
    content: Content | None,
    names: list[str] | None,
    other: bool,
    bins: str | None,
    low: float | None,
    levels: int | None,
    unit: str | None,
    arguments: dict[str, Any],
) -> dict[str, Any]:
    """Return the entry ``domain`` of the parameters, if there is one, and add the size of the task to `arguments`."""
    from shuffledp.userdata.bins import Bins
    from shuffledp.userdata.counting import OTHER, Listed, steps_of

    sizes = [name for name in ("domain_size", "max_value") if arguments[name] is not None]
    most = arguments["max_value"]
    if sum((content is not None, names is not None, bins is not None, bool(sizes))) > 1:
        raise ValueError(
            "Give one of --domain-size, --values, --values-file, --bins, --max-value and --counts, not several."
        )
    if content is not None and content.kind == "summation":
        low, most = (float(content.values[place]) for place in (0, -1))
        levels = len(content.values) - 1
    elif content is not None and content.bins is not None:
        bins = content.bins
    elif content is not None:
        names, other = [*map(str, content.values)], content.other
    if other and names is None:
        raise ValueError("--other needs --values or --values-file.")
    if most is None and (low, levels, unit) != (None, None, None):
        raise ValueError("--low, --levels and --unit are for a sum and need --max-value or --counts.")
    if content is not None and arguments["users"] is None and arguments["population"] is None:
        arguments["users"] = content.users
    if bins is not None:
        parsed = Bins.parse(bins)
        arguments["domain_size"] = parsed.number
        return {"domain": {"first": str(parsed.first), "width": str(parsed.width)}}
    if names is not None:
        values = Listed.from_values(names, other).values
        arguments["domain_size"] = len(values)
        return {"domain": {"values": values, "other": values.index(OTHER) if other else None}}
    if most is None:
        return {}
    arguments["max_value"] = steps_of(low or 0.0, most, levels)
    span = {"low": float(low or 0.0), "high": float(most)} | ({"unit": unit} if unit else {})
    return {} if (low, levels, unit) == (None, None, None) else {"domain": span}


def _sentences(deployment: dict[str, Any], composed: str | None = None) -> list[str]:
    """Return sentences about the protocol; `deployment` is a record of the registry, and `composed` is a sentence on
    several releases.
    """
    from shuffledp.numerics.rounding import number_text

    loss, model = deployment["privacy_loss"], deployment["deployment_model"]
    numbers = ", ".join(
        f"{name} = {number_text(value, 'up')}" for name, value in loss["privacy_parameters"].items()
    )
    return [
        deployment["implementation"]["mechanisms"],
        f"{deployment['dp_variant']['variant_name']}: {numbers}. {loss['privacy_unit_details']}",
        loss["privacy_parameters_details"],
        *([] if composed is None else [composed]),
        model["trust_assumptions"],
        deployment["implementation"]["utility"],
    ]
