"""The commands ``shuffledp describe`` and ``client``: a calibrated protocol in sentences, as a record, or as programs.

Modules that need NumPy are imported inside of functions, so that ``shuffledp --help`` does not load it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shuffledp.comparison.options import LIMITS, SETTING, Options, with_options
from shuffledp.comparison.setting_options import INTEGER, Command, user_errors, words
from shuffledp.outputs import printable

if TYPE_CHECKING:
    from shuffledp.comparison.registry_record import Described

#: Options of the budget, which a deployed system already has.
_BUDGET = {"eps": "'--eps' / '--epsilon'", "delta": "'--delta'"}


#: Changes of options for a protocol that has all sizes as integers.
WHOLE = {"type": INTEGER, "help": "Largest number N of 0..N (summation)."}


def with_calibration(required: bool = True) -> Callable[[Command], Command]:
    """Return a decorator that adds the argument and the options of a calibrated protocol; `calibrated` reads them."""
    budget = {"required": required}
    accounting = (
        "Accounting: exact, corrected, simplified or printed; by default the first that the protocol has."
    )
    options = with_options(
        *SETTING,
        "trust",
        *LIMITS,
        "max_value",
        "accounting",
        eps=budget,
        delta=budget,
        max_value=WHOLE,
        accounting={"help": accounting},
    )

    def decorate(command: Command) -> Command:
        return click.argument("protocol")(options(command))

    return decorate


def calibrated(protocol: str, population: str | None, accounting: str | None, **given: Any) -> Described:
    """Return the protocol for the options of `with_calibration`. Raise ValueError for inconsistent options."""
    from shuffledp.accountant.wording import population_named
    from shuffledp.comparison.comparing import ACCOUNTINGS, best_accounting, exceeded, limits_of, over
    from shuffledp.comparison.registry_record import described
    from shuffledp.comparison.setting import setting_of
    from shuffledp.numerics.argument_ranges import check_choice
    from shuffledp.protocols.registry import get

    law = None if population is None else population_named(population)
    given["trust"] = words("trust", given["trust"])
    asked = Options(**given, population=law, accounting=accounting)
    where, limits = setting_of(asked), limits_of(asked)
    found = get(where.task.kind, protocol)
    if asked.trust is not None and found.trust not in asked.trust:
        raise ValueError(f"{protocol} has the trust model {found.trust}, not {' or '.join(asked.trust)}.")
    if accounting is not None:
        check_choice("accounting", accounting, ACCOUNTINGS)
    result = described(found, where, accounting or best_accounting(found))
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
def describe(registry: bool, **given: Any) -> None:
    """Describe PROTOCOL, calibrated for a setting: parameters, messages, guarantee, trust. Or describe a deployed
    system, which has its own setting.

    For example: shuffledp describe grr_blanket --users 30000 --domain-size 20 --eps 1 --delta 1e-8 --registry

    Or: shuffledp describe "Cobalt, 1m report" --registry
    """
    from shuffledp.accountant.deployed import deployments
    from shuffledp.comparison.deployed_record import deployed_record, deployed_sentences
    from shuffledp.comparison.registry_record import as_yaml, record

    protocol = given["protocol"]
    with user_errors(OSError):
        if protocol not in deployments():
            for name, option in _BUDGET.items():
                if given[name] is None:
                    raise click.UsageError(f"Missing option {option}.")
            content = record(calibrated(**given))
            text = as_yaml(content) if registry else "\n".join(_sentences(content["deployment"]))
        elif registry:
            text = as_yaml(deployed_record(protocol))
        else:
            text = "\n".join(deployed_sentences(protocol))
    click.echo(printable(text), nl=not registry)


@click.command()
@with_calibration()
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    help="New folder: parameters.json, client.py, shuffler.py, analyzer.py, test_vectors.json.",
)
def client(folder: Path, **given: Any) -> None:
    """Calibrate PROTOCOL for a setting, and write its client, shuffler and analyzer as Python programs.

    For example: shuffledp client grr_blanket --users 30000 --domain-size 20 --eps 1 --delta 1e-8 -o visits
    """
    with user_errors(OSError):
        found = calibrated(**given)
        budget = found.where.budget
        found.protocol.export_client(
            folder,
            eps=budget.largest_eps,
            delta=budget.delta,
            neighbors=budget.neighbours,
            accounting=found.accounting,
        )
    programs = found.protocol.client()
    one = " --users N" * (not programs.one_message)
    mixes = (
        "samples or adds messages, and permutes them"
        if programs.shuffler
        else "permutes the messages of all users"
    )
    click.echo(
        f"{folder}: `python client.py VALUE` writes the messages of a user, `python shuffler.py FILE{one}` "
        f"{mixes}, `python analyzer.py FILE{one}` estimates. {found.protocol.if_shuffler_fails()}"
    )


def _sentences(deployment: dict[str, Any]) -> list[str]:
    """Return sentences about the protocol; `deployment` is a record of the registry."""
    from shuffledp.numerics.rounding import number_text

    loss, model = deployment["privacy_loss"], deployment["deployment_model"]
    numbers = ", ".join(
        f"{name} = {number_text(value, 'up')}" for name, value in loss["privacy_parameters"].items()
    )
    return [
        deployment["implementation"]["mechanisms"],
        f"{deployment['dp_variant']['variant_name']}: {numbers}. {loss['privacy_unit_details']}",
        loss["privacy_parameters_details"],
        model["trust_assumptions"],
        deployment["implementation"]["utility"],
    ]
