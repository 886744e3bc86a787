"""Sets of items, one per user, from lists or from a row per user and item.

Sets, unlike counts, are held in memory: a few bytes per entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.userdata.counting import (
    Domain,
    Found,
    Values,
    bad_rows_remark,
    domain_of,
    domain_remark,
    tell,
)
from shuffledp.userdata.engine import Percent, Table, trimmed
from shuffledp.userdata.files import address
from shuffledp.userdata.per_user import kept_rows
from shuffledp.userdata.reading import Faults, Progress, blocks, faults_of, is_file, lists, text_of

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
        return self._number(self.sizes >= 0)

    def _number(self, sizes: NDArray[np.bool_]) -> int:
        return int(sizes.sum())

    def remarks(self, how: str) -> list[str]:
        """Return remarks on these data for a result; ``how`` names the options that set a domain."""
        said = [domain_remark(len(self.values), how)] if self.found else []
        if self.outside:
            everybody = self.users + self.outside
            said.append(
                f"{self.outside:,} of {everybody:,} users left out, who hold no item of the {len(self.values):,} items."
            )
        return said + bad_rows_remark(self.bad_rows, self.faults)

    def size_remark(self, set_size: int) -> list[str]:
        """Return the remark on users with more or fewer items than `set_size`; no remark without such users."""
        more, fewer = self._number(self.sizes > set_size), self._number(self.sizes < set_size)
        if not more + fewer:
            return []
        kept = f"{more} have more than {set_size} items, of which {set_size} random ones are kept"
        filled = f"{fewer} have fewer, to which random other items are added"
        return [f"Of {self.users} users {kept}, and {filled}."]

    def shares(self, set_size: int) -> NDArray[np.float64]:
        """Return the expected share of users who hold each item once all sets have ``set_size`` items, (d,).

        Larger sets keep ``set_size`` random items, and random other items complete smaller sets.
        """
        if set_size > len(self.values):
            raise ValueError(
                f"set_size must be at most {len(self.values)}, the number of items of the domain, got {set_size}."
            )
        return self._shares(set_size)

    def _shares(self, set_size: int) -> NDArray[np.float64]:
        sets = self.sizes, self.items, len(self.values), set_size
        return kept_shares(*sets) + filled_shares(*sets)


@dataclass(frozen=True)
class Grouped(Collected):
    """Sets of files, grouped by DuckDB: numbers of users by size of the set, and of holders by item and size."""

    with_size: NDArray[np.int64]
    item_sizes: NDArray[np.int64]
    holders: NDArray[np.int64]

    def _number(self, sizes: NDArray[np.bool_]) -> int:
        return int(self.with_size[sizes].sum())

    def _shares(self, set_size: int) -> NDArray[np.float64]:
        domain = len(self.values)
        kept = np.minimum(1.0, set_size / self.item_sizes)
        missing = np.maximum(set_size - self.sizes, 0) / np.maximum(domain - self.sizes, 1)
        each = np.maximum(set_size - self.item_sizes, 0) / np.maximum(domain - self.item_sizes, 1)
        total = np.bincount(self.items, self.holders * (kept - each), domain) + missing @ self.with_size
        return np.asarray(total / self.users, np.float64)


def group_sets(
    path: Path,
    user: str,
    item: str,
    *,
    domain_size: int | None = None,
    values: Sequence[Any] | None = None,
    delimiter: str | None = None,
    memory: str | None = None,
    percent: Percent | None = None,
) -> Grouped:
    """Group files with a row per user and item; memory holds only numbers of users and holders by size of the set."""
    where = address(path)
    items, faults = _items(domain_size, values, where), Faults()
    sized = "SELECT u, count(*) AS size FROM kept GROUP BY u"
    options: dict[str, Any] = {"delimiter": delimiter, "memory": memory, "percent": percent}
    with Table(path, [item, user], **options) as table, kept_rows(table, Values(items), faults):
        pairs = table.all(f"SELECT size, count(*) FROM ({sized}) GROUP BY size ORDER BY size")
        held = table.all(f"SELECT c0, size, count(*) FROM kept JOIN ({sized}) USING (u) GROUP BY ALL")
        named = f"SELECT DISTINCT {trimmed('c1')} AS u FROM {table.source()} WHERE {trimmed('c1')} <> ''"
        everybody = int(table.all(f"SELECT count(*) FROM ({named})")[0][0])
    if not pairs:
        raise ValueError(f"{where} has no set.{f' {faults.named[0]}.' if faults.named else ''}")
    names = items.values
    order = _order(items, names)
    sizes, with_size = np.array(pairs, np.int64).T
    places = np.array([order[items.place(text_of(value))] for value, _, _ in held], np.int64)
    item_sizes, holders = np.array([row[1:] for row in held], np.int64).T
    outside = everybody - int(with_size.sum())
    about = (names, isinstance(items, Found), faults.count, faults.named, outside)
    return Grouped(sizes, places, *about, with_size, item_sizes, holders)


def kept_shares(
    sizes: NDArray[np.int64], items: NDArray[np.integer[Any]], domain_size: int, set_size: int
) -> NDArray[np.float64]:
    """Return the expected share of users with each item, (d,), if larger sets keep ``set_size`` random items."""
    kept = np.minimum(1.0, set_size / np.maximum(sizes, 1))
    return np.asarray(np.bincount(items, np.repeat(kept, sizes), domain_size) / len(sizes), np.float64)


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
    progress: Progress | None = None,
) -> Collected:
    """Return the sets of a file or a data frame."""
    if (column is None) == (user is None or item is None) or (user is None) != (item is None):
        raise ValueError("Give either column, which holds lists, or the two columns user and item.")
    if separator is not None and (column is None or not separator.strip(" ")):
        raise ValueError(f"separator must not be blank and needs column, got {separator!r}.")
    where = address(data) if is_file(data) else "The data frame"
    items, faults = _items(domain_size, values, where), faults_of(data)
    if column is not None:
        entries = _of_lists(data, column, separator, items, faults, progress)
    else:
        entries = _of_pairs(data, str(user), str(item), items, faults, progress)
    owners, held, users, outside = _gathered(where, entries)
    if not users:
        first = f" {faults.named[0]}." if faults.named else ""
        raise ValueError(f"{where} has no set.{first}")
    found = isinstance(items, Found)
    if found and not len(held):
        raise ValueError(f"{where} has no item.")
    names = items.values
    size = len(names)
    keys = np.unique(
        owners.astype(np.int64) * size + _order(items, names)[held]
    )  # each item of a user once, users in order
    return Collected(
        np.bincount(keys // size, minlength=users).astype(np.int64),
        (keys % size).astype(np.int32),
        names,
        found,
        faults.count,
        faults.named,
        outside,
    )


def _items(domain_size: int | None, values: Sequence[Any] | None, where: str) -> Domain:
    """Return the domain of the items. Raise ValueError if domain_size and values are both given."""
    if domain_size is not None and values is not None:
        raise ValueError("Give domain_size or values, not both.")
    return domain_of(domain_size, values, Found(where, "item"), least=1)


def _order(items: Domain, names: Sequence[Any]) -> NDArray[np.int64]:
    """Return the index among the sorted names of each item, in order of appearance."""
    if not isinstance(items, Found):
        return np.arange(len(names))
    rank = {text: i for i, text in enumerate(names)}
    return np.array([rank[text] for text in items.places], np.int64)


#: Owners and items of a block, and the numbers so far of users and of users without an item in the domain.
_Entries = Iterator[tuple[list[int], list[int], int, int]]


def _of_lists(
    data: Any,
    column: str,
    separator: str | None,
    items: Domain,
    faults: Faults,
    progress: Progress | None,
) -> _Entries:
    users = outside = 0
    for block in lists(data, column, faults, progress, separator):
        owners: list[int] = []
        held: list[int] = []
        ends = np.cumsum(block.sizes).tolist()
        places = {text: items.place(text) for text in dict.fromkeys(block.entries) if text}
        for line, end, size in zip(block.lines, ends, block.sizes.tolist(), strict=True):
            texts, before = block.entries[end - size : end], len(held)
            for text in texts:
                place = places[text] if text else -1
                if place < 0:
                    faults.add(line, "empty entry" if not text else items.fault(text))
                else:
                    owners.append(users)
                    held.append(place)
            if any(texts) and len(held) == before:
                outside += 1
            else:
                users += 1
        yield owners, held, users, outside


def _of_pairs(
    data: Any, user: str, item: str, items: Domain, faults: Faults, progress: Progress | None
) -> _Entries:
    known: dict[str, int] = {}
    outside: set[str] = set()
    for block in blocks(data, [user, item], faults, progress):
        users, texts = (
            cells if isinstance(cells, list) else [text_of(cell) for cell in cells.tolist()]
            for cells in block.columns
        )
        places = {text: items.place(text) for text in dict.fromkeys(texts)}
        bad = {text: items.fault(text) for text, place in places.items() if place < 0}
        if bad:
            tell(block, bad, faults, 1)
            outside.update(who for who, text in zip(users, texts, strict=True) if text in bad)
            users = [who for who, text in zip(users, texts, strict=True) if text not in bad]
            texts = [text for text in texts if text not in bad]
        yield (
            [known.setdefault(who, len(known)) for who in users],
            [places[text] for text in texts],
            len(known),
            len(outside.difference(known)),
        )


def _gathered(where: str, entries: _Entries) -> tuple[NDArray[np.int32], NDArray[np.int32], int, int]:
    owners, held, users, outside, total = [], [], 0, 0, 0
    for who, what, users, outside in entries:  # noqa: B007  (the last numbers count)
        total += len(who)
        if total > MOST_ENTRIES:
            raise ValueError(
                f"{where} has more than {MOST_ENTRIES} entries of sets, which are held in memory."
            )
        owners.append(np.array(who, np.int32))
        held.append(np.array(what, np.int32))
    empty = np.empty(0, np.int32)
    return np.concatenate([empty, *owners]), np.concatenate([empty, *held]), users, outside
