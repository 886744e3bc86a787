"""Counts of values by DuckDB, of all rows or of one value per user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from shuffledp.userdata.engine import Table, missing, quoted, trimmed
from shuffledp.userdata.files import address
from shuffledp.userdata.reading import Faults, text_of

#: Number of compared hexadecimal digits of a hash: they fit into 63 bits.
_DIGITS = 15
#: Largest absolute number of a row before a sum per user; larger numbers are clipped.
_LARGEST = "1e15"


class Tally(Protocol):
    """Counter of texts, which also finds the bad texts."""

    def take(self, counts: Mapping[str, int]) -> dict[str, str]:
        """Add texts with their numbers of rows, and return the bad texts, each with a message."""


def grouped(table: Table, tally: Tally, faults: Faults) -> int:
    """Count the value of every row, and return the number of rows."""
    _type_of_values(table)
    query = f"SELECT c0, count(*) FROM {table.source(rejects=True)} GROUP BY c0"
    good, bad = _taken(table.fetched(query), tally, faults)
    table.damaged(faults)
    _name(table, faults, bad, "c0")
    return good + faults.count


def one_per_user(
    table: Table, tally: Tally, judge: Tally, faults: Faults, per_user: str, key: str
) -> tuple[int, int]:
    """Count one value per user; return the number of rows, and the number of good rows beyond one per user.

    `judge` is an empty tally that finds the bad values.
    """
    with kept_rows(table, judge, faults, per_user, key) as good:
        users, _ = _taken(table.fetched(_chosen(per_user)), tally, Faults())
    return good + faults.count, good - users


@contextmanager
def kept_rows(
    table: Table, judge: Tally, faults: Faults, per_user: str = "random", key: str = "0"
) -> Iterator[int]:
    """Create the table of good values of users, and yield its number of rows; describe the bad rows at the end."""
    source = table.source(rejects=True)
    is_text = _type_of_values(table) == "VARCHAR"
    cells = f"{trimmed('c0') if is_text else 'c0'} AS c0, coalesce({trimmed('c1')}, '') AS u"
    if per_user == "first":
        rows = f"SELECT {cells}, 1 AS n, row_number() OVER () AS rank FROM {source}"
    else:
        hashed = f"sha256({quoted(key)} || chr(31) || u || chr(31) || CAST(c0 AS VARCHAR))"
        rank = f"CAST('0x' || left({hashed}, {_DIGITS}) AS BIGINT)"
        rows = f"SELECT *, {rank} AS rank FROM (SELECT {cells}, count(*) AS n FROM {source} GROUP BY ALL)"
    table.run(f"CREATE TEMP TABLE kept AS {rows}")
    table.damaged(faults)
    good, bad = _taken(table.fetched("SELECT c0, sum(n)::BIGINT FROM kept GROUP BY c0"), judge, faults)
    table.run("CREATE TEMP TABLE bad AS SELECT c0 FROM kept LIMIT 0")
    if known := [value for value in bad if value is not None]:
        table.run("INSERT INTO bad SELECT unnest(?)", [known])
    table.run("DELETE FROM kept WHERE c0 IS NULL OR c0 IN (FROM bad)")
    nobody = table.all("SELECT coalesce(sum(n), 0)::BIGINT FROM kept WHERE u = ''")[0][0]
    faults.count += nobody
    good -= nobody
    table.run("DELETE FROM kept WHERE u = ''")
    yield good
    _name(table, faults, bad, trimmed("c0") if is_text else "c0")
    if nobody:
        _name(table, faults, {None: "empty user", "": "empty user"}, trimmed("c1"))


def _type_of_values(table: Table) -> str:
    """Return DuckDB's type of the values. Raise ValueError for lists and structures."""
    found = table.all(f"SELECT typeof(c0) FROM {table.source()} LIMIT 1")
    kind = str(found[0][0]) if found else "VARCHAR"
    if kind.endswith("]") or kind.startswith(("STRUCT", "MAP")):
        raise ValueError(f"{address(table.path)}: the column holds {kind}, not one value per row.")
    return kind


def _chosen(per_user: str) -> str:
    """Return the query that counts users by their chosen value."""
    if per_user == "sum":  # exact, in any order
        number = f"greatest(least(TRY_CAST(c0 AS DOUBLE), {_LARGEST}), -{_LARGEST})"
        values = f"SELECT sum(CAST({number} AS DECIMAL(38, 12)) * n) AS v FROM kept GROUP BY u"
    else:  # a least number per user fits on a disk, an aggregate of texts does not
        least = "SELECT u, min(rank) AS rank FROM kept GROUP BY u"
        values = f"SELECT c0 AS v FROM kept JOIN ({least}) USING (u, rank)"
    return f"SELECT v, count(*) FROM ({values}) GROUP BY v"


def _taken(
    found: Iterator[list[tuple[Any, ...]]], tally: Tally, faults: Faults
) -> tuple[int, dict[Any, str]]:
    """Count values with their numbers of rows; return the number of good rows, and messages for bad values."""
    good, bad = 0, dict[Any, str]()
    for rows in found:
        texts: dict[str, int] = {}
        for value, count in rows:
            if missing(value):
                bad[value] = "empty"
                faults.count += count
            else:
                texts[text_of(value)] = texts.get(text_of(value), 0) + count
        wrong = tally.take(texts)
        good += sum(texts.values())
        for value, count in rows if wrong else ():
            if not missing(value) and (message := wrong.get(text_of(value))):
                bad[value] = message
                faults.count += count
                good -= count
    return good, bad


def _name(table: Table, faults: Faults, bad: Mapping[Any, str], column: str) -> None:
    """Describe the first rows with a bad value; a missing value is described as empty."""
    if bad:
        table.name(faults, list(bad), column, lambda value: bad.get(value, "empty"))
