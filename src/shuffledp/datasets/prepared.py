"""Prepared data sets: one file, its provenance and their checksums, written by `prepare`, read by `load`."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from shuffledp.datasets.catalogue import BIRTHPLACE_DOMAIN, MSNBC_CATEGORIES, spec
from shuffledp.datasets.download import file_sha256
from shuffledp.datasets.errors import IntegrityError, SourceError
from shuffledp.datasets.sources import obtain, replace_bytes, sweep
from shuffledp.datasets.substitutes import substitute
from shuffledp.datasets.summaries import SUMMARY_FILES, default_summaries_dir
from shuffledp.datasets.tables import Contents, read_raw

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Dataset", "Provenance", "SourceKind", "data_file", "load", "members", "prepare"]

SourceKind = Literal["official", "mirror", "summary", "stand_in"]
_K = len(MSNBC_CATEGORIES)
_HOURS = 100
_SEXES = ("Female", "Male")
_INT32 = ("mask", "first")


@dataclass(frozen=True)
class Provenance:
    """Where a prepared data set comes from; ``<name>.json`` beside it.

    Attributes
    ----------
    name, title : str
        Key and full name.
    source : {"official", "mirror", "summary", "stand_in"}
        The first two are the published data, byte for byte; a summary keeps the margins named in `note`.
    origin : str
        URL, the word "mirror", the summary files, or how a stand-in was generated. Never a path of a machine.
    sha256 : dict of str to str
        Of the raw files (or of the summary tables).
    n_records : int
        Persons, users, ratings or images.
    note : str
        A sentence for figures when this is not the real data set, else empty.
    licence, citation : str
        Of the data set for which this stands.
    """

    name: str
    title: str
    source: SourceKind
    origin: str
    sha256: dict[str, str]
    n_records: int
    note: str
    licence: str
    citation: str

    @property
    def is_real(self) -> bool:
        """Whether this is the published data set."""
        return self.source in ("official", "mirror")


def data_file(name: str) -> str:
    """Return the file name of a prepared data set, for example ``adult.parquet``."""
    return f"{name}.{spec(name).extension}"


# ---- writing -------------------------------------------------------------------------------------


def _parquet(contents: Contents) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert contents.table is not None
    columns = {
        name: pa.array(column, pa.string() if name == "sex" else pa.int32() if name in _INT32 else pa.int64())
        for name, column in contents.table.items()
    }
    extra = {name: array.tolist() for name, array in contents.arrays.items()}
    table = pa.table(columns).replace_schema_metadata({"shuffledp": json.dumps(extra, sort_keys=True)})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _npz(contents: Contents) -> bytes:
    """Write arrays as numpy's ``savez`` does, but with a fixed date."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as bundle:
        for name, array in contents.arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            bundle.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), member.getvalue())
    return sink.getvalue()


def _write(contents: Contents, provenance: Provenance, output_dir: Path) -> None:
    """Write data, provenance, and last their checksums: a kill in between is noticed by every reader."""
    name = provenance.name
    checksum = output_dir / f"{name}.sha256"
    sweep(output_dir)
    checksum.unlink(missing_ok=True)
    data, note = output_dir / data_file(name), output_dir / f"{name}.json"
    replace_bytes(data, _parquet(contents) if spec(name).extension == "parquet" else _npz(contents))
    text = json.dumps(asdict(provenance), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    replace_bytes(note, text.encode())
    lines = "".join(f"{file_sha256(path)}  {path.name}\n" for path in (data, note))
    replace_bytes(checksum, lines.encode())


_ADVICE = (
    "Do one of these: connect to the network and run again; or set the environment variable "
    "SHUFFLEDP_MIRROR to a "
    "folder or http(s) URL with the files {files}; or put these files into {raw}; or set data.source: "
    "auto to permit "
    "the substitute."
)


def prepare(
    name: str,
    *,
    raw_dir: Path,
    output_dir: Path,
    mirror: str | None = None,
    policy: Literal["auto", "official"] = "auto",
    summaries_dir: Path | None = None,
    progress: bool = True,
    say: Callable[[str], None] = print,
) -> Provenance:
    """Get a data set from the first source that has it and write its prepared form.

    Parameters
    ----------
    name : {"adult", "msnbc", "ipums", "mnist", "movielens"}
        Data set.
    raw_dir : Path
        Raw files are kept in ``<raw_dir>/<name>/`` and verified each time they are used.
    output_dir : Path
        Gets ``<name>.parquet`` (``mnist.npz``), ``<name>.json`` and ``<name>.sha256``, with deterministic
        bytes.
    mirror : str, optional
        Folder or http(s) URL with files ``<name>/<raw file>``; None or empty for none.
    policy : {"auto", "official"}
        "official" permits the published data only (a mirror with the right checksums has the same bytes).
    summaries_dir : Path, optional
        The shipped summary tables; by default those of this repository.
    progress : bool
        Show progress bars on terminals.
    say : callable
        Told what goes wrong on the way and, at the end, what was used: one line each.

    Returns
    -------
    Provenance
        What was used.

    Raises
    ------
    SourceError
        If no permitted source has the data; the message says what to do.
    ParseError
        If a raw file or summary has the wrong format, naming file and line.
    ValueError
        If name or policy is unknown.
    """
    item = spec(name)
    if policy not in ("auto", "official"):
        raise ValueError(f"data.source is {policy!r}, expected 'auto' or 'official'.")
    try:
        raw = obtain(item, raw_dir, mirror or None, progress=progress, say=say)
    except SourceError as error:
        if policy == "official":
            files = ", ".join(f"{name}/{file.name}" for file in item.raw_files)
            advice = _ADVICE.format(files=files, raw=f"{raw_dir / name}")
            raise SourceError(
                f"{item.title}: data.source is official, but the published data could not be "
                f"had:\n{error}\n{advice}"
            ) from None
        folder = summaries_dir or default_summaries_dir()
        used = substitute(name, folder)
        say(f"{item.title}: the published data could not be had:\n{error}")
        contents, source, origin, note = (
            used.contents,
            cast("SourceKind", used.source),
            used.origin,
            used.note,
        )
        digests = {file: file_sha256(folder / file) for file in SUMMARY_FILES.get(name, ())}
    else:
        contents = read_raw(name, raw.files)
        source, origin, note, digests = cast("SourceKind", raw.source), raw.origin, "", raw.sha256
    provenance = Provenance(
        name, item.title, source, origin, digests, contents.n_records, note, item.licence, item.citation
    )
    _write(contents, provenance, output_dir)
    say(f"{item.title}: source {source} ({origin}), {contents.n_records:,} records. {note}".rstrip())
    return provenance


# ---- reading -------------------------------------------------------------------------------------


def members(masks: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return, for (m,) bit sets, the (m, 17) table of which categories each one holds."""
    held: NDArray[np.bool_] = ((np.asarray(masks)[:, None] >> np.arange(_K)) & 1).astype(bool)
    return held


@dataclass(frozen=True)
class Dataset:
    """A prepared data set.

    Attributes
    ----------
    name : str
        Data set.
    table : DataFrame or None
        Counts of distinct values, int64 column `count`: Adult `sex`, `hours_per_week`; IPUMS `birthplace`;
        MovieLens `movie`; MSNBC `mask` (int32, bit c-1 set for category c), `first` (1..17). None for MNIST.
    arrays : dict of ndarray
        MNIST: uint8 `train_images` (60000, 28, 28), `train_labels`, `test_images`, `test_labels` (other
        shapes for the stand-in). MSNBC: int64 `visits` (17,). Else empty.
    provenance : Provenance
        Where it comes from.
    """

    name: str
    table: pd.DataFrame | None
    arrays: dict[str, NDArray[np.generic]]
    provenance: Provenance

    def columns(self) -> tuple[str, ...]:
        """Return the names which `histogram` knows."""
        return _COLUMNS[self.name]

    def histogram(self, column: str, domain_size: int | None = None) -> NDArray[np.int64]:
        """Return how many records hold each value of a column.

        Parameters
        ----------
        column : str
            Adult: `sex` (0 = Female, 1 = Male), `hours_per_week` (index = hours, 0..99).
            IPUMS: `birthplace` (index = code - 1, 900 values).
            MovieLens: `movie` (index = rank of the movie number, 26,744 values); records are ratings.
            `sampled_movie` (2,000 values, 494,352 records): see `sample_ratings`.
            MSNBC, 17 values each: `category` (users whose set holds category index + 1), `first` (users
            whose first page is of it), `visits` (page visits), `set_size` (users with index + 1 distinct
            categories). MNIST: `train_labels`, `test_labels` (10 values).
        domain_size : int, optional
            Length of the answer, at least the sizes above; further values get 0.

        Returns
        -------
        (k,) ndarray of int64

        Raises
        ------
        ValueError
            If the column is unknown, or the domain too small.
        """
        if column not in self.columns():
            raise ValueError(f"{self.name} has no column {column!r}. Known: {', '.join(self.columns())}.")
        counts = self._counts(column)
        size = counts.size if domain_size is None else domain_size
        if size < counts.size:
            raise ValueError(
                f"domain_size is {size}, but {column!r} of {self.name} has {counts.size} values: give at "
                f"least that."
            )
        return np.concatenate((counts, np.zeros(size - counts.size, np.int64)))

    def _counts(self, column: str) -> NDArray[np.int64]:
        if self.name == "mnist":
            return np.bincount(self.arrays[column].astype(np.int64), minlength=10).astype(np.int64)
        if column == "visits":
            return self.arrays["visits"].astype(np.int64)
        assert self.table is not None
        count = self.table["count"].to_numpy()
        if column == "movie":
            return count.astype(np.int64)
        if column == "sampled_movie":
            return sample_ratings(count.astype(np.int64))
        if column in ("category", "set_size"):
            held = members(self.table["mask"].to_numpy())
            if column == "category":
                return (count @ held).astype(np.int64)
            index, size = held.sum(axis=1) - 1, _K
        elif column == "sex":
            index, size = (self.table["sex"] == _SEXES[1]).to_numpy().astype(np.int64), len(_SEXES)
        else:
            offset, size = {
                "birthplace": (1, BIRTHPLACE_DOMAIN),
                "hours_per_week": (0, _HOURS),
                "first": (1, _K),
            }[column]
            index = self.table[column].to_numpy() - offset
        result = np.zeros(size, np.int64)
        np.add.at(result, index, count)
        return result

    def sets(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the distinct sets (bit masks, increasing) and how many users hold each; MSNBC only."""
        if self.name != "msnbc" or self.table is None:
            raise ValueError(f"{self.name} has no sets; only msnbc has.")
        total = self.table.groupby("mask")["count"].sum()
        return total.index.to_numpy(np.int32), total.to_numpy(np.int64)

    def set_size_distribution(self) -> NDArray[np.int64]:
        """Return the number of users with 1, 2, .., 17 distinct categories; MSNBC only."""
        self.sets()
        return self.histogram("set_size")

    def first_and_size(self) -> NDArray[np.int64]:
        """Return users per first page and number of distinct categories, (17, 18); MSNBC only.

        The first index is the category of the first page - 1, the second the number of distinct categories, 0..17.
        """
        self.sets()
        assert self.table is not None
        size = members(self.table["mask"].to_numpy()).sum(axis=1)
        result = np.zeros((_K, _K + 1), np.int64)
        np.add.at(result, (self.table["first"].to_numpy() - 1, size), self.table["count"].to_numpy())
        return result

    def sample_sets(self, n: int, rng: np.random.Generator, *, replace: bool = False) -> NDArray[np.int32]:
        """Draw the sets of `n` users in random order; MSNBC only.

        Parameters
        ----------
        n : int
            Number of users, >= 0; at most the number of records unless `replace`.
        rng : numpy.random.Generator
            Source of randomness.
        replace : bool
            Draw with replacement.

        Returns
        -------
        (n,) ndarray of int32
            Bit masks; `members` turns them into a table of categories.

        Raises
        ------
        ValueError
            If `n` is out of range, or the data set has no sets.
        """
        masks, count = self.sets()
        total = int(count.sum())
        if n < 0 or (n > total and not replace):
            raise ValueError(f"n is {n}, expected 0..{total} (or replace=True).")
        if replace:
            drawn = rng.multinomial(n, count / total)
        else:
            drawn = rng.multivariate_hypergeometric(count, n, method="marginals")
        return rng.permutation(np.repeat(masks, drawn))


_COLUMNS: dict[str, tuple[str, ...]] = {
    "adult": ("sex", "hours_per_week"),
    "ipums": ("birthplace",),
    "movielens": ("movie", "sampled_movie"),
    "msnbc": ("category", "first", "visits", "set_size"),
    "mnist": ("train_labels", "test_labels"),
}


def columns_of(name: str) -> tuple[str, ...]:
    """Return the columns that `Dataset.histogram` knows of a data set."""
    return _COLUMNS[name]


def _verified(name: str, folder: Path) -> dict[str, bytes]:
    """Read the prepared files and compare them with their checksums."""
    advice = "Run `make repair`, then run again."
    checksum = folder / f"{name}.sha256"
    wanted = (data_file(name), f"{name}.json")
    try:
        lines = [line.split(maxsplit=1) for line in checksum.read_text(encoding="utf-8").splitlines()]
        digests = {line[1].lstrip("*"): line[0] for line in lines}
    except (OSError, ValueError, IndexError) as error:
        raise IntegrityError(f"{checksum}: missing or damaged ({error}). {advice}") from error
    contents = {}
    for file in wanted:
        path = folder / file
        try:
            contents[file] = path.read_bytes()
        except OSError as error:
            raise IntegrityError(f"{path}: cannot be read ({error.strerror}). {advice}") from error
        found = hashlib.sha256(contents[file]).hexdigest()
        if found != digests.get(file):
            raise IntegrityError(
                f"{path}: sha256 is {found}, expected {digests.get(file)}: the file has been changed or "
                f"was only "
                f"partly written. {advice}"
            )
    return contents


def load(name: str, prepared_dir: Path) -> Dataset:
    """Read a prepared data set after verifying its checksums.

    Parameters
    ----------
    name : str
        Data set.
    prepared_dir : Path
        The `output_dir` of `prepare`.

    Raises
    ------
    IntegrityError
        If a file is missing or does not match its checksum; names the file and what rebuilds it.
    ValueError
        If the name is unknown.
    """
    spec(name)
    contents = _verified(name, Path(prepared_dir))
    note = json.loads(contents[f"{name}.json"])
    provenance = Provenance(**{item.name: note[item.name] for item in fields(Provenance)})
    data = io.BytesIO(contents[data_file(name)])
    if spec(name).extension == "npz":
        with np.load(data, allow_pickle=False) as bundle:
            return Dataset(name, None, {key: bundle[key] for key in bundle.files}, provenance)
    import pyarrow.parquet as pq

    # Tiny tables: no thread pools, which now and then abort the interpreter while it exits.
    table = pq.read_table(data, use_threads=False, pre_buffer=False)
    extra = json.loads((table.schema.metadata or {}).get(b"shuffledp", b"{}"))
    arrays: dict[str, NDArray[np.generic]] = {key: np.array(value, np.int64) for key, value in extra.items()}
    frame = table.replace_schema_metadata(None).to_pandas(use_threads=False)
    return Dataset(name, frame, arrays, provenance)


SAMPLED_MOVIES = 2_000
SAMPLED_RATINGS = 494_352
_SAMPLE_SEED = 2009_13738


def sample_ratings(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a fixed sample of the ratings: as many ratings and movies as in the experiments of the DUMP paper.

    The paper does not say which of MovieLens' ratings it took. Here 2,000 movies are drawn uniformly, then 494,352 of
    their ratings, both without replacement and with a seed of their own, so that the sample is the same in every run.

    Parameters
    ----------
    counts : (k,) ndarray of int64
        Ratings per movie.

    Returns
    -------
    (2000,) ndarray of int64
        Sampled ratings of the chosen movies, in the order of `counts`.

    Raises
    ------
    ValueError
        If there are fewer movies, or the chosen ones have fewer ratings.
    """
    if counts.size < SAMPLED_MOVIES:
        raise ValueError(f"Sampling needs at least {SAMPLED_MOVIES} movies, got {counts.size}.")
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(_SAMPLE_SEED)))
    chosen = counts[np.sort(rng.choice(counts.size, SAMPLED_MOVIES, replace=False))]
    if chosen.sum() < SAMPLED_RATINGS:
        raise ValueError(
            f"Sampling needs at least {SAMPLED_RATINGS} ratings of the chosen movies, got {int(chosen.sum())}."
        )
    return rng.multivariate_hypergeometric(chosen, SAMPLED_RATINGS, method="marginals").astype(np.int64)
