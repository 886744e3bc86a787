"""Parsers of raw files, whose checksums must be verified first."""

from __future__ import annotations

import io
from typing import IO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_MSNBC_HEADER = 7
_ZERO, _NEWLINE = ord("0"), ord("\n")


def parse_adult(content: bytes, *, test: bool = False) -> pd.DataFrame:
    """Read ``adult.data`` or ``adult.test``, whose first line is not a person."""
    persons = pd.read_csv(
        io.BytesIO(content), header=None, usecols=[9, 12], skipinitialspace=True, skiprows=int(test)
    )
    return persons.set_axis(["sex", "hours_per_week"], axis=1)


def parse_ipums_birthplace(content: bytes) -> pd.DataFrame:
    """Read the general birthplace code (`bplg`, column 34) of every person in IPUMS Los Angeles 1970."""
    return pd.read_csv(io.BytesIO(content), header=None, usecols=[33]).set_axis(["birthplace"], axis=1)


def parse_msnbc(content: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Read MSNBC.com's page visits: each user's set and first category, and the number of visits per category.

    A line has the categories 1..17 of a user, separated by spaces.
    """
    body = np.frombuffer(content.split(b"\n", _MSNBC_HEADER)[-1].rstrip() + b"\n", np.uint8)
    digit = body >= _ZERO
    starts = np.flatnonzero(digit & ~np.append(False, digit[:-1]))
    one, next_digit = body[starts] - np.int32(_ZERO), body[starts + 1] - np.int32(_ZERO)
    values = np.where(digit[starts + 1], 10 * one + next_digit, one)
    begin = np.searchsorted(starts, np.append(0, np.flatnonzero(body == _NEWLINE)[:-1]))
    masks = np.bitwise_or.reduceat(np.int32(1) << (values - 1), begin)
    return masks, values[begin], np.bincount(values)[1:]


def parse_idx(content: bytes) -> NDArray[np.uint8]:
    """Read an idx file of unsigned bytes (MNIST)."""
    header = 4 + 4 * content[3]
    shape = [int.from_bytes(content[i : i + 4], "big") for i in range(4, header, 4)]
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def count_ratings(stream: IO[bytes], rows_at_once: int = 1_000_000) -> pd.DataFrame:
    """Count the ratings of each movie in MovieLens' ``ratings.csv`` without a copy of the ratings."""
    chunks = pd.read_csv(stream, usecols=["movieId"], chunksize=rows_at_once)
    counts = pd.concat([chunk["movieId"].value_counts() for chunk in chunks]).groupby(level=0).sum()
    return pd.DataFrame({"movie": counts.index, "count": counts.to_numpy()})
