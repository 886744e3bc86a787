"""Deterministic substitutes for unavailable data: populations drawn from the summaries, and stand-ins."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from shuffledp.pipeline.datasets.prepared_tables import Contents, count_rows
from shuffledp.pipeline.datasets.published_datasets import (
    ADULT_RECORDS,
    IPUMS_RECORDS,
    MOVIELENS_MOVIES,
    MOVIELENS_RATINGS,
    MSNBC_CATEGORIES,
    MSNBC_RECORDS,
)
from shuffledp.pipeline.datasets.summaries import SUMMARY_FILES, read_summary

_SEED = 19_990_928
_ROUNDS = 12
_K = len(MSNBC_CATEGORIES)


@dataclass(frozen=True)
class Substitute:
    """Content of a substitute, with its label."""

    contents: Contents
    source: Literal["summary", "stand_in"]
    origin: str
    note: str


def _adult(folder: Path) -> Substitute:
    """Return Adult with two exact marginals; the joint distribution is their rounded product."""
    sexes, hours = (read_summary(file, folder) for file in SUMMARY_FILES["adult"])
    by_hour = hours["count"].to_numpy()
    female = int(sexes.loc[sexes["sex"] == "Female", "count"].sum())
    # Largest remainders: each hour gets its share of women rounded down, the rest goes to the largest
    # fractions.
    whole, rest = np.divmod(by_hour * female, ADULT_RECORDS)
    whole[np.argsort(-rest, kind="stable")[: female - int(whole.sum())]] += 1
    parts = [
        pd.DataFrame({"sex": sex, "hours_per_week": hours["hours_per_week"], "count": count})
        for sex, count in (("Female", whole), ("Male", by_hour - whole))
    ]
    table = pd.concat(parts, ignore_index=True)
    table = table[table["count"] > 0].reset_index(drop=True)
    return Substitute(
        Contents(table, ADULT_RECORDS),
        "summary",
        " and ".join(f"data/summaries/{file}" for file in SUMMARY_FILES["adult"]),
        "Adult: from the shipped summary counts (each marginal exact, dependence between columns not kept).",
    )


def _ipums(folder: Path) -> Substitute:
    (file,) = SUMMARY_FILES["ipums"]
    return Substitute(
        Contents(read_summary(file, folder), IPUMS_RECORDS),
        "summary",
        f"data/summaries/{file}",
        "IPUMS Los Angeles 1970: from the shipped summary counts (equal to the real birthplace counts).",
    )


def _mix(sets: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Exchange categories between random pairs of users, in place; sums of rows and columns stay the same."""
    for _ in range(_ROUNDS):
        order = rng.permutation(len(sets))
        half = len(sets) // 2
        one, other = order[:half], order[half : 2 * half]
        a, b = sets[one], sets[other]
        differ = a ^ b
        keys = np.where(differ, rng.random(differ.shape, dtype=np.float32), np.float32(2))
        rank = keys.argsort(axis=1).argsort(axis=1)
        to_a = differ & (rank < (a & differ).sum(axis=1)[:, None])
        sets[one] = (a & ~differ) | to_a
        sets[other] = (b & ~differ) | (differ & ~to_a)


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


def _assign_first(table: pd.DataFrame, wanted: NDArray[np.int64]) -> pd.DataFrame:
    """Split each distinct set by first page, so that each first page has exactly its given count."""
    count = table["count"].to_numpy()
    member = ((table["mask"].to_numpy()[:, None] >> np.arange(wanted.size)) & 1).astype(float)
    weight = wanted / np.maximum(count @ member, 1.0)
    for _ in range(200):  # iterative proportional fitting of the categories' attractiveness
        share = member * weight
        share *= (count / share.sum(axis=1))[:, None]
        weight *= wanted / np.maximum(share.sum(axis=0), 1e-300)
    cells = np.floor(share).astype(np.int64)
    order = np.argsort(-np.where(member > 0, share - cells, -1.0), axis=1, kind="stable")
    missing = count - cells.sum(axis=1)
    np.put_along_axis(
        cells,
        order,
        np.take_along_axis(cells, order, 1) + (np.arange(wanted.size) < missing[:, None]),
        axis=1,
    )
    # Rounding leaves the totals slightly off: move users of sets which hold both categories, along chains
    # if need be.
    while (surplus := cells.sum(axis=0) - wanted).any():
        give, take = int(surplus.argmax()), int(surplus.argmin())
        route = _route(cells, member, give, take)
        for source, sink in itertools.pairwise(route):
            amount = min(int(surplus[give]), -int(surplus[take]))
            movable = np.where(member[:, sink] > 0, cells[:, source], 0)
            moved = np.clip(amount - (np.cumsum(movable) - movable), 0, movable)
            cells[:, source] -= moved
            cells[:, sink] += moved
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


def _msnbc(folder: Path) -> Substitute:
    """Return a synthetic population of `synthetic_sets`, with exact first pages and visits per category.

    Users per set size, category frequencies per set size (hence overall), users per first page, and visits per category
    are preserved. Joint occurrence of categories, the joint law of set and first page, and the order and number of one
    user's visits are not preserved.
    """
    sets, categories = (read_summary(file, folder) for file in SUMMARY_FILES["msnbc"])
    rng = np.random.Generator(np.random.PCG64(_SEED))
    masks = synthetic_sets(sets["users"].to_numpy(), sets.iloc[:, 2:].to_numpy(), rng)
    table = _assign_first(count_rows(pd.DataFrame({"mask": masks})), categories["first_pages"].to_numpy())
    return Substitute(
        Contents(table, MSNBC_RECORDS, {"visits": categories["visits"].to_numpy()}),
        "summary",
        " and ".join(f"data/summaries/{file}" for file in SUMMARY_FILES["msnbc"]),
        "MSNBC: synthetic population with the real set sizes and category frequencies per set size.",
    )


def _movielens(folder: Path) -> Substitute:
    """Return a Zipf-Mandelbrot law with MovieLens' numbers of movies and ratings."""
    rng = np.random.Generator(np.random.PCG64(_SEED))
    weights = (np.arange(1, MOVIELENS_MOVIES + 1) + 150.0) ** -1.5
    counts = 1 + rng.multinomial(MOVIELENS_RATINGS - MOVIELENS_MOVIES, weights / weights.sum())
    table = pd.DataFrame({"movie": np.arange(1, MOVIELENS_MOVIES + 1), "count": rng.permutation(counts)})
    return Substitute(
        Contents(table, MOVIELENS_RATINGS),
        "stand_in",
        "generated: Zipf-Mandelbrot law, exponent 1.5, shift 150, fixed seed",
        "Not MovieLens: synthetic power law with as many movies and ratings.",
    )


def _mnist(folder: Path) -> Substitute:
    """Return scikit-learn's 8 x 8 digits with gray values scaled from 0..16 to 0..255; the last fifth is for tests."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = np.rint(digits.images * (255 / 16)).astype(np.uint8)
    labels = digits.target.astype(np.uint8)
    split = len(images) * 4 // 5
    arrays: dict[str, NDArray[np.generic]] = {
        "train_images": images[:split],
        "train_labels": labels[:split],
        "test_images": images[split:],
        "test_labels": labels[split:],
    }
    return Substitute(
        Contents(None, len(images), arrays),
        "stand_in",
        "scikit-learn load_digits (UCI Optical Recognition of Handwritten Digits, test part)",
        "Not MNIST: stand-in of 1,797 digits of 8 x 8 pixels bundled with scikit-learn.",
    )


_MAKERS = {"adult": _adult, "ipums": _ipums, "msnbc": _msnbc, "movielens": _movielens, "mnist": _mnist}


def substitute(name: str, summaries_dir: Path) -> Substitute:
    """Return the substitute for a data set, without network or mirror."""
    return _MAKERS[name](summaries_dir)
