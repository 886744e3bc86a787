"""The ``shuffledp`` command: listings, accounting, data, export and repair of results.

Every command imports its modules inside of its function, so that ``shuffledp --help`` does not load NumPy.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shuffledp import __version__
from shuffledp.comparison.command import compare
from shuffledp.comparison.count_commands import count, merge
from shuffledp.comparison.describing import WHOLE, client, describe
from shuffledp.comparison.options import BATCH, LAWS, SETTING, with_options
from shuffledp.comparison.quantile_command import quantiles
from shuffledp.comparison.setting_options import Number, user_errors
from shuffledp.optional_dependencies import MissingExtra, needed
from shuffledp.outputs import check_distinct, checked, line_width, printable, wrapped

if TYPE_CHECKING:
    from shuffledp.pipeline.config import Paper, Settings
    from shuffledp.protocols.base import ProtocolBase
    from shuffledp.protocols.conformance.cases import Case

# Commands import what they need themselves: --help and a mistyped word answer at once.


class _Commands(click.Group):
    """Group of commands; a command without its extra ends with a line that names the extra."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with needed():
                return super().invoke(ctx)
        except MissingExtra as error:
            raise click.ClickException(str(error)) from None
        except click.ClickException as error:
            if (text := printable(error.message)) == error.message:
                raise
            raise click.ClickException(text) from None  # which quotes foreign code
        except OSError as error:
            if error.filename is None and error.errno == errno.ENOSPC:
                raise click.ClickException(f"standard output: {error.strerror}.") from None
            if error.filename is None:
                raise
            raise click.ClickException(f"{printable(str(error.filename))}: {error.strerror}.") from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Reproducible experiments for the shuffle model of differential privacy."""


main.add_command(compare)
main.add_command(count)
main.add_command(merge)
main.add_command(describe)
main.add_command(client)
main.add_command(quantiles)


def _config(configfile: str | None) -> dict[str, Any]:
    """Return the configuration in this folder, unchecked; `configfile` is merged into it if given."""
    from shuffledp.pipeline.config.config_errors import ConfigurationError
    from shuffledp.pipeline.config.config_files import merged, read_yaml

    path = Path("config/config.yaml")
    if not path.is_file():
        raise click.ClickException("There is no config/config.yaml here: run this in the project's folder.")
    result: dict[str, Any] = {}
    for file in (path, *([Path(configfile)] if configfile else [])):
        content = read_yaml(file)
        if not isinstance(content, dict):
            raise ConfigurationError(f"{file}: expected a mapping, got {content!r}.")
        result = merged(result, content)
    return result


def _settings(configfile: str | None) -> Settings:
    from shuffledp.pipeline.figures.selection import load_settings

    with user_errors(one_line=False):
        return load_settings(_config(configfile), Path())


configured = click.option(
    "--configfile",
    type=click.Path(exists=True, dir_okay=False),
    help="Second configuration, such as config/quick.yaml, which overrides config/config.yaml.",
)


elsewhere = click.option(
    "--results",
    "folder",
    metavar="FOLDER",
    help="Folder of results, if a run had `results=FOLDER` on its command line.",
)


@main.command()
@configured
def check(configfile: str | None) -> None:
    """Check the configuration and list the jobs of a run."""
    from shuffledp.pipeline.config.config_files import left_aside
    from shuffledp.pipeline.figures.drawings import drawings_of

    settings = _settings(configfile)
    for paper in settings.papers.values():
        click.echo(f"{paper.key}: {paper.title}")
        for experiment in paper.experiments.values():
            jobs = [experiment.job(m, settings.seed) for m in experiment.methods]
            cells = sum(len(list(job.cells())) for job in jobs)
            click.echo(
                f"  {experiment.id}: {len(jobs)} methods, at most {cells} cells, {experiment.repeats} repeats"
            )
        for run in paper.training.values():
            without = f", left out ({settings.left_out})" if settings.left_out else ""
            click.echo(f"  training {run.id}: {run.plan(settings.seed).rounds} rounds{without}")
        _check_captions(paper)
        click.echo(f"  drawings: {', '.join(file.id for file in drawings_of(paper))}")
    if settings.idle:
        click.echo(left_aside(settings.idle))


def _check_captions(paper: Paper) -> None:
    """Raise ClickException if a caption file is missing; a run would only fail after all computations."""
    from shuffledp.pipeline.figures.drawings import caption_folder, caption_path

    for part, entries in (("figures", paper.figures), ("tables", paper.tables), ("claims", paper.claims)):
        for name, entry in entries.items():
            caption = entry.caption
            path = caption_path(caption_folder(Path(), paper.key), str(caption))
            if caption is not None and not path.is_file():
                raise click.ClickException(f"{paper.file}: {part}.{name}.caption: there is no file {path}.")


@main.command()
@click.argument("names", nargs=-1, required=True)
def cite(names: tuple[str, ...]) -> None:
    """Print the BibTeX entries of the sources of protocols, each once; NAMES are names or labels."""
    from shuffledp.protocols.registry import UnknownProtocol, bibtex_of

    try:
        texts = [bibtex_of(name) for name in names]
    except UnknownProtocol as error:
        raise click.ClickException(printable(str(error))) from None
    click.echo("\n".join(dict.fromkeys(texts)), nl=False)


@main.command()
def protocols() -> None:
    """List the protocols of every task, built-in or of installed packages: description, trust model, accountings,
    source.
    """
    from textwrap import fill

    from shuffledp.protocols.registry import UnknownProtocol, available, class_identity, get, label_of
    from shuffledp.tasks import TASK_KINDS

    for kind in TASK_KINDS:
        click.echo(kind)
        for name in available(kind):
            try:
                protocol_class = get(kind, name)
            except UnknownProtocol as error:  # of another package
                click.echo(f"  {name}: {printable(str(error))}")
                continue
            identity = class_identity(protocol_class)
            what = " ".join((protocol_class.__doc__ or "").strip().split("\n\n")[0].split())
            click.echo(f"  {name}: {label_of(protocol_class)}")
            for text in (
                what if identity is None else identity.sentence,
                (
                    f"trust: {protocol_class.trust}; reduction: {protocol_class.reduction}; accounting: "
                    f"{', '.join(protocol_class.accountings)}"
                ),
                protocol_class.source,
            ):
                click.echo(fill(text, line_width(), initial_indent="      ", subsequent_indent="      "))


@main.command()
@click.argument("names", nargs=-1)
@click.option(
    "--official",
    is_flag=True,
    help="Fail if published data are not available, instead of using a substitute.",
)
@click.option(
    "--checksum",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Print rows of data/datasets.csv for the unpacked content of a file or zip file.",
)
def data(names: tuple[str, ...], official: bool, checksum: Path | None) -> None:
    """Download and prepare the data sets NAMES (default: all), and print their sources."""
    from shuffledp.pipeline.datasets import preparation
    from shuffledp.pipeline.datasets.registry import NAMES
    from shuffledp.pipeline.datasets.source_errors import LocalError, SourceError

    if checksum is not None:
        from shuffledp.pipeline.datasets.content import contents_of

        with user_errors(ValueError), checksum.open("rb") as stream:
            for file, member, content in contents_of(stream, checksum.name):
                digest = hashlib.sha256(content).hexdigest()
                click.echo(f",,,{file},{member},{digest},{len(content)},,published,")
        return
    for name in names or NAMES:
        with user_errors(LocalError, SourceError, one_line=False):
            preparation.prepare(
                name,
                raw_dir=Path("data/raw"),
                output_dir=Path("data/prepared"),
                mirror=os.environ.get("SHUFFLEDP_MIRROR"),
                policy="official" if official else "auto",
                say=click.echo,
            )


class _OneLine(click.Command):
    """Command whose errors are printed in one line, without the usage."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Return the context, or raise an error of one line."""
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise click.ClickException(" ".join(error.format_message().split())) from None


_TWO_OF_THREE = "Give exactly two of --eps-local, --eps and --users (or --population); the third is computed."


@main.command(cls=_OneLine)
@click.option(
    "--eps-local",
    type=Number(float, "a number above 0, at most 100"),
    help="Local eps of one report for replacement of its input, in nats; in (0, 100].",
)
@with_options(
    *BATCH,
    users={
        "type": Number(int, "an integer of at least 1, such as 30k or 3e4"),
        "help": "Number of all users, including user 1; at least 1.",
    },
    population={"help": f"{LAWS} If the number of users is computed: fixed, poisson or binomial:RATE."},
    eps={"required": False},
    delta={"type": Number(float, "a number in (0, 1)"), "help": "Central delta, in (0, 1)."},
)
@click.option(
    "--randomizer",
    default="any",
    show_default=True,
    help="Local randomizer: any, grr, binary, laplace, subset or rappor.",
)
@click.option(
    "--domain-size",
    type=Number(int, "an integer of at least 2"),
    help="Number of values, at least 2 (grr, subset, rappor).",
)
@click.option(
    "--subset-size",
    type=Number(int, "an integer of at least 1"),
    help="Number of values in a report, at least 1 (subset); the default is nearly optimal.",
)
@click.option(
    "--colluding",
    type=Number(float, "a number in [0, 1)"),
    default=0.0,
    show_default=True,
    help="Fraction of users who reveal their reports to the analyzer, in [0, 1).",
)
@click.option(
    "--rounds",
    type=Number(int, "an integer in [1, 10^6]"),
    default=1,
    show_default=True,
    help="Number of rounds with the same users, in [1, 10^6].",
)
@click.option(
    "--crowd",
    type=click.Choice(["fixed", "shared", "fresh"]),
    help="Number of other users over rounds, if --population makes it random: shared (the default) is drawn once for "
    "all rounds, fresh is drawn anew in every round.",
)
@click.option(
    "--round",
    "different",
    multiple=True,
    metavar="EPS_LOCAL:USERS[:COUNT]",
    help="COUNT equal rounds. Repeat the option for different rounds. Replaces --eps-local, --users and --rounds.",
)
@click.option(
    "--batches",
    metavar="STEPS:SIGMA[:EPOCHS]",
    help="Training on shuffled batches: EPOCHS epochs of STEPS batches, with noise SIGMA per unit of sensitivity. "
    "Replaces all options except --delta and --json.",
)
@click.option(
    "--spent",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON file of past releases of protocols to the same users: a list of objects with protocol, users, "
    "domain_size, parameters and count, or parameters.json of a client. With --eps, also prints how many further "
    "releases like the last are within this eps.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
@click.option(
    "--curves",
    "with_curves",
    is_flag=True,
    help="Add delta(eps), Renyi divergences, mu of Gaussian privacy and bounds on tests of two neighbors.",
)
def account(
    *,
    delta: float,
    different: tuple[str, ...],
    batches: str | None,
    spent: Path | None,
    as_json: bool,
    with_curves: bool,
    **arguments: Any,
) -> None:
    """Print the central guarantee of a shuffled batch of reports, or of training on shuffled batches.

    Give two of --eps-local, --eps and --users (or --population); the third is computed. With --round or --batches,
    eps is computed. Eps and delta are for all rounds together.
    """
    with user_errors():
        if batches is not None or spent is not None:
            source, used = click.get_current_context().get_parameter_source, "eps" if spent else ""
            if (batches and spent) or any(
                source(name) is not click.core.ParameterSource.DEFAULT
                for name in (*arguments, "different", "with_curves")
                if name != used
            ):
                alone = "--spent" if spent else "--batches"
                further = "--eps, --delta" if spent else "--delta"
                raise ValueError(f"{alone} cannot be combined with other options than {further} and --json.")
        if spent is not None:
            answer, lines = _account_spent(spent, delta, arguments["eps"])
        elif batches is not None:
            answer, lines = _account_training(batches, delta)
        elif different:
            rounds = arguments.pop("rounds")
            replaced = [arguments.pop(name) for name in ("eps_local", "eps", "users", "population", "crowd")]
            if with_curves or rounds != 1 or any(value is not None for value in replaced):
                raise ValueError(
                    "--round cannot be combined with --eps-local, --eps, --users, --population, --rounds, --crowd or "
                    "--curves."
                )
            answer, lines = _account_rounds(different, delta, **arguments)
        else:
            answer, lines = _account_batch(delta, with_curves, **arguments)
    click.echo(json.dumps(answer, indent=2) if as_json else "\n".join(wrapped(lines)))


#: Content of the JSON object, and sentences.
_Answer = tuple[dict[str, Any], list[str]]


def _account_batch(
    delta: float,
    with_curves: bool,
    *,
    eps_local: float | None,
    eps: float | None,
    users: int | None,
    population: str | None,
    **common: Any,
) -> _Answer:
    from shuffledp.accountant import shuffled_rounds
    from shuffledp.accountant.wording import arrivals_named, population_named
    from shuffledp.numerics.argument_ranges import checked

    if population is None and common["crowd"] is not None:
        raise ValueError("--crowd needs --population: --users is one known number, the same in all rounds.")
    computed = eps_local is not None and eps is not None  # the number of users
    unknown = (eps_local is None and eps is None) or (users is None and population is None)
    if users is not None if computed else unknown:
        raise ValueError(_TWO_OF_THREE)
    others = None if computed or population is None else population_named(population)
    if computed:
        smallest_batch = checked(shuffled_rounds.smallest_batch)
        answer = smallest_batch(eps_local, eps, delta, **arrivals_named(population), **common)
    elif eps is None:
        amplification = checked(shuffled_rounds.amplification)
        answer = amplification(eps_local, users, delta, population=others, **common)
    else:
        answer = checked(shuffled_rounds.budget)(eps, users, delta, population=others, **common)
    content, text = answer.as_dict(), answer.lines()
    if with_curves:
        from shuffledp.accountant.tabulated_curves import curves

        if computed and population is not None:
            raise ValueError("--curves needs --eps-local or --eps alone if --population is given.")
        # The smallest batch is of a fixed number of users.
        n = int(answer.users) if computed else users
        tables = checked(curves)(answer.eps_local, n, population=others, **common)
        content, text = content | {"curves": tables.as_dict()}, text + tables.lines()
    return content, text


def _account_rounds(different: tuple[str, ...], delta: float, **options: Any) -> _Answer:
    from shuffledp.accountant.rounds import batch_named, rounds_epsilon
    from shuffledp.numerics.argument_ranges import checked

    answer = checked(rounds_epsilon)([batch_named(word) for word in different], delta, **options)
    return answer.as_dict(), answer.lines()


def _account_spent(file: Path, delta: float, eps: float | None) -> _Answer:
    from shuffledp.comparison.spending import spent_of

    answer = spent_of(file, delta, eps)
    return asdict(answer), answer.lines()


def _account_training(batches: str, delta: float) -> _Answer:
    from shuffledp.accountant.training import training_answer, training_named, training_sentences

    answer = training_answer(**training_named(batches), delta=delta)
    return answer, training_sentences(answer)


@main.command()
@click.argument("target", type=click.Path(file_okay=False, path_type=Path))
@configured
@elsewhere
def export(target: Path, configfile: str | None, folder: str | None) -> None:
    """Write all result tables as CSV files into the folder TARGET."""
    from shuffledp import storage

    settings = _settings(configfile)
    try:
        results = folder or settings.results
        written, removed = _export(Path(results), target, settings, _inputs(settings, configfile))
    except (storage.IntegrityError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror or error}.") from None
    count = len(written)
    if count == 0 and removed:
        surplus = dict.fromkeys(name.partition(".")[0] for name in removed)
        raise click.ClickException(
            f"{results}/runs has results of {', '.join(surplus)}, which this configuration does not contain. "
            "Give a --configfile whose `papers` lists them."
        )
    if count == 0:
        quick = Path("config/quick.yaml")
        hint = f" Those of `make quick` are exported with --configfile {quick}." if quick.is_file() else ""
        other = "" if folder else " Those in another folder are exported with --results."
        raise click.ClickException(
            f"No results in {results}/runs. Run the pipeline first.{'' if configfile or folder else hint}{other}"
        )
    click.echo(f"{count} tables written to {target}")
    if removed:
        click.echo(f"left out, not in the configuration: {', '.join(removed)}")
    earlier = sorted(str(path) for path in set(target.glob("runs/*/*/*.csv")) - written)
    if earlier:  # nothing is removed from a folder of the user's
        click.echo(
            f"{target} has {len(earlier)} tables that this export did not write: {', '.join(earlier[:4])}"
            f"{', ..' if len(earlier) > 4 else ''}. Remove them, or export to a new folder."
        )


def _inputs(settings: Settings, configfile: str | None) -> list[Path]:
    """Return all input files: the configuration, the user's data and the plug-ins."""
    from shuffledp.protocols.registry import is_plugin

    experiments = [
        experiment for paper in settings.papers.values() for experiment in paper.experiments.values()
    ]
    named = [request["path"] for experiment in experiments for request in experiment.own_requests.values()]
    used = {m.protocol for experiment in experiments for m in experiment.methods.values() if m.protocol}
    named += [name.rpartition(":")[0] for name in sorted(used) if is_plugin(name)]
    named += [paper.file for paper in settings.papers.values()]
    return [
        *Path("config").rglob("*.y*ml"),
        *map(Path, named),
        *([] if configfile is None else [Path(configfile)]),
    ]


def _export(
    results: Path, target: Path, settings: Settings, inputs: list[Path]
) -> tuple[set[Path], list[str]]:
    """Write the tables of all configured methods; return the written files and the results without a table."""
    import pyarrow.parquet as pq

    from shuffledp import storage

    written: dict[Path, tuple[Path, Path]] = {}
    removed = []
    method_names = {
        f"{paper.key}.{experiment.id}.{method}"
        for paper in settings.papers.values()
        for experiment in paper.experiments.values()
        for method in experiment.methods
    }
    for checksum in sorted(results.glob("runs/*/*/*.sha256")):
        name = ".".join((*checksum.parts[-3:-1], checksum.stem))
        if name not in method_names:
            removed.append(name)
            continue
        for path in storage.listed(checksum):
            if path.suffix == ".parquet":
                written[target / path.relative_to(results).with_suffix(".csv")] = path, checksum
    check_distinct((("TARGET", out) for out in written), inputs)
    if written and not target.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}")
    for out, (path, checksum) in written.items():
        frame = pq.read_table(storage.verified(path, checksum), use_threads=False).to_pandas()
        out.parent.mkdir(parents=True, exist_ok=True)
        checked({"TARGET": out})["TARGET"].write(frame.to_csv(index=False, lineterminator="\n").encode())
    return set(written), removed


#: Reference of the run with config/quick.yaml.
QUICK_REFERENCE = Path("reference/quick")
_folder = click.Path(file_okay=False, path_type=Path)
reference_option = click.option(
    "--reference",
    "kept",
    type=_folder,
    help="Folder of the reference results: reference/quick for results in a folder quick, otherwise reference.",
)


@main.command()
@click.option(
    "--results",
    type=_folder,
    default=Path("results"),
    show_default=True,
    help="Folder of the results to compare.",
)
@reference_option
def verify(results: Path, kept: Path | None) -> None:
    """Compare the results of a run with the reference results.

    The exit code is 0 if all values agree, and 1 if a value differs or is missing. It is 2 if a result cannot be
    compared, or if prepared or raw data have changed.
    """
    from shuffledp.pipeline.reference.comparison import REFUSED, compare
    from shuffledp.pipeline.reference.reference_files import read
    from shuffledp.pipeline.reference.snapshot import of_results
    from shuffledp.storage import IntegrityError

    try:
        comparison = compare(read(_reference_of(results, kept)), of_results(results))
        changed = list(_changed_data())
    except (ValueError, IntegrityError) as error:
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(REFUSED) from None
    for line in [*comparison.report(), *changed]:
        click.echo(line)
    raise SystemExit(comparison.exit_code or (REFUSED if changed else 0))


def _reference_of(results: Path, folder: Path | None) -> Path:
    """Return the folder of the reference for a folder of results."""
    if folder is not None:
        return folder
    return QUICK_REFERENCE if results.name == QUICK_REFERENCE.name else Path("reference")


def _changed_data() -> Iterator[str]:
    """Yield a line with a remedy for every prepared or raw file whose content has changed."""
    from shuffledp import storage
    from shuffledp.pipeline.experiments.user_files import outdated

    prepared = Path("data/prepared")
    for checksum in sorted(prepared.glob("*.sha256")):
        for path in storage.damaged(checksum):
            yield f"{path}: content differs from its checksum. To rebuild, {storage.REBUILD}."
    for checksum, counted_file in outdated(prepared, Path()):
        yield (
            f"{counted_file}: has changed since it was counted for {checksum.stem}. To count it anew, "
            f"{storage.REBUILD}."
        )
    yield from _changed_raw()


def _changed_raw() -> Iterator[str]:
    from shuffledp.pipeline.datasets.raw_files import changed_files

    for name, path, problem in changed_files(Path("data/raw")):
        yield f"{path}: {problem}. `shuffledp data {name}` sets it aside and gets the published file."


@main.command()
@configured
@reference_option
def reference(configfile: str | None, kept: Path | None) -> None:
    """Write the results of this configuration as the new reference (for maintainers)."""
    from shuffledp.pipeline.reference.eligible import objections
    from shuffledp.pipeline.reference.reference_files import write
    from shuffledp.pipeline.reference.snapshot import of_results
    from shuffledp.storage import IntegrityError

    settings = _settings(configfile)
    results = Path(settings.results)
    kept = _reference_of(results, kept)
    with user_errors(IntegrityError, one_line=False):
        problems = list(objections(settings, results, quick=kept == QUICK_REFERENCE))
        if problems:
            further = f"\n{len(problems) - 10} more" if len(problems) > 10 else ""
            raise click.ClickException("\n".join(problems[:10]) + further)
        for path in (results / "runs", *_inputs(settings, configfile)):
            if path.resolve().is_relative_to(kept.resolve()):
                raise ValueError(
                    f"--reference {kept} must not contain {path}, an input. Give another folder."
                )
        written = write(kept, of_results(results), {} if settings.shortened else _overall_tables(results))
    size = sum(path.stat().st_size for path in written)
    click.echo(f"{len(written)} files, {size / 1e6:.1f} MB, written to {kept}")


def _overall_tables(results: Path) -> dict[str, bytes]:
    """Return the tables of the pictures over all papers, and the verdicts, by their names in the reference."""
    from shuffledp.pipeline.figures.drawing_jobs import figure_folder
    from shuffledp.pipeline.figures.overall_jobs import FIGURES, KEPT, KEPT_CLAIMS, KEY
    from shuffledp.pipeline.manifest import CHECKSUMS
    from shuffledp.storage import read_verified, verified_rows

    folder = figure_folder(results, KEY)
    verdicts = {row["id"]: row["overall"] for row in verified_rows(results / "claims/claims.csv")}
    lines = ["id,verdict", *(f"{id},{verdict}" for id, verdict in verdicts.items())]
    tables = {
        f"{KEPT.name}/{name}.csv": read_verified(folder / f"{name}.csv", folder / CHECKSUMS)
        for name in FIGURES
    }
    return tables | {f"{KEPT.name}/{KEPT_CLAIMS.name}": "\n".join([*lines, ""]).encode()}


@main.command()
@configured
@elsewhere
def repair(configfile: str | None, folder: str | None) -> None:
    """Remove results and prepared data that do not match their checksums, and temporary files of killed jobs.

    Changed raw data are listed and kept.
    """
    from filelock import FileLock, Timeout

    from shuffledp.pipeline import repair as repairs
    from shuffledp.pipeline.experiments.user_files import outdated

    removed = remaining = 0
    with user_errors(one_line=False):
        folders = _folders_of_results(configfile, folder)
    Path(".snakemake").mkdir(exist_ok=True)
    try:
        with FileLock(
            ".snakemake/shuffledp.lock", timeout=0
        ):  # the one that a run holds (workflow/rules/common.smk)
            for checksum, counted_file in outdated(Path("data/prepared"), Path()):
                checksum.unlink()  # what it lists goes with the rest that has no checksum
                click.echo(f"removed the checksum list {checksum} ({counted_file} has changed since)")
                removed += 1
            places = [(Path(results), repairs.RESULTS) for results in folders]
            for place, kinds in (*places, (Path("data/prepared"), repairs.PREPARED)):
                for outcome in repairs.repair(place, kinds):
                    click.echo(outcome.text)
                    removed, remaining = removed + outcome.removed, remaining + (not outcome.removed)
            for text in _changed_raw():
                click.echo(f"left {text}")
                remaining += 1
    except Timeout:
        raise click.ClickException(
            "A run is in progress in this folder. Wait for it to end, or stop it."
        ) from None
    except OSError as error:
        raise click.ClickException(
            f"{error.filename or error}: {error.strerror or 'cannot be repaired'}."
        ) from None
    if removed or not remaining:
        click.echo(
            "Nothing to repair." if removed == 0 else "Run the pipeline again: it rebuilds what is missing."
        )
    if remaining:
        raise SystemExit(1)


def _folders_of_results(configfile: str | None, folder: str | None = None) -> list[str]:
    """Return the folders of results that this configuration, the other files of config/ and --results name.

    A run may merge one of these files into its configuration. Raises ConfigurationError for a folder that may not hold
    results.
    """
    from shuffledp.pipeline.config.config_errors import ConfigurationError
    from shuffledp.pipeline.config.config_files import read_yaml
    from shuffledp.pipeline.config.folders import results_problem

    merged = _config(configfile)  # unchecked: repairs under a broken configuration too
    results = merged.get("results", "results")
    if (problem := results_problem(results, Path())) is not None:
        raise ConfigurationError(f"{configfile or 'config/config.yaml'}: {problem}")
    folders: dict[str, str] = {results: ""}
    for path in sorted(Path("config").glob("*.yaml")):
        try:
            content = read_yaml(path)
        except ConfigurationError:
            continue  # not the configuration of this run, which has been read above
        if isinstance(content, dict) and isinstance(content.get("results"), str):
            folders.setdefault(content["results"], str(path))
    if folder is not None:
        folders.setdefault(folder, "--results")
    for place, file in folders.items():
        if (problem := results_problem(place, Path())) is not None:
            raise ConfigurationError(f"{file}: {problem}")
    return list(folders)


@main.command("new-baseline")
@click.argument("name")
@click.option(
    "--task",
    type=click.Choice(["frequency", "summation", "sets", "vectors"]),
    required=True,
    help="Task of the baseline.",
)
@click.option(
    "--template",
    type=click.Choice(["local", "amplified"]),
    default="local",
    show_default=True,
    help="Model of the class: local, or amplified by shuffling (frequency).",
)
def new_baseline(name: str, task: str, template: str) -> None:
    """Write a class, a YAML file and a test for a new baseline NAME, which pass the checks unchanged."""
    from shuffledp import storage
    from shuffledp.protocols import scaffold

    with user_errors(one_line=False):
        files = scaffold.files(task, name, template)
    existing = [str(path) for path in files if path.exists() or path.is_symlink()]
    if existing:
        raise click.ClickException(f"{', '.join(existing)}: exists already. Choose another name.")
    for path, text in files.items():
        storage.write_atomically(path, text.encode())
        click.echo(f"wrote {path}")
    click.echo(f"Check it: shuffledp check-baseline mine/{name}.py:{scaffold.class_name(name)}")


@main.command("new-paper")
@click.argument("name")
@click.option("--title", required=True, help="Title of the paper.")
@click.option("--citation", required=True, help="Authors, place and year.")
@click.option(
    "--prefix", required=True, help="Two to four capitals that begin the numbers of claims and notes."
)
def new_paper(name: str, title: str, citation: str, prefix: str) -> None:
    """Write a new paper NAME into a checkout: one figure, one claim and one note, which pass their tests."""
    from shuffledp.pipeline import new_files

    names = {"id": name, "title": title, "citation": citation, "prefix": prefix}
    with user_errors(one_line=False):
        for path in new_files.write("paper", names):
            click.echo(f"wrote {path}")
    new_files.golden(*(f"{part}/{name}" for part in ("experiments", "claims", "errata")))
    click.echo("Draw its figure: make quick; test: make test-changed")


@main.command("new-protocol")
@click.argument("name")
@click.option(
    "--family",
    type=click.Choice(["noisy_counts", "fixed_dummies", "randomized_reports"]),
    required=True,
    help="Counts with noise of any law, values among a fixed number of uniform dummies, or one randomized report per "
    "user.",
)
def new_protocol(name: str, family: str) -> None:
    """Write a new protocol NAME for frequencies into a checkout: class, test, identity and view of the audit."""
    from shuffledp.pipeline import new_files

    with user_errors(one_line=False):
        for path in new_files.write(f"protocol/{family}", new_files.names_of_protocol(name)):
            click.echo(f"wrote {path}")
    new_files.golden(f"protocols/frequency.{name}", "comparison")
    others = " and ".join(new_files.LISTS[f"protocol/{family}"])
    click.echo(f"Edit the class, and its law or its words in {others}. Test: make test-protocol NAME={name}")


@main.command("check-baseline")
@click.argument("protocol", metavar="FILE.py:CLASS")
@click.option(
    "--experiments/--no-experiments",
    default=True,
    show_default=True,
    help="Also run the smallest cell of every experiment of the task.",
)
@with_options(*SETTING, "max_value", eps={"required": False}, delta={"required": False}, max_value=WHOLE)
@configured
def check_baseline(protocol: str, experiments: bool, configfile: str | None, **setting: Any) -> None:
    """Check your own baseline: print a verdict per property, then run the smallest cell of every experiment.

    Small settings cover the corner cases. With --users, --eps, --delta and a size, the checks include this setting too.
    """
    from shuffledp.comparison.checked_setting import cases_of
    from shuffledp.protocols.conformance import default_cases, leakage_checks
    from shuffledp.protocols.registry import plugin

    with user_errors(one_line=False):
        protocol_class = plugin(protocol)
        own_cases = cases_of(protocol_class, **setting)
    cases = default_cases(protocol_class) + leakage_checks.further_cases(protocol_class) + own_cases
    lines: list[str] = []
    try:
        for line in _checked(protocol_class, protocol, cases, own_cases, experiments, configfile):
            lines.append(line)
            click.echo(printable(line))
    finally:
        if not any(line.startswith("privacy:") for line in lines):
            click.echo("privacy: NOT checked: a method fails before that")
    raise SystemExit(lines[-1] != "passed")


def _checked(
    protocol_class: type[ProtocolBase],
    protocol: str,
    cases: tuple[Case, ...],
    own_cases: tuple[Case, ...],
    experiments: bool,
    configfile: str | None,
) -> Iterator[str]:
    """Yield the lines of `check_baseline`, and the result as the last line. Errors of the class are raised."""
    from shuffledp.protocols.conformance import infeasible_cases, methods, running, verdicts

    file, printed = protocol.rpartition(":")[0], methods.Printed()
    problem = methods.quietly(printed, lambda: methods.fault(protocol_class, cases))
    if problem is not None:
        raise click.ClickException(f"{file}: {problem}. Nothing else was checked.")
    seconds = methods.quietly(printed, lambda: methods.seconds_per_user(protocol_class, cases))
    if seconds * methods.DRAWN > methods.PATIENCE:
        yield (
            f"{file}: encode takes about {1000 * seconds:.2g} ms per user, and the checks encode about "
            f"{methods.DRAWN // 10**6} million users: this may take {seconds * methods.DRAWN / 3600:.2g} hours"
        )
    failed = 0
    for verdict in methods.quietly(printed, lambda: verdicts(protocol_class, cases, "close", file)):
        failed += not verdict.passed
        if verdict.about == "privacy":
            yield f"privacy: {'' if verdict.passed else 'REJECTED, '}{verdict.note}"
        else:
            yield str(verdict)
    reasons = infeasible_cases(protocol_class, cases)
    yield f"infeasible: {sum(number for _, number in reasons)} of {len(cases)} cases"
    yield from (f"  {number} of them: {reason}" for reason, number in reasons)
    yield from (f"setting {case}: {running.how_checked(protocol_class, case)}" for case in own_cases)
    if experiments:
        from shuffledp.pipeline.config.smallest_cells import trials

        yield "experiments, the smallest cell of each with two repeats:"
        trial_results = trials(
            protocol_class, protocol, _settings(configfile), prepared=Path("data/prepared"), root=Path()
        )
        for trial in methods.each_quietly(printed, trial_results):
            failed += trial.status == "failed"
            yield f"  {trial}"
    if str(printed):
        yield f"{file} prints {printed}; its output is not shown"
    yield "passed" if not failed else f"FAILED: {failed}"
