"""The command ``shuffledp describe``: one calibrated protocol, in sentences or as a record of a registry.

Modules that need NumPy are imported inside of functions, so that ``shuffledp --help`` does not load it.
"""

from __future__ import annotations

from typing import Any

import click

from shuffledp.comparison.setting_options import with_setting
from shuffledp.outputs import printable


@click.command()
@click.argument("protocol")
@with_setting
@click.option("--max-value", type=int, help="Largest number N of 0..N (summation).")
@click.option(
    "--accounting",
    help="Accounting: exact, corrected, simplified or printed; by default the first that the protocol has.",
)
@click.option(
    "--registry",
    is_flag=True,
    help="Print a YAML record for the registry of deployments (opendp/deployments-registry-data). Entries that only "
    "the deployer can fill in are marked.",
)
def describe(
    protocol: str,
    population: str | None,
    accounting: str | None,
    registry: bool,
    **given: Any,
) -> None:
    """Describe PROTOCOL, calibrated for a setting: parameters, messages, guarantee, trust.

    For example: shuffledp describe grr_blanket --users 30000 --domain-size 20 --eps 1 --delta 1e-8 --registry
    """
    from shuffledp.accountant.wording import population_named
    from shuffledp.comparison.comparing import ACCOUNTINGS, best_accounting
    from shuffledp.comparison.options import Options
    from shuffledp.comparison.registry_record import as_yaml, described, record
    from shuffledp.comparison.setting import setting_of
    from shuffledp.numerics.argument_ranges import check_choice
    from shuffledp.protocols.registry import get

    try:
        where = setting_of(
            Options(
                **given,
                population=None if population is None else population_named(population),
                accounting=accounting,
            )
        )
        found = get(where.task.kind, protocol)
        if accounting is not None:
            check_choice("accounting", accounting, ACCOUNTINGS)
        calibrated = described(found, where, accounting or best_accounting(found))
    except (ValueError, OSError) as error:  # Infeasible is a ValueError
        raise click.ClickException(" ".join(str(error).split())) from None
    content = record(calibrated)
    text = as_yaml(content) if registry else "\n".join(_sentences(content["deployment"]))
    click.echo(printable(text), nl=not registry)


def _sentences(deployment: dict[str, Any]) -> list[str]:
    """Return the sentences of a record that describe the protocol itself."""
    loss, model = deployment["privacy_loss"], deployment["deployment_model"]
    numbers = ", ".join(f"{name} = {value:g}" for name, value in loss["privacy_parameters"].items())
    return [
        deployment["implementation"]["mechanisms"],
        f"{deployment['dp_variant']['variant_name']}: {numbers}. {loss['privacy_unit_details']}",
        loss["privacy_parameters_details"],
        model["trust_assumptions"],
        deployment["implementation"]["utility"],
    ]
