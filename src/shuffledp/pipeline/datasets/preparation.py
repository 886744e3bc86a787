"""Writer of prepared data sets: a file from the first available source, its provenance and checksums."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from shuffledp.pipeline import table_files
from shuffledp.pipeline.datasets.prepared import Provenance, SourceKind, data_file
from shuffledp.pipeline.datasets.raw_files import obtain
from shuffledp.pipeline.datasets.registry import NAMES, Contents, locations, spec, summaries_folder, to_csv
from shuffledp.pipeline.datasets.source_errors import SourceError, local
from shuffledp.storage import publish, sha256_of, sweep, write_atomically


def _parquet(contents: Contents) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert contents.table is not None
    columns = {
        name: pa.array(column, None if column.dtype.kind == "i" else pa.string())
        for name, column in contents.table.items()
    }
    extra = {name: array.tolist() for name, array in contents.arrays.items()}
    table = pa.table(columns).replace_schema_metadata({"shuffledp": json.dumps(extra, sort_keys=True)})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _write(contents: Contents, provenance: Provenance, output_dir: Path) -> None:
    """Publish data and provenance; a reader detects an interruption between the two files."""
    name = provenance.name
    data = _parquet(contents) if spec(name).extension == "parquet" else table_files.npz(contents.arrays)
    note = json.dumps(asdict(provenance), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    files = {output_dir / data_file(name): data, output_dir / f"{name}.json": note.encode()}
    with local(output_dir):
        sweep(output_dir)
        publish(output_dir / f"{name}.sha256", files)


_ADVICE = (
    "Do one of these: connect to the network and run again; or set the environment variable SHUFFLEDP_MIRROR to a "
    "folder or http(s) URL with the files {files}; or put these files into {raw}; or set data.source: auto to permit "
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
    say: Callable[[str], None] = print,
) -> Provenance:
    """Write the prepared form of a data set from the first available source."""
    item = spec(name)
    if policy not in ("auto", "official"):
        raise ValueError(f"data.source must be 'auto' or 'official', got {policy!r}.")
    source: SourceKind
    try:
        raw = obtain(name, raw_dir, mirror or None, say)
    except SourceError as error:
        if policy == "official":
            files = ", ".join(
                sorted(f"{name}/{file}" for file in {location.file for location in locations(name)})
            )
            advice = _ADVICE.format(files=files, raw=f"{raw_dir / name}")
            raise SourceError(
                f"{item.title}: data.source is official, but the published data could not be "
                f"obtained:\n{error}\n{advice}"
            ) from None
        folder = summaries_dir or summaries_folder()
        used = item.substitute(folder)
        say(f"{item.title}: the published data could not be obtained:\n{error}")
        contents, source, origin, note = used.contents, used.source, used.origin, used.note
        digests = {file: sha256_of(folder / file) for file in item.summaries}
    else:
        contents, source, origin, note = item.parse(raw.files), raw.source, raw.origin, ""
        digests = {file: sha256_of(path) for file, path in raw.files.items()}
    provenance = Provenance(
        name,
        item.title,
        source,
        origin,
        digests,
        contents.n_records,
        note,
        locations(name)[0].license,
        item.citation,
    )
    _write(contents, provenance, output_dir)
    say(f"{item.title}: source {source} ({origin}), {contents.n_records:,} records. {note}".rstrip())
    return provenance


def make_summaries(
    out: Path, *, raw_dir: Path, mirror: str | None = None, say: Callable[[str], None] = print
) -> list[Path]:
    """Write the summary tables from the raw files of the data sets that have summaries."""
    written = []
    for item, name in ((spec(name), name) for name in NAMES if spec(name).summaries):
        try:
            raw = obtain(name, raw_dir, mirror, say)
        except SourceError as error:
            raise SourceError(
                f"{item.title}: summaries are made from the raw files, which could not be obtained:\n{error}\n"
                "Connect to the network, or set SHUFFLEDP_MIRROR."
            ) from None
        for file, table in item.summarize(item.parse(raw.files)).items():
            write_atomically(out / file, to_csv(table))
            written.append(out / file)
    return written
