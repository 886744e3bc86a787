"""The command ``shuffledp quantiles``: one simulated batch of ordered values, from a file to quantiles."""

import json
import warnings
from pathlib import Path
from typing import Any

import click

from shuffledp.comparison.options import with_options
from shuffledp.comparison.setting_options import VALUES_FILE, Number, listed, user_errors


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--column", required=True, help="Column of the values.")
@click.option(
    "--protocol", default="correlated_noise", show_default=True, help="Protocol of the counts of a tree."
)
@with_options("eps", "delta", "bins", "values")
@VALUES_FILE
@with_options("domain_size", "user", "per_user", "delimiter", "memory", "seed")
@click.option(
    "--fan-outs",
    default="best",
    show_default=True,
    help="Fan-outs of the tree of counts, such as 16,16, or best: the least error of prefixes.",
)
@click.option(
    "--quantile",
    "quantiles",
    type=Number(float, "a share in (0, 1), such as 50% or 0.5"),
    multiple=True,
    help="Share of the users; by default 5, 25, 50, 75 and 95 %.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
def quantiles(
    data: Path, values: tuple[str, ...], values_file: Path | None, as_json: bool, **given: Any
) -> None:
    """Simulate quantiles of a column of DATA (file, folder, pattern, s3:// address), with intervals and true values.

    For example: shuffledp quantiles visits.csv --column age --bins 0:100:1 --eps 1 --delta 1e-8
    """
    from shuffledp.comparison.simulating_ranges import SHARES, simulate_ranges

    given["quantiles"] = given["quantiles"] or SHARES
    with user_errors(OSError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the answer has the remarks
        answer = simulate_ranges(data, values=listed(values, values_file), **given)
    click.echo(json.dumps(answer.as_dict(), indent=2) if as_json else str(answer))
    click.echo("Warning: a simulation, not a private release: it reads and prints true values.", err=True)
