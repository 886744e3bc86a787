import gzip
import io

import numpy as np
import pandas as pd
import pytest

from shuffledp.pipeline.datasets import MSNBC_CATEGORIES, NAMES, PublishedDataset, locations, spec
from shuffledp.pipeline.datasets.content import content_of
from shuffledp.pipeline.datasets.sets import movielens
from shuffledp.pipeline.datasets.sets.adult import persons_of
from shuffledp.pipeline.datasets.sets.mnist import array_of
from shuffledp.pipeline.datasets.sets.msnbc import synthetic_sets, visits_of

ADULT = b"39, State-gov, 1, B, 13, N, A, N, White, Male, 2174, 0, 40, United-States, <=50K\n"
WOMAN = ADULT.replace(b"Male", b"Female").replace(b" 40,", b" 99,")
IPUMS = ",".join(["97"] + ["01"] * 32 + ["073"] + ["0"] * 26 + ["-0011"]).encode() + b"\n"
HEADER = (
    "% Different categories found in input file:\r\n\r\n"
    + " ".join(MSNBC_CATEGORIES)
    + "\r\n\r\n\r\n% Sequences:\r\n\r\n"
).encode()


def test_adult_train_and_test():
    frame = persons_of(ADULT + WOMAN + b"\n")
    assert frame.to_dict("list") == {"sex": ["Male", "Female"], "hours_per_week": [40, 99]}
    test = persons_of(b"|1x3 Cross validator\n" + ADULT.replace(b"K\n", b"K.\n"), test=True)
    assert len(test) == 1


def test_ipums_birthplace_is_column_34(tmp_path):
    (tmp_path / "a").write_bytes(IPUMS + IPUMS.replace(b"073", b"900"))
    table = spec("ipums").parse({"ipums.la.97": tmp_path / "a"}).table
    assert table.to_dict("list") == {"birthplace": [73, 900], "count": [1, 1]}


def slow_msnbc(lines):
    masks = [sum(1 << (c - 1) for c in set(line)) for line in lines]
    visits = [sum(line.count(c) for line in lines) for c in range(1, 18)]
    return masks, [line[0] for line in lines], visits


@pytest.mark.parametrize("last", [b"", b"\r\n"])
@pytest.mark.parametrize("end", [" \r\n", "\n"])
def test_msnbc_agrees_with_a_plain_loop(last, end):
    rng = np.random.default_rng(5)
    lines = [rng.integers(1, 18, rng.integers(1, 9)).tolist() for _ in range(500)] + [[17], [1]]
    body = end.join(" ".join(map(str, line)) for line in lines).encode()
    masks, first, visits = visits_of(HEADER + body + b" " + last)
    assert (masks.tolist(), first.tolist(), visits.tolist()) == slow_msnbc(lines)


def test_idx():
    content = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3]) + bytes(range(6))
    assert array_of(content).tolist() == [[[0, 1, 2]], [[3, 4, 5]]]


def test_ratings_are_counted_in_chunks(monkeypatch):
    monkeypatch.setattr(movielens, "_ROWS_AT_ONCE", 100)
    movies = np.random.default_rng(1).integers(1, 50, 999)
    rows = "".join(f"{i},{m},3.5,99\n" for i, m in enumerate(movies))
    content = ("userId,movieId,rating,timestamp\n" + rows).encode()
    table = pd.read_csv(io.BytesIO(spec("movielens").derive(io.BytesIO(content))))
    expected = pd.Series(movies).value_counts().sort_index()
    assert table["movieId"].tolist() == expected.index.tolist()
    assert table["numRatings"].tolist() == expected.tolist()


def test_damaged_gzip_is_a_value_error():
    with pytest.raises(ValueError, match="damaged gzip"):
        content_of(io.BytesIO(gzip.compress(bytes(10_000))[:-9]))
    assert len(content_of(io.BytesIO(gzip.compress(bytes(10_000_000))), 100)) == 100


def test_synthetic_sets_have_both_margins():
    users = np.array([10, 4_001, 30])
    frequencies = np.array([[1, 2, 3, 4], [2_000, 2_001, 2_000, 2_001], [30, 30, 30, 0]])
    masks = synthetic_sets(users, frequencies, np.random.default_rng(7))
    held = (masks[:, None] >> np.arange(4)) & 1
    size = held.sum(axis=1)
    for s in (1, 2, 3):
        assert (size == s).sum() == users[s - 1]
        assert held[size == s].sum(axis=0).tolist() == frequencies[s - 1].tolist()
    # Equal frequencies: all six pairs must be about equally common (4001 / 6 = 667, sd about 24).
    pairs = np.unique(masks[size == 2], return_counts=True)[1]
    assert pairs.size == 6
    assert abs(pairs - 4_001 / 6).max() < 120


@pytest.mark.parametrize("name", NAMES)
def test_data_set_has_module_and_rows(name):
    """Names what is missing for a new data set."""
    item = spec(name)
    assert isinstance(item, PublishedDataset)
    assert item.title and item.citation and item.columns and item.extension in ("parquet", "npz")
    rows = locations(name)
    assert rows, f"data/datasets.csv has no row of {name}"
    for row in rows:
        assert len(row.sha256) == 64 and row.bytes > 0 and row.license and row.version, row
        assert row.status in ("published", "derived"), row
    assert len({row.license for row in rows}) == 1
    contents = {(row.file, row.sha256, row.bytes) for row in rows}
    assert len(contents) == len({row.file for row in rows}), "a file has two checksums"
