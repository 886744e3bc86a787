"""The commands ``shuffledp count`` and ``shuffledp merge``: counts of the user's data as files."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from shuffledp.comparison.options import with_options
from shuffledp.comparison.setting_options import INTEGER, NUMBER, VALUES_FILE, listed, user_errors

_OUT = click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="File of counts to write; - is standard output.",
)
#: Seconds between two lines of progress.
PATIENCE = 1.0
RAW = "counts are raw data, not a private release: anyone who reads them learns about single users."


def make_percent_printer(data: Path) -> Callable[[float], None]:
    """Return a function that prints the percentage of the data read so far on standard error."""
    from shuffledp.userdata.files import address

    last = time.monotonic()

    def say(text: str) -> None:
        nonlocal last
        if time.monotonic() - last > PATIENCE:
            last = time.monotonic()
            click.echo(f"{address(data)}: {text}", err=True)

    return lambda share: say(f"{max(share, 0):.0f} % read")


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--column", required=True, help="Column of the values.")
@click.option("--user", help="Column of the user, if users have several rows.")
@with_options("per_user")
@click.option("--key", default="0", show_default=True, help="Key of the hash that chooses a random value.")
@click.option("--domain-size", type=INTEGER, help="Number of values 0..N-1 of the public domain.")
@click.option("--values", multiple=True, help="Values of the public domain, separated by commas.")
@VALUES_FILE
@with_options("other", "bins")
@click.option("--max-value", type=NUMBER, help="Largest number of a sum; larger numbers are clipped.")
@click.option(
    "--low", type=NUMBER, default=0.0, help="Smallest number of a sum; smaller numbers are clipped."
)
@click.option("--levels", type=INTEGER, help="Number of steps to which numbers are rounded.")
@with_options("delimiter", "memory")
@_OUT
def count(
    data: Path, column: str, values: tuple[str, ...], values_file: Path | None, out: Path, **arguments: Any
) -> None:
    """Count a column of DATA (file, folder, pattern, s3:// address), and write the counts into a file.

    For example: shuffledp count visits/ --column color --values red,green,blue -o part.json
    """
    from shuffledp.outputs import checked
    from shuffledp.userdata.counting import count_column
    from shuffledp.userdata.counts import described, record, written
    from shuffledp.userdata.files import unchanged

    with user_errors(OSError), unchanged(data) as files:
        target = checked({"-o": out}, files)["-o"]
        arguments["per_user"] = per_user = (
            (arguments["per_user"] or "random") if arguments["user"] else "random"
        )
        column_counts = count_column(
            data, column, values=listed(values, values_file), percent=make_percent_printer(data), **arguments
        )
        about = described(files)
    kind = "frequency" if arguments["max_value"] is None else "summation"
    content = record(column_counts, kind=kind, per_user=per_user if arguments["user"] else None, files=about)
    for remark in column_counts.remarks("give --domain-size or --values"):
        click.echo(f"Warning: {remark}", err=True)
    with user_errors(OSError):
        target.write(written(content), mode=0o600)
    click.echo(f"Warning: {out}: {RAW}", err=True)


@click.command()
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path))
@_OUT
def merge(parts: tuple[Path, ...], out: Path) -> None:
    """Add the counts of PARTS, files of `shuffledp count` with the same domain and the same clipping."""
    from shuffledp.outputs import checked
    from shuffledp.userdata.counts import merged, read, written

    with user_errors(OSError):
        target = checked({"-o": out}, parts)["-o"]
        if len(set(parts)) < len(parts):
            raise ValueError("A part is given twice.")
        content = merged({path: read(path) for path in parts})
        target.write(written(content), mode=0o600)
    if content.per_user is not None and len(parts) > 1:
        click.echo("Warning: a user with rows in several parts has a value in each of them.", err=True)
    click.echo(f"Warning: {out}: {RAW}", err=True)
