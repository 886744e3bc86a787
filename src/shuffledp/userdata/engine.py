"""Columns of files of any size as one table of texts, read and grouped by DuckDB.

Memory is bounded: larger intermediate tables go to a temporary folder, which only its owner reads. DuckDB installs and
loads no extension; pyarrow reads S3 for it. All formats become texts here, and `shuffledp.userdata.cells` makes them
the same text and the same number.
"""

from __future__ import annotations

import csv
import glob
import json
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from shuffledp.optional_dependencies import needed
from shuffledp.userdata.cells import CHANGED, NAMES_USER, Faults, empty, listed, numeral_of, place_of, text_of
from shuffledp.userdata.files import address, files_of, format_of, is_remote, plain, reason_of, s3

#: Memory of DuckDB if none is given.
MEMORY = "1GB"
#: Number of rows that are fetched together.
_FETCHED = 16_384
#: Seconds between two calls with the finished share of a query.
_PATIENCE = 1.0
#: Lines in which the header of a CSV file, whose cells may have line breaks, must end.
_HEADER = 100
#: Bytes of the longest line that DuckDB reads.
_LONGEST = 2_000_000
#: Texts that may separate the cells.
_MARKS = ",;\t|"
_KEY = re.compile(r"([^/=]+)=([^/]*)")
#: Types of Parquet files whose texts are what `text_of` makes of them.
_WHOLE = {f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")}
#: Reason of lines that are no objects of JSON.
_NO_OBJECT = "without one JSON object"
#: Rows in which repeated users are looked for.
_SEEN = 1_000_000
#: Reason of rows of another length than the header.
_WIDTH = "with another number of cells than the header"
_KINDS = {"csv": "CSV", "parquet": "Parquet", "json": "JSON lines"}
_REASONS = {
    "MISSING COLUMNS": _WIDTH,
    "TOO MANY COLUMNS": _WIDTH,
    "LINE SIZE OVER MAXIMUM": "with a line of more than 2 MB",
}
_LINES = "columns={line: 'VARCHAR'}, auto_detect=false, header=false, delim='\x01', quote='', escape=''"
_LINES += ", strict_mode=false"
#: Condition on a line that is one object of JSON.
_OBJECT = "coalesce(json_type(TRY_CAST(line AS JSON)) = 'OBJECT', false)"
#: Option of CSV files that refuses open quotes, and also a mix of line ends.
_STRICT, _LOOSE = (f"/*of CSV*/strict_mode={on}" for on in ("true", "false"))
_LINE_ENDS = " has quotes and several kinds of line ends: make all line ends the same."
#: Beginning of the message on a float without an exact text; the name of the file follows.
_LARGE = "float without an exact text: "
#: Middle of the message on objects or lists of JSON in the place of texts, or texts in the place of lists.
_SHAPE = " has values of another shape under "
#: Function called about once per second with the finished percentage of a query.
Percent = Callable[[float], None]


def quoted(text: str) -> str:
    """Return a text as a string literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def canonical(column: str) -> str:
    """Return the SQL expression of `text_of` for a column of texts; null for a missing cell."""
    clean = f"regexp_full_match({column}, '(?s)[!-~]|[!-~].*[!-~]')"  # Python changes all other texts
    same = f"{clean} AND NOT regexp_full_match({column}, {quoted(CHANGED)})"
    return f"nullif(CASE WHEN {same} THEN {column} ELSE text_of({column}) END, '')"


def numeral(column: str) -> str:
    """Return the SQL expression of `numeral_of` for a column of texts; null for a missing cell."""
    short = "0|-?[1-9][0-9]{0,14}|-?(?:[1-9][0-9]*[.][0-9]*|0[.][0-9]{0,3})[1-9]"
    same = f"length({column}) <= 16 AND regexp_full_match({column}, '{short}')"
    return f"CASE WHEN {same} THEN {column} ELSE numeral_of({canonical(column)}) END"


def _shortest(number: str, text: str, large: str) -> str:
    """Return the SQL expression of the text of a float; `large` is the text from 2^53 on."""
    whole = f"WHEN {number} = trunc({number}) THEN CAST(CAST({number} AS BIGINT) AS VARCHAR)"
    return f"CASE WHEN isnan({number}) THEN NULL {large} {whole} ELSE {text} END"


class DataTable:
    """Table of DuckDB with some columns of all files of a path, named ``c0``, ``c1``, .. and file."""

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        *,
        delimiter: str | None = None,
        memory: str | None = None,
        percent: Percent | None = None,
        numbers: bool = False,
        lists: bool = False,
    ) -> None:
        with needed():
            import duckdb
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ValueError(f"delimiter must be one character, got {delimiter!r}.")
        if memory is not None and not re.fullmatch(r"(?i)\d+(\.\d+)? ?([KMGT](i?B)?|B)", memory):
            raise ValueError(f"memory must be a size such as 4GB, got {memory!r}.")
        self._duckdb, self.path, self._percent = duckdb, path, percent
        self._numbers, self._lists, self._delimiter, self.columns = numbers, lists, delimiter, columns
        self.files = files_of(path)
        self.kind = format_of(self.files[0]) or "csv"
        self._folder = tempfile.TemporaryDirectory(prefix="shuffledp-")
        self.names: list[str] = []
        self._counts: list[str] = []
        self._whole = set(range(len(columns))) if self.kind == "parquet" else set()
        if numbers:
            self._whole.discard(0)
        try:
            self._open(columns, memory)
        except BaseException:
            self._folder.cleanup()
            raise

    def _open(self, columns: Sequence[str], memory: str | None) -> None:
        options = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        try:
            self.connection = self._duckdb.connect(
                config={**options, "memory_limit": memory or MEMORY, "temp_directory": self._folder.name}
            )
        except self._duckdb.ParserException:
            raise ValueError(f"memory must be below 2^63 bytes, got {memory!r}.") from None
        with self._in_words():
            # DuckDB 2.0 takes nan for a number between the statistics of a Parquet file, which leave nan out.
            self.connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            self.connection.create_function("text_of", text_of, ["VARCHAR"], "VARCHAR")
            self.connection.create_function("numeral_of", numeral_of, ["VARCHAR"], "VARCHAR")
            if is_remote(self.files[0]):
                self.connection.register_filesystem(s3())
            parts = {"csv": self._csv, "parquet": self._parquet, "json": self._json}[self.kind]
            self.source = f"({' UNION ALL '.join(parts(columns))})"

    def __enter__(self) -> DataTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, and remove the intermediate tables."""
        self.connection.close()
        self._folder.cleanup()

    @property
    def values(self) -> str:
        """Query of the different texts of the first column with their numbers of rows."""
        if not self._counts:
            return f"SELECT c0, count(*) FROM {self.source} GROUP BY c0"
        return f"SELECT c0, sum(n)::BIGINT FROM ({' UNION ALL '.join(self._counts)}) GROUP BY c0"

    def text(self, i: int) -> str:
        """Return the SQL expression of the text of a column, by which values and users are grouped."""
        if i in self._whole:
            return f"c{i}"
        return numeral(f"c{i}") if self._numbers and i == 0 else canonical(f"c{i}")

    def run(self, query: str, values: Sequence[Any] = ()) -> Any:
        """Run a query, while another thread reports its progress."""
        finished = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(finished,), daemon=True)
        watcher.start()
        try:
            with self._in_words():
                try:
                    return self.connection.execute(query, list(values))
                except self._duckdb.InvalidInputException as error:
                    if "state machine" not in str(error) or _STRICT not in self.source:
                        raise
                    self._accept_line_ends()
                    return self.connection.execute(query.replace(_STRICT, _LOOSE), list(values))
        finally:
            finished.set()
            watcher.join()

    def _accept_line_ends(self) -> None:
        """Read CSV files with several kinds of line ends. Raise ValueError for a file that also has quotes."""
        for (file,) in self.connection.execute(
            f"SELECT filename FROM {_lines(self.files, 'ignore_errors=true')} WHERE contains(line, '\"') LIMIT 1"
        ).fetchall():
            raise ValueError(f"{file}{_LINE_ENDS}")
        self.source = self.source.replace(_STRICT, _LOOSE)

    def fetched(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query."""
        self.run(query)
        while True:
            with self._in_words():
                rows = self.connection.fetchmany(_FETCHED)
            if not rows:
                return
            yield from rows

    def damaged(self, faults: Faults) -> None:
        """Add the lines that could not be read to the faults, after the first query."""
        if self.kind == "json":
            self._damaged_json(faults)
        if self.kind != "csv":
            return
        scans = "reject_errors AS e JOIN reject_scans AS s USING (scan_id, file_id)"
        quotes = "length(csv_line) - length(replace(csv_line, '\"', ''))"
        opens = f"contains(trim(csv_line, chr(10)), chr(10)) AND ({quotes}) % 2 = 1"
        left_out = ", ".join(map(quoted, _REASONS))
        kind = (
            f"CASE WHEN {opens} THEN '2UNQUOTED VALUE' WHEN error_type IN ({left_out}) THEN '0' ELSE '1' END"
        )
        kind = f"{kind} || CASE WHEN {opens} THEN '' ELSE error_type::VARCHAR END"
        lines = f"SELECT file_path, line, max({kind})[2:] AS kind FROM {scans} GROUP BY file_path, line"
        first = "min([file_path, lpad(line::VARCHAR, 20, '0')])"
        for kind, rows, (file, line) in list(
            self.fetched(f"SELECT kind, count(*), {first} FROM ({lines}) GROUP BY kind")
        ):
            place = f"{file}, line {int(line)}"
            if kind not in _REASONS:
                raise ValueError(f"{place}: {_broken(kind)}.")
            faults.add(_REASONS[kind], rows, place)

    def _damaged_json(self, faults: Faults) -> None:
        """Move lines without an object from the empty cells to a reason of their own; refuse lines with several."""
        missing = empty(self.columns[0])
        if not faults.reasons[missing]:
            return
        number = "row_number() OVER (PARTITION BY filename) AS row"
        rows = f"SELECT filename, {number}, line FROM {_lines(self.files)}"
        for file, row, line in self.fetched(
            f"SELECT * FROM ({rows}) WHERE trim(line) <> '' AND NOT {_OBJECT}"
        ):
            if _has_objects(line):
                raise ValueError(f"{file}, line {row}: several objects of JSON; write one per line.")
            faults.add(_NO_OBJECT, 1, f"{file}, line {row}")
            faults.add(missing, -1)

    def name(self, faults: Faults, reason: str, bad: Sequence[str | None], column: int = 0) -> None:
        """Name a first row with one of these bad texts in a column; `faults` already counts these rows."""
        if reason in faults.places or reason not in faults.reasons:
            return
        is_bad = f"{self.text(column)} IN (SELECT unnest(?::VARCHAR[]))"
        if None in bad:
            is_bad += f" OR {self.text(column)} IS NULL"
        texts = [text for text in bad if text is not None]
        for (file,) in self.run(f"SELECT file FROM {self.source} WHERE {is_bad} LIMIT 1", [texts]).fetchall():
            faults.places[reason] = self._row(file, is_bad, texts)

    def _row(self, file: str, condition: str, values: Sequence[Any] | None = None) -> str:
        """Return a file and its first row that satisfies a condition."""
        with DataTable(
            Path(file), self.columns, delimiter=self._delimiter, numbers=True, lists=self._lists
        ) as table:
            rows = f"SELECT row_number() OVER () AS row, * FROM {table.source}"
            query = f"SELECT min(row) FROM ({rows}) WHERE {condition}"
            row = table.run(query, [] if values is None else [values]).fetchone()[0]
        return f"{file}, row {row}"

    def repeated(self, columns: Sequence[str]) -> str | None:
        """Return another column whose name is that of a user, and which repeats a value within the first rows."""
        for column in [name for name in self.names if name not in columns and NAMES_USER.search(name)]:
            with DataTable(self.path, [column], delimiter=self._delimiter) as other:
                query = f"SELECT count(c0) > count(DISTINCT c0) FROM (SELECT c0 FROM {other.source} LIMIT {_SEEN})"
                if next(other.fetched(query))[0]:
                    return column
        return None

    # -- the files as parts of one table ---------------------------------------------------------------------------

    def _select(self, cells: Sequence[str], source: str) -> str:
        named = "".join(f"{cell} AS c{i}, " for i, cell in enumerate(cells))
        return f"SELECT {named}filename AS file FROM {source}"

    def _hive(self, column: str) -> str | None:
        """Return the SQL expression of a column that all folder names give, as in hive partitions; otherwise None."""
        if not all(column in dict(_KEY.findall(file.parent.as_posix())) for file in self.files):
            return None
        value = f"regexp_extract(filename, {quoted(f'(?:^|/){re.escape(column)}=([^/]*)/')}, 1)"
        return f"nullif(url_decode({value}), '__HIVE_DEFAULT_PARTITION__')"

    def _cells(
        self, columns: Sequence[str], names: Sequence[str], read: Callable[[int], str]
    ) -> Iterator[str]:
        """Yield the SQL expression of every column: from the file, otherwise from the names of the folders."""
        for column in columns:
            hive = self._hive(column) if column not in names else None
            yield hive or read(place_of(address(self.path), column, names))

    def _csv(self, columns: Sequence[str]) -> Iterator[str]:
        headers = {file: self._header(file, columns) for file in self.files}
        self.names = list(dict.fromkeys(name for _, *names in headers.values() for name in names))
        for (mark, *names), files in groupby(self.files, headers.__getitem__):  # in the order of the files
            rejects = f"store_rejects=true, rejects_limit=0, {_STRICT}"
            read = self._of_csv(list(files), mark, names, rejects)
            touched = " || coalesce(left(x0, 0), '')"  # a line that no column is read from is not checked
            cells = self._cells(columns, names, lambda i: f"x{i}")
            yield self._select([cell if cell[0] == "x" else cell + touched for cell in cells], read)

    def _header(self, file: Path, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the separator of the cells, and the names of the columns."""
        read = _lines([file], "ignore_errors=true, max_line_size=4000000")
        lines = [line or "" for (line,) in self.run(f"SELECT line FROM {read} LIMIT {_HEADER}").fetchall()]
        if lines and len(lines[0].encode()) > _LONGEST:
            raise ValueError(f"{address(file)} has a header of more than 2 MB.")
        if lines and "\x00" in lines[0]:
            raise ValueError(f"{address(file)} is UTF-16 or no text: save it as UTF-8.")
        try:  # a header that is not UTF-8, which the query above leaves out
            self.connection.execute(f"SELECT line FROM {_lines([file])} LIMIT 1")
        except self._duckdb.InvalidInputException as error:
            if "Line: 1\n" in str(error) and "nvalid unicode" in str(error):
                raise ValueError(f"{address(file)}, line 1: {_broken('INVALID UNICODE')}.") from None
        marks = self._delimiter or ("\t" if plain(file).suffix.lower() == ".tsv" else _MARKS)
        limit = csv.field_size_limit(2 * _LONGEST)
        headers = [
            (mark, *next(csv.reader([f"{line}\n" for line in lines], delimiter=mark), [])) for mark in marks
        ]
        csv.field_size_limit(limit)
        fitting = (header for header in headers if any(column in header[1:] for column in columns))
        mark, *names = next(fitting, max(headers, key=len))
        if any("\n" in name for name in names):
            strict, loose = (self._of_csv([file], mark, names, option) for option in (_STRICT, _LOOSE))
            query = f"SELECT EXISTS (FROM {loose}) AND NOT EXISTS (FROM {strict})"
            with suppress(self._duckdb.InvalidInputException):
                if self.connection.execute(query).fetchall() == [(False,)]:
                    return mark, *names
            raise ValueError(f"{address(file)}{_LINE_ENDS}")
        return mark, *names

    def _of_csv(self, files: Sequence[Path], mark: str, names: Sequence[str], options: str) -> str:
        """Return the SQL expression of CSV files with the same header; the cells are ``x0``, ``x1``, .."""
        kinds = ", ".join(f"x{i}: 'VARCHAR'" for i in range(len(names)))
        return (
            f"read_csv({_list(files)}, columns={{{kinds}}}, auto_detect=false, header=true, "
            f"delim={quoted(mark)}, quote='\"', escape='\"', filename=true, hive_partitioning=false, "
            f"ignore_errors=true, {options})"
        )

    def _parquet(self, columns: Sequence[str]) -> Iterator[str]:
        query = f"SELECT * FROM parquet_schema({_list(self.files)})"
        result = self.run(query)
        keys = [about[0] for about in result.description]
        schemas: dict[str, list[dict[str, Any]]] = {}
        for row in result.fetchall():
            about = dict(zip(keys, row, strict=True))
            schemas.setdefault(about.pop("file_name"), []).append(about)
        self.names = []
        for schema, paths in groupby(
            map(address, self.files), schemas.__getitem__
        ):  # in the order of the files
            names = _top(schema)
            self.names += [name for name in names if name not in self.names]
            of_schema = _list([Path(file) for file in paths])
            fields = ", ".join(f"x{i}" for i in range(len(names)))
            read = f"read_parquet({of_schema}, hive_partitioning=false) AS t({fields})"
            kinds = [str(row[1]) for row in self.run(f"DESCRIBE SELECT {fields} FROM {read}").fetchall()]
            exact = [not self._numbers or name != columns[0] for name in names]
            typed = [
                self._typed(f"x{i}", kind, exact=exact[i]) if names[i] in columns else ""
                for i, kind in enumerate(kinds)
            ]
            cells = list(self._cells(columns, names, typed.__getitem__))
            places = [names.index(column) if column in names else -1 for column in columns]
            self._whole &= {i for i, place in enumerate(places) if place >= 0 and kinds[place] in _WHOLE}
            yield self._select(cells, read)
            if self._numbers and columns:  # a text for every different number, not for every row
                rows = f"(SELECT x{places[0]}, count(*) AS n FROM {read} GROUP BY x{places[0]})"
                rows = rows if places[0] >= 0 else f"(SELECT filename, 1 AS n FROM {read})"
                self._counts.append(f"SELECT {cells[0]} AS c0, n FROM {rows}")

    def _typed(self, cell: str, kind: str, *, exact: bool) -> str:
        """Return the SQL expression of a typed cell as text, or of a list of texts."""
        inner = kind.rpartition("[")[0]
        if inner and self._lists and not inner.endswith("]"):
            entry = self._text_of_type("entry", inner, exact=exact)
            return f"list_transform(CAST({cell} AS {inner}[]), lambda entry: {entry})"
        if self._lists:
            raise ValueError(f"{address(self.path)}: the column holds {kind}, not lists.")
        return self._text_of_type(cell, kind, exact=exact)

    def _text_of_type(self, cell: str, kind: str, *, exact: bool) -> str:
        if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
            raise ValueError(f"{address(self.path)}: the column holds {kind}, not one value per row.")
        text = f"CAST({cell} AS VARCHAR)"
        if kind == "BLOB":
            return f"decode({cell})"
        if kind.startswith("DECIMAL"):
            return f"regexp_replace({text}, '[.]0+$|([.][0-9]*[1-9])0+$', '\\1')"
        if kind in ("FLOAT", "DOUBLE"):
            most = 2 ** (24 if kind == "FLOAT" else 53)
            large = (
                f"error({quoted(_LARGE)} || filename || ', row ' || (file_row_number + 1))" if exact else text
            )
            large = f"WHEN isinf({cell}) THEN {text} WHEN abs({cell}) >= {most} THEN {large}"
            return _shortest(cell, text, large)
        return text

    def _json(self, columns: Sequence[str]) -> Iterator[str]:
        lines = f"SELECT CASE WHEN {_OBJECT} THEN line END AS line, filename FROM {_lines(self.files)}"
        objects = f"({lines} WHERE trim(line) <> '')"
        first = f"FROM {objects} WHERE line IS NOT NULL LIMIT 1000"
        self.names = sorted(
            key for (key,) in self.run(f"SELECT DISTINCT unnest(json_keys(line)) FROM ({first})").fetchall()
        )
        cells = []
        for i, column in enumerate(columns):
            text, hive = self._of_object(column, exact=i > 0 or not self._numbers), self._hive(column)
            cells.append(text if hive is None else f"coalesce({text}, {hive})")
        yield self._select(cells, objects)

    def _of_object(self, column: str, *, exact: bool) -> str:
        """Return the SQL expression of the text, or of the list of texts, under a key of an object of JSON."""
        path = quoted("/" + column.replace("~", "~0").replace("/", "~1"))
        name = quoted(listed([column]))
        wrong = f"error(filename || {quoted(_SHAPE)} || {name} || '.')"
        if not self._lists:
            kind, text = f"json_type(line, {path})", f"json_extract_string(line, {path})"
            return self._text_of_json(kind, text, wrong, exact=exact)
        entry = self._text_of_json("json_type(entry)", "json_extract_string(entry, '$')", wrong, exact=exact)
        entries = f"list_transform(CAST(json_extract(line, {path}) AS JSON[]), lambda entry: {entry})"
        kind = f"coalesce(json_type(line, {path}), 'NULL')"
        return f"CASE {kind} WHEN 'ARRAY' THEN {entries} WHEN 'NULL' THEN NULL ELSE {wrong} END"

    def _text_of_json(self, kind: str, text: str, wrong: str, *, exact: bool) -> str:
        number = f"TRY_CAST({text} AS DOUBLE)"
        large = f"error({quoted(_LARGE)} || filename)" if exact else text
        large = f"WHEN coalesce(abs({number}), 1e300) >= {2**53} THEN {large}"
        whole = f"WHEN regexp_full_match({text}, '-?[0-9]+') THEN {text}"  # an integer of more than 64 bits
        double = _shortest(number, f"CAST({number} AS VARCHAR)", f"{whole} {large}")
        shapes = f"WHEN 'OBJECT' THEN {wrong} WHEN 'ARRAY' THEN {wrong}"
        return f"CASE {kind} {shapes} WHEN 'DOUBLE' THEN {double} ELSE {text} END"

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
        except self._duckdb.InvalidInputException as error:
            if _SHAPE in str(error):
                raise ValueError(_sentence(str(error)) + ".") from None
            raise ValueError(self._wrong(error)) from None
        except self._duckdb.Error as error:
            raise ValueError(self._wrong(error)) from None

    def _wrong(self, error: Exception) -> str:
        text = str(error)
        if "convert blob to UTF8" in text:
            return f"{address(self.path)} has bytes that are not UTF-8: save texts."
        if _LARGE in text:
            return self._large(text.strip().splitlines()[0].partition(_LARGE)[2])
        reason = re.search(r"^\w+: (.+)$", text, re.MULTILINE)
        if type(error) is self._duckdb.Error and reason:  # of the file system of S3
            return f"{address(self.path)} cannot be read: {reason_of(reason[1])}."
        return f"{address(self.path)} is not a {_KINDS[self.kind]} file, or damaged: {_sentence(text)}."

    def _large(self, place: str) -> str:
        """Return the message on the first float of a file that has no exact text."""
        if self.kind == "json":
            rows = f"SELECT row_number() OVER () AS row, line FROM {_lines([Path(place)])}"
            for row, line in self.fetched(rows):
                with suppress(ValueError, AttributeError):
                    cells = map(json.loads(line).get, self.columns)
                    entries = chain.from_iterable(
                        cell if isinstance(cell, list) else [cell] for cell in cells
                    )
                    if any(isinstance(entry, float) and abs(entry) >= 2**53 for entry in entries):
                        place = f"{place}, row {row}"
                        break
        return f"{place}: a float of 2^53 or more has no exact text; save integers or texts."

    def _watch(self, finished: threading.Event) -> None:
        while not finished.wait(_PATIENCE):
            if self._percent is not None:
                self._percent(self.connection.query_progress())


def _top(schema: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the columns in the schema of a Parquet file, without the fields in columns."""
    names, inside = [], 0
    for about in schema[1:]:
        if not inside:
            names.append(str(about["name"]))
        inside += (about["num_children"] or 0) - bool(inside)
    return names


def _has_objects(line: str) -> bool:
    """Return True if a line has an object of JSON, and another one behind it."""
    try:
        first, end = json.JSONDecoder().raw_decode(line.strip())
    except ValueError:
        return False
    return isinstance(first, dict) and line.strip()[end:].lstrip(" ,").startswith("{")


def _lines(files: Sequence[Path], options: str = "ignore_errors=false") -> str:
    """Return the SQL expression of the lines of files."""
    return f"read_csv({_list(files)}, {_LINES}, filename=true, {options})"


def _list(files: Sequence[Path]) -> str:
    return "[" + ", ".join(quoted(glob.escape(address(file))) for file in files) + "]"


def _broken(kind: str) -> str:
    if kind == "UNQUOTED VALUE":
        return "a cell of this row opens with a quote that nothing closes"
    if kind in ("INVALID UNICODE", "INVALID ENCODING"):
        return "not UTF-8: save the file as UTF-8"
    return f"cannot be read ({kind.lower()})"


def _sentence(error: str) -> str:
    """Return the first line of an error of DuckDB, without its kind and without quotations, which may be cells."""
    first = error.strip().splitlines()[0].rpartition("Error: ")[2]
    return re.sub(r"""(^|\s)(?:"[^"]*(?:"|$)|'[^']*')""", r"\1'..'", first).rstrip(". ")
