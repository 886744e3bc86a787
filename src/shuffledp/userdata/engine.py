"""Columns of files of any size, read and grouped by DuckDB.

Memory is bounded: larger intermediate tables go to a temporary folder, which only its owner reads. DuckDB installs and
loads no extension; pyarrow reads S3 for it. Python receives each different value with its number of rows.
`shuffledp.userdata.counting` checks these values as it checks the cells of a small file.
"""

from __future__ import annotations

import csv
import glob
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shuffledp.optional_dependencies import needed
from shuffledp.userdata.files import address, files_of, format_of, is_remote, s3
from shuffledp.userdata.reading import NAMED, Faults, place_of, text_of

#: Memory of DuckDB if none is given.
MEMORY = "1GB"
#: Number of values that are fetched together.
_FETCHED = 16_384
#: Largest number of different bad values whose rows are looked up.
_LOOKED_UP = 1_000
#: Seconds between two calls with the finished share of a query.
_PATIENCE = 1.0
#: Characters that `str.strip` removes.
BLANKS = "".join(chr(i) for i in range(0x3001) if chr(i).isspace())
_WIDTHS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_KEY = re.compile(r"([^/=]+)=([^/]*)")
_MARKS = ",;\t|"
#: Placeholder of the options about damaged lines in the expression for CSV files.
_REJECTS = "/*rejects*/"
Percent = Callable[[float], None]
"""Function called about once per second with the finished percentage of a query."""


def quoted(text: str) -> str:
    """Return a text as a string literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def trimmed(column: str) -> str:
    """Return the SQL expression of a column as text without blanks at its ends."""
    return f"trim(CAST({column} AS VARCHAR), {quoted(BLANKS)})"


class Table:
    """Table of DuckDB with some columns of all files of a path, named ``c0``, ``c1``, .., file and row."""

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        *,
        delimiter: str | None = None,
        memory: str | None = None,
        percent: Percent | None = None,
    ) -> None:
        with needed():
            import duckdb

        self._duckdb, self.path, self._percent = duckdb, path, percent
        self.files = files_of(path)
        self._folder = tempfile.TemporaryDirectory(prefix="shuffledp-")
        self.kind = format_of(self.files[0]) or "csv"
        self.names: list[str] = []
        try:
            self._open(columns, delimiter, memory)
        except BaseException:
            self._folder.cleanup()
            raise

    def _open(self, columns: Sequence[str], delimiter: str | None, memory: str | None) -> None:
        options = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        with self._in_words():
            self.connection = self._duckdb.connect(
                config={**options, "memory_limit": memory or MEMORY, "temp_directory": self._folder.name}
            )
            if is_remote(self.files[0]):
                self.connection.register_filesystem(s3())
            self._source = " UNION ALL ".join(self._parts(columns, delimiter))

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self._folder.cleanup()

    def source(self, *, rejects: bool = False) -> str:
        """Return the SQL expression of the table; with `rejects`, DuckDB records the damaged lines of CSV files."""
        kept = ", store_rejects=true, rejects_limit=0" if rejects else ""
        return f"({self._source.replace(_REJECTS, kept)})"

    def run(self, query: str, values: Sequence[Any] = ()) -> None:
        """Run a query, while another thread reports its progress."""
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(done,), daemon=True)
        watcher.start()
        try:
            with self._in_words():
                self.connection.execute(query, list(values))
        finally:
            done.set()
            watcher.join()

    def fetched(self, query: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in blocks."""
        self.run(query, values)
        while True:
            with self._in_words():
                rows = self.connection.fetchmany(_FETCHED)
            if not rows:
                return
            yield rows

    def all(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query with a short result."""
        return [row for rows in self.fetched(query, values) for row in rows]

    def damaged(self, faults: Faults) -> None:
        """Add the lines without readable columns to the faults, after a query with `rejects`."""
        if self.kind != "csv":
            return
        scans = "reject_errors AS e JOIN reject_scans AS s USING (scan_id, file_id)"
        open_quotes = self.all(
            f"SELECT file_path, line FROM {scans} WHERE error_type = 'UNQUOTED VALUE' ORDER BY ALL LIMIT 1"
        )
        for file, line in open_quotes:
            raise ValueError(
                f"{file}, line {line}: a cell of this row opens with a quote that nothing closes."
            )
        lines = f"(SELECT file_path, line, min(error_message) AS what FROM {scans} GROUP BY ALL)"
        faults.count += self.all(f"SELECT count(*) FROM {lines}")[0][0]
        first = self.all(f"SELECT * FROM {lines} ORDER BY ALL LIMIT {NAMED}")
        for file, line, what in first:
            faults.describe((file, "line", line), _cells(what))

    def name(self, faults: Faults, bad: Sequence[Any], column: str, what: Callable[[Any], str]) -> None:
        """Describe the first rows with a bad value in a column; `faults` already counts these rows."""
        query = f"SELECT file, row, {column} FROM {self.source()} WHERE {column} IN (SELECT unnest(?))"
        if None in bad:
            query += f" OR {column} IS NULL"
        known = [one for one in bad[:_LOOKED_UP] if one is not None]
        if not known:
            query = query.replace("IN (SELECT unnest(?))", "IS NULL")
        rows = self.all(f"{query} ORDER BY 1, 2 LIMIT {NAMED}", [known] if known else [])
        for file, row, value in rows:
            faults.describe((file, "row", row), what(value))

    # -- the files as parts of one table ---------------------------------------------------------------------------

    def _parts(self, columns: Sequence[str], delimiter: str | None) -> Iterator[str]:
        if self.kind == "parquet":
            yield self._parquet(columns)
        elif self.kind == "json":
            yield self._json(columns)
        else:
            groups: dict[tuple[str, ...], list[Path]] = {}
            for file in self.files:
                groups.setdefault(self._header(file, columns, delimiter), []).append(file)
            self.names = list(dict.fromkeys(name for _, *names in groups for name in names))
            for (mark, *names), files in groups.items():
                yield self._csv(files, mark, names, columns)

    def _select(self, cells: Sequence[str], row: str, source: str) -> str:
        named = "".join(f"{cell} AS c{i}, " for i, cell in enumerate(cells))
        return f"SELECT {named}filename AS file, {row} AS row FROM {source}"

    def _hive(self, column: str) -> str | None:
        """Return the SQL expression of a column that all folder names give, as in hive partitions; otherwise None."""
        if not all(column in dict(_KEY.findall(file.parent.as_posix())) for file in self.files):
            return None
        value = f"regexp_extract(filename, {quoted(f'(?:^|/){re.escape(column)}=([^/]*)/')}, 1)"
        return f"nullif(url_decode({value}), '__HIVE_DEFAULT_PARTITION__')"

    def _csv(self, files: Sequence[Path], mark: str, names: Sequence[str], columns: Sequence[str]) -> str:
        hive = [self._hive(c) if c not in names else None for c in columns]
        read_any = " || coalesce(left(x0, 0), '')"  # a line that no column is read from is not checked
        cells = [
            f"{one}{read_any}" if one else f"x{place_of(files[0], c, names)}"
            for one, c in zip(hive, columns, strict=True)
        ]
        kinds = ", ".join(f"x{i}: 'VARCHAR'" for i in range(len(names)))
        read = f"read_csv({_list(files)}, columns={{{kinds}}}, auto_detect=false, header=true, delim={quoted(mark)}, "
        read += (
            "quote='\"', escape='\"', filename=true, hive_partitioning=false, ignore_errors=true"
            + _REJECTS
            + ")"
        )
        return self._select(cells, "NULL::BIGINT", read)

    def _header(self, file: Path, columns: Sequence[str], delimiter: str | None) -> tuple[str, ...]:
        """Return the separator of the cells, and the names of the columns."""
        query = "SELECT line FROM read_csv(?, columns={line: 'VARCHAR'}, auto_detect=false, header=false, "
        query += "delim='\x01', quote='', escape='', ignore_errors=true) LIMIT 1"
        rows = self.all(query, [glob.escape(address(file))])
        first = rows[0][0] or "" if rows else ""
        plain = file.with_suffix("") if file.suffix.lower() in (".gz", ".zst") else file
        marks = "\t" if plain.suffix.lower() == ".tsv" else _MARKS
        found = [(mark, *next(csv.reader([first], delimiter=mark), [])) for mark in delimiter or marks]
        fitting = (one for one in found if any(column in one[1:] for column in columns))
        return next(fitting, max(found, key=len))

    def _parquet(self, columns: Sequence[str]) -> str:
        read = (
            f"read_parquet({_list(self.files)}, union_by_name=true, filename=true, hive_partitioning=false)"
        )
        names = [row[0] for row in self.all(f"DESCRIBE SELECT * EXCLUDE (filename) FROM {read}")]
        self.names = names
        cells = [self._hive(c) if c not in names else None for c in columns]
        for cell, column in zip(cells, columns, strict=True):
            if cell is None:
                place_of(self.path, column, names)
        kept = [one or f'"{c.replace(chr(34), chr(34) * 2)}"' for one, c in zip(cells, columns, strict=True)]
        return self._select(kept, "file_row_number + 1", read)

    def _json(self, columns: Sequence[str]) -> str:
        read = f"read_ndjson_objects({_list(self.files)}, ignore_errors=true, filename=true)"
        self.names = sorted(self._keys(read)) if columns == [] else []
        cells = []
        for column in columns:
            path = quoted('$."' + column.replace('"', '\\"') + '"')
            cells.append(self._hive(column) or f"(json ->> {path})")
        return self._select(cells, "NULL::BIGINT", read)

    def _keys(self, read: str) -> set[str]:
        """Return the keys in the first lines of JSON."""
        rows = self.all(f"SELECT DISTINCT unnest(json_keys(json)) FROM (SELECT json FROM {read} LIMIT 1000)")
        return {key for (key,) in rows}

    # -- errors and progress ---------------------------------------------------------------------------------------

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Raise ValueError with a message of one line for an error of DuckDB."""
        try:
            yield
        except self._duckdb.OutOfMemoryException:
            raise ValueError(
                f"{address(self.path)}: the memory for reading is too small: give more memory."
            ) from None
        except self._duckdb.Error as error:
            kind = {"csv": "CSV", "parquet": "Parquet", "json": "JSON lines"}[self.kind]
            raise ValueError(
                f"{address(self.path)} is not a {kind} file, or damaged: {_sentence(str(error))}."
            ) from None

    def _watch(self, done: threading.Event) -> None:
        while not done.wait(_PATIENCE):
            if self._percent is not None:
                self._percent(self.connection.query_progress())


def _list(files: Sequence[Path]) -> str:
    return "[" + ", ".join(quoted(glob.escape(address(file))) for file in files) + "]"


def _cells(error: str) -> str:
    """Return the message for a damaged line of a CSV file."""
    numbers = _WIDTHS.search(error)
    return f"{numbers[2]} cells where the header has {numbers[1]}" if numbers else _sentence(error)


def _sentence(error: str) -> str:
    """Return the first line of an error message of DuckDB, without the kind of the error."""
    return error.strip().splitlines()[0].rpartition("Error: ")[2].rstrip(". ")


def missing(value: Any) -> bool:
    """Return True for a cell without content."""
    return value is None or value != value or text_of(value) == ""
