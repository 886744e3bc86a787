"""MSNBC: set of page categories, first page and visits of every user."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.datasets.registry import (
    Contents,
    Description,
    Prepared,
    PublishedDataset,
    Substitute,
    count_rows,
)

if TYPE_CHECKING:
    import pandas as pd

MSNBC_CATEGORIES = (
    "frontpage",
    "news",
    "tech",
    "local",
    "opinion",
    "on-air",
    "misc",
    "weather",
    "msn-news",
    "health",
    "living",
    "business",
    "msn-sports",
    "sports",
    "summary",
    "bbs",
    "travel",
)
_K = len(MSNBC_CATEGORIES)
_RECORDS = 989_818
_HEADER = 7
_ZERO, _NEWLINE = ord("0"), ord("\n")
_SEED = 19_990_928
_ROUNDS = 12


def visits_of(content: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Read MSNBC.com's page visits: each user's set and first category, and the number of visits per category.

    A line has the categories 1..17 of a user, separated by spaces.
    """
    body = np.frombuffer(content.split(b"\n", _HEADER)[-1].rstrip() + b"\n", np.uint8)
    digit = body >= _ZERO
    starts = np.flatnonzero(digit & ~np.append(False, digit[:-1]))
    first_digit, next_digit = body[starts] - np.int32(_ZERO), body[starts + 1] - np.int32(_ZERO)
    values = np.where(digit[starts + 1], 10 * first_digit + next_digit, first_digit)
    begin = np.searchsorted(starts, np.append(0, np.flatnonzero(body == _NEWLINE)[:-1]))
    masks = np.bitwise_or.reduceat(np.int32(1) << (values - 1), begin)
    return masks, values[begin], np.bincount(values)[1:]


def members(masks: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return, for bit sets (m,), a table (m, 17) of the categories in each set."""
    table: NDArray[np.bool_] = ((np.asarray(masks)[:, None] >> np.arange(_K)) & 1).astype(bool)
    return table


def _mix(sets: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Exchange categories between random pairs of users, in place; sums of rows and columns stay the same."""
    for _ in range(_ROUNDS):
        order = rng.permutation(len(sets))
        half = len(sets) // 2
        first_half, second_half = order[:half], order[half : 2 * half]
        a, b = sets[first_half], sets[second_half]
        differ = a ^ b
        keys = np.where(differ, rng.random(differ.shape, dtype=np.float32), np.float32(2))
        rank = keys.argsort(axis=1).argsort(axis=1)
        to_a = differ & (rank < (a & differ).sum(axis=1)[:, None])
        sets[first_half] = (a & ~differ) | to_a
        sets[second_half] = (b & ~differ) | (differ & ~to_a)


def synthetic_sets(
    users: NDArray[np.int64], frequencies: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Draw sets of categories whose sizes, and frequencies within each size, are exactly the given ones.

    For each size the categories are dealt out in turn, each as often as it must occur, which meets both margins. Random
    pairs of users then redistribute, uniformly, the categories that only one of them has (curveball moves). These moves
    keep the margins and tend to the uniform law over all populations with these margins. Other dependence between
    categories is not preserved.
    """
    masks = []
    for size, (n, row) in enumerate(zip(users, frequencies, strict=True), 1):
        dealt = (
            np.repeat(np.arange(row.size), row).reshape(size, int(n)) if n else np.zeros((size, 0), np.int64)
        )
        sets = np.zeros((int(n), row.size), bool)
        sets[np.arange(int(n)), dealt] = (
            True  # (size, n) indices: n successive copies never repeat a category
        )
        if 1 < size < row.size:
            _mix(sets, rng)
        masks.append(sets @ (np.int32(1) << np.arange(row.size, dtype=np.int32)))
    return np.concatenate(masks).astype(np.int32)


def _assign_first(table: pd.DataFrame, targets: NDArray[np.int64]) -> pd.DataFrame:
    """Split each distinct set by first page, so that each first page has exactly its given count."""
    import pandas as pd

    count = table["count"].to_numpy()
    member = members(table["mask"].to_numpy()).astype(float)
    weight = targets / np.maximum(count @ member, 1.0)
    for _ in range(200):  # iterative proportional fitting of the categories' attractiveness
        share = member * weight
        share *= (count / share.sum(axis=1))[:, None]
        weight *= targets / np.maximum(share.sum(axis=0), 1e-300)
    cells = np.floor(share).astype(np.int64)
    order = np.argsort(-np.where(member > 0, share - cells, -1.0), axis=1, kind="stable")
    missing = count - cells.sum(axis=1)
    np.put_along_axis(
        cells,
        order,
        np.take_along_axis(cells, order, 1) + (np.arange(targets.size) < missing[:, None]),
        axis=1,
    )
    # Rounding leaves the totals slightly off: move users of sets which hold both categories, along chains
    # if need be.
    while (surplus := cells.sum(axis=0) - targets).any():
        give, take = int(surplus.argmax()), int(surplus.argmin())
        route = _route(cells, member, give, take)
        for source, sink in itertools.pairwise(route):
            amount = min(int(surplus[give]), -int(surplus[take]))
            movable = np.where(member[:, sink] > 0, cells[:, source], 0)
            movers = np.clip(amount - (np.cumsum(movable) - movable), 0, movable)
            cells[:, source] -= movers
            cells[:, sink] += movers
    rows, first = np.nonzero(cells)
    return pd.DataFrame(
        {
            "mask": table["mask"].to_numpy()[rows],
            "first": (first + 1).astype(np.int32),
            "count": cells[rows, first],
        }
    )


def _route(cells: NDArray[np.int64], member: NDArray[np.float64], give: int, take: int) -> list[int]:
    """Return the shortest chain of categories by which users can move from `give` to `take`."""
    previous, front = {give: give}, [give]
    while take not in previous:
        reached = [
            (int(sink), source)
            for source in front
            for sink in np.flatnonzero(member.T @ (cells[:, source] > 0))
        ]
        front = []
        for sink, source in reached:
            if sink not in previous:
                previous[sink] = source
                front.append(sink)
    route = [take]
    while route[-1] != give:
        route.append(previous[route[-1]])
    return route[::-1]


class Msnbc(PublishedDataset):
    """Visits to MSNBC.com on one day."""

    title = "MSNBC"
    citation = (
        "Heckerman, D. MSNBC.com Anonymous Web Data (28 September 1999). UCI Machine Learning Repository, "
        "https://archive.ics.uci.edu/dataset/133"
    )
    description = Description(
        content="MSNBC.com, 28 September 1999",
        records=f"{_RECORDS:,} users",
        used="sets of 17 page categories, first pages, visits",
        transfer="2 MB",
        prepared=(
            "`mask` (bit c-1 is set if category c was visited), `first` (first page, 1..17); visits per category in "
            "the metadata"
        ),
        substituted="synthetic population from shipped counts",
        exact="users per set size; users per category and set size; users per first page; visits per category",
        lost="further dependence between categories; first page given the set; visits of a single user",
    )
    columns = ("category", "first", "visits", "set_size")
    summaries: ClassVar = {
        "msnbc_sets.csv": "8d3507c5ddaefc8a0b7067b82ce107f0def89f8ce99d0a79571748cc93a1f83f",
        "msnbc_categories.csv": "ee45eb48319d1981f8fbffc410f260736ff49bf5ddc7df33ee2ec1533b6717cd",
    }

    def parse(self, files: Mapping[str, Path]) -> Contents:
        """Return the users per set and first category, and the visits per category."""
        import pandas as pd

        masks, first, visits = visits_of(files["msnbc990928.seq"].read_bytes())
        table = count_rows(pd.DataFrame({"mask": masks, "first": first}))
        return Contents(table, _RECORDS, {"visits": visits})

    def counts(self, data: Prepared, column: str) -> NDArray[np.int64]:
        """Return the users or visits per category, or the users per size of the set."""
        counts: dict[str, Callable[[], NDArray[np.int64]]] = {
            "visits": lambda: data.arrays["visits"].astype(np.int64),
            "first": lambda: data.spread(data.cells("first") - 1, _K),
            "category": lambda: np.asarray(data.cells("count") @ members(data.cells("mask")), np.int64),
            "set_size": lambda: data.spread(members(data.cells("mask")).sum(axis=1) - 1, _K),
        }
        return counts[column]()

    def summarize(self, contents: Contents) -> dict[str, pd.DataFrame]:
        """Return the users and categories per size of the set, and the totals per category."""
        import pandas as pd

        table = contents.table
        assert table is not None
        visited, count = members(table["mask"].to_numpy()), table["count"].to_numpy()
        size = visited.sum(axis=1)
        users = np.bincount(size, weights=count, minlength=_K + 1)[1:].astype(np.int64)
        by_size = np.zeros((_K + 1, _K), np.int64)
        np.add.at(by_size, size, visited * count[:, None])
        sets = pd.DataFrame(by_size[1:], columns=[f"category_{c}" for c in range(1, _K + 1)])
        sets.insert(0, "users", users)
        sets.insert(0, "set_size", np.arange(1, _K + 1))
        first = np.bincount(table["first"], weights=count, minlength=_K + 1)[1:].astype(np.int64)
        categories = {
            "category": np.arange(1, _K + 1),
            "name": MSNBC_CATEGORIES,
            "users_count": by_size.sum(axis=0),
            "first_pages": first,
            "visits": contents.arrays["visits"],
        }
        return {"msnbc_sets.csv": sets, "msnbc_categories.csv": pd.DataFrame(categories)}

    def substitute(self, folder: Path) -> Substitute:
        """Return a synthetic population of `synthetic_sets`, with exact first pages and visits per category.

        Users per set size, category frequencies per set size (hence overall), users per first page, and visits per
        category are preserved. Joint occurrence of categories, the joint law of set and first page, and the order and
        number of one user's visits are not preserved.
        """
        import pandas as pd

        sets, categories = (self.summary(file, folder) for file in self.summaries)
        rng = np.random.Generator(np.random.PCG64(_SEED))
        masks = synthetic_sets(sets["users"].to_numpy(), sets.iloc[:, 2:].to_numpy(), rng)
        table = _assign_first(count_rows(pd.DataFrame({"mask": masks})), categories["first_pages"].to_numpy())
        return Substitute(
            Contents(table, _RECORDS, {"visits": categories["visits"].to_numpy()}),
            "summary",
            self.named_summaries(),
            "MSNBC: synthetic population with the real set sizes and category frequencies per set size.",
        )


DATASET = Msnbc()
