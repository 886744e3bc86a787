"""Sets of items, one per user, from lists or from a row per user and item.

Sets, unlike counts, are held in memory: a few bytes per entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.userdata.cells import Faults, cells_of, empty, is_missing, text_of, texts_of
from shuffledp.userdata.counting import (
    Domain,
    FoundDomain,
    ValueCounter,
    bad_rows_remark,
    because,
    domain_of,
    domain_remark,
    is_file,
    kept_rows,
)
from shuffledp.userdata.engine import DataTable, Percent, canonical, quoted
from shuffledp.userdata.files import address, intact

EMPTY_ENTRY = "with an empty entry"
#: Largest number of entries of all sets in memory.
MOST_ENTRIES = 100_000_000


@dataclass(frozen=True)
class Collected:
    """Sets of items, one per user, in memory."""

    sizes: NDArray[np.int64]
    items: NDArray[np.integer[Any]]
    values: tuple[Any, ...]
    found: bool
    bad_rows: int
    faults: tuple[str, ...]
    outside: int

    @property
    def users(self) -> int:
        """Number of users."""
        return len(self.sizes)

    @property
    def rows(self) -> int:
        """Number of users and of rows left out."""
        return self.users + self.bad_rows

    def remarks(self, how: str) -> list[str]:
        """Return remarks on these data for a result; ``how`` names the options that set a domain."""
        texts = [domain_remark(len(self.values), how)] if self.found else []
        if self.outside:
            everybody = self.users + self.outside
            texts.append(
                f"{self.outside:,} of {everybody:,} users left out, who hold no item of the {len(self.values):,} items."
            )
        return texts + bad_rows_remark(self.bad_rows, self.faults)

    def size_remark(self, set_size: int) -> list[str]:
        """Return the remark on users with more or fewer items than `set_size`; no remark without such users."""
        larger, fewer = (self.sizes > set_size).sum(), (self.sizes < set_size).sum()
        if not larger + fewer:
            return []
        cut_text = f"{larger} have more than {set_size} items, of which {set_size} random ones are kept"
        filled = f"{fewer} have fewer, to which random other items are added"
        return [f"Of {self.users} users {cut_text}, and {filled}."]

    def shares(self, set_size: int) -> NDArray[np.float64]:
        """Return the expected share of users who hold each item once all sets have ``set_size`` items, (d,).

        Larger sets keep ``set_size`` random items, and random other items complete smaller sets.
        """
        if set_size > len(self.values):
            raise ValueError(
                f"set_size must be at most {len(self.values)}, the number of items of the domain, got {set_size}."
            )
        sets = self.sizes, self.items, len(self.values), set_size
        return kept_shares(*sets) + filled_shares(*sets)


def kept_shares(
    sizes: NDArray[np.int64], items: NDArray[np.integer[Any]], domain_size: int, set_size: int
) -> NDArray[np.float64]:
    """Return the expected share of users with each item, (d,), if larger sets keep ``set_size`` random items."""
    keep_rates = np.minimum(1.0, set_size / np.maximum(sizes, 1))
    return np.asarray(np.bincount(items, np.repeat(keep_rates, sizes), domain_size) / len(sizes), np.float64)


def filled_shares(
    sizes: NDArray[np.int64], items: NDArray[np.integer[Any]], domain_size: int, set_size: int
) -> NDArray[np.float64]:
    """Return the expected share of users who receive each item if smaller sets are completed to ``set_size``, (d,).

    The added items are uniform among the items that the user does not hold.
    """
    each = np.maximum(set_size - sizes, 0) / np.maximum(
        domain_size - sizes, 1
    )  # of every item a user has not
    filled = each.sum() - np.bincount(items, np.repeat(each, sizes), domain_size)
    return np.asarray(filled / len(sizes), np.float64)


def collect_sets(
    data: Any,
    *,
    column: str | None = None,
    separator: str | None = None,
    user: str | None = None,
    item: str | None = None,
    domain_size: int | None = None,
    values: Sequence[Any] | None = None,
    delimiter: str | None = None,
    memory: str | None = None,
    percent: Percent | None = None,
) -> Collected:
    """Return the sets of files or a data frame."""
    if (column is None) == (user is None or item is None) or (user is None) != (item is None):
        raise ValueError("Give either column, which holds lists, or the two columns user and item.")
    if separator is not None and (column is None or not separator.strip(" ")):
        raise ValueError(f"separator must not be blank and needs column, got {separator!r}.")
    where = address(data) if is_file(data) else "The data frame"
    items, faults = _items(domain_size, values, where), Faults()
    names = [str(item), str(user)] if column is None else [column]
    lists = column is not None and separator is None
    if not is_file(data):
        columns = [cells_of(data, name) for name in names]
        users, owners, places, outside = _of_memory(columns, names, separator, items, faults)
    else:
        options: dict[str, Any] = {"delimiter": delimiter, "memory": memory, "percent": percent}
        options |= {"numbers": domain_size is not None, "lists": lists}
        with intact(Path(data)), DataTable(Path(data), names, **options) as table:
            if lists and table.kind == "csv":
                raise ValueError(
                    f"{where}: lists in a CSV file need separator. For one item per row give user and item."
                )
            users, owners, places, outside = _of_table(table, column is None, separator, items, faults)
    if not users:
        raise ValueError(f"{where} has no set{because(faults)}.")
    if isinstance(items, FoundDomain) and not len(places):
        raise ValueError(f"{where} has no item.")
    texts = items.values
    keys = np.sort(owners * len(texts) + _order(items, texts)[places])
    keys = keys[
        np.diff(keys, prepend=-1) > 0
    ]  # each item of a user once; `np.unique` hashes, which is slower
    return Collected(
        np.bincount(keys // len(texts), minlength=users).astype(np.int64),
        (keys % len(texts)).astype(np.int32),
        texts,
        isinstance(items, FoundDomain),
        faults.count,
        faults.named,
        outside,
    )


def _items(domain_size: int | None, values: Sequence[Any] | None, where: str) -> Domain:
    """Return the domain of the items. Raise ValueError if domain_size and values are both given."""
    if domain_size is not None and values is not None:
        raise ValueError("Give domain_size or values, not both.")
    return domain_of(domain_size, values, FoundDomain(where, "item"), least=1)


def _order(items: Domain, names: Sequence[Any]) -> NDArray[np.int64]:
    """Return the index among the sorted names of each item, in order of appearance."""
    if not isinstance(items, FoundDomain):
        return np.arange(len(names))
    rank = {text: i for i, text in enumerate(names)}
    return np.array([rank[text] for text in items.places], np.int64)


#: Number of users, the user and the item of every entry, and the number of users without an item in the domain.
_Sets: TypeAlias = tuple[int, NDArray[np.int64], NDArray[np.int64], int]


def _of_table(table: DataTable, pairs: bool, separator: str | None, items: Domain, faults: Faults) -> _Sets:
    """Return the sets of files, whose rows are pairs of user and item, or sets."""
    if pairs:
        named = kept_rows(table, ValueCounter(items), faults)
        left_out = np.empty(0, np.int64)
        table.run(
            "CREATE TEMP TABLE users AS SELECT u, row_number() OVER (ORDER BY u) - 1 AS who FROM kept GROUP BY u"
        )
        users, join = next(table.fetched("SELECT count(*) FROM users"))[0], "JOIN users USING (u)"
        outside = max(named - users, 0)
    else:
        users, left_out = _create_sets(table, separator, items, faults)
        outside = len(left_out)
        join = ""
    texts = [text for (text,) in table.fetched("SELECT DISTINCT c0 FROM kept WHERE c0 IS NOT NULL")]
    places = [items.place(text) for text in texts]
    numbered = "SELECT unnest(?::VARCHAR[]) AS c0, unnest(?::INTEGER[]) AS place"
    table.run(f"CREATE TEMP TABLE items AS {numbered}", [texts, places])
    good = "FROM kept JOIN items USING (c0) {} WHERE place >= 0"
    if next(table.fetched(f"SELECT count(*) {good.format('')}"))[0] > MOST_ENTRIES:
        raise ValueError(
            f"{address(table.path)} has more than {MOST_ENTRIES} entries of sets, which are held in memory."
        )
    arrays = table.run(f"SELECT who, place::BIGINT AS place {good.format(join)}").fetchnumpy()
    stays = np.ones(users, np.bool_)
    stays[left_out] = False
    owners = (np.cumsum(stays) - 1)[np.asarray(arrays["who"], np.int64)]
    return int(stays.sum()), owners, np.asarray(arrays["place"], np.int64), outside


def _create_sets(
    table: DataTable, separator: str | None, items: Domain, faults: Faults
) -> tuple[int, NDArray[np.int64]]:
    """Create the table ``kept`` of the entries of all lists; return the number of lists, and those of other items."""
    cell = "c0" if separator is None else f"string_split({canonical('c0')}, {quoted(separator)})"
    table.run(
        f"CREATE TEMP TABLE cells AS SELECT row_number() OVER () AS row, {cell} AS list, file FROM {table.source}"
    )

    def add(reason: str, rows: int, condition: str, values: Sequence[Any] = ()) -> None:
        if rows:
            query = f"SELECT file, row FROM {condition} ORDER BY row LIMIT 1"
            file, row = table.run(query, values).fetchone()
            before = table.run("SELECT min(row) FROM cells WHERE file = ?", [file]).fetchone()[0]
            faults.add(reason, rows, f"{file}, row {row - before + 1}")

    missing = next(table.fetched("SELECT count(*) FROM cells WHERE list IS NULL"))[0]
    add(empty(table.columns[0]), missing, "cells WHERE list IS NULL")
    table.damaged(faults)
    numbered = "SELECT dense_rank() OVER (ORDER BY row) - 1 AS who, * FROM cells WHERE list IS NOT NULL"
    entries = f"SELECT who, row, file, unnest(list) AS entry FROM ({numbered})"
    table.run(f"CREATE TEMP TABLE kept AS SELECT who, row, file, {canonical('entry')} AS c0 FROM ({entries})")
    counts = Counter(
        {text or "": n for text, n in table.fetched("SELECT c0, count(*) FROM kept GROUP BY c0")}
    )
    add(EMPTY_ENTRY, counts.pop("", 0), "kept WHERE c0 IS NULL")
    bad = ValueCounter(items).take(counts)
    rows = sum(counts[text] for text in bad)
    add(items.reason, rows, "kept WHERE c0 IN (SELECT unnest(?::VARCHAR[]))", [list(bad)])
    others = "SELECT who FROM kept WHERE c0 IS NOT NULL GROUP BY who"
    others += " HAVING bool_and(c0 IN (SELECT unnest(?::VARCHAR[])))"
    left_out = table.run(others, [list(bad)]).fetchnumpy()["who"]
    return int(next(table.fetched(f"SELECT count(*) FROM ({numbered})"))[0]), np.asarray(left_out, np.int64)


def _of_memory(
    columns: Sequence[Sequence[Any]],
    names: Sequence[str],
    separator: str | None,
    items: Domain,
    faults: Faults,
) -> _Sets:
    """Return the sets of columns of users and items, or of cells with lists."""
    owners: list[int] = []
    entries: list[int] = []
    numbers: dict[Any, int] = {}
    without: set[Any] = set()
    rows = (
        _pairs(columns, names, faults) if len(names) > 1 else _lists(columns[0], names[0], separator, faults)
    )
    for row, user, texts in rows:
        places = [items.place(text) if text else -1 for text in texts]
        for text, place in zip(texts, places, strict=True):
            if place < 0:
                faults.add(items.reason if text else EMPTY_ENTRY, place=f"row {row}")
        inside = [place for place in places if place >= 0]
        if any(texts) and not inside:
            without.add(user)
            continue
        owners += [numbers.setdefault(user, len(numbers))] * len(inside)
        entries += inside
    outside = len(without.difference(numbers))
    return len(numbers), np.array(owners, np.int64), np.array(entries, np.int64), outside


#: Number of the row, user, and texts of the user's items.
_Rows: TypeAlias = Iterator[tuple[int, Any, Sequence[str]]]


def _pairs(columns: Sequence[Sequence[Any]], names: Sequence[str], faults: Faults) -> _Rows:
    for row, texts in enumerate(zip(*map(texts_of, columns), strict=True), 1):
        if all(texts):
            yield row, texts[1], texts[:1]
        else:
            faults.add(empty(names[texts.index("")]), place=f"row {row}")


def _lists(cells: Sequence[Any], name: str, separator: str | None, faults: Faults) -> _Rows:
    for row, cell in enumerate(cells if separator is None else texts_of(cells), 1):
        if is_missing(cell) or (separator is not None and not cell):
            faults.add(empty(name), place=f"row {row}")
        elif separator is not None:
            yield row, row, list(map(text_of, cell.split(separator)))
        elif isinstance(cell, list | tuple | set | frozenset | np.ndarray):
            yield row, row, texts_of(cell)
        else:
            faults.add("without a list", place=f"row {row}")
