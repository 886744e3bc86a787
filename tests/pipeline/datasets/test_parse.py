from __future__ import annotations

import gzip
import io

import numpy as np
import pandas as pd
import pytest

from shuffledp.pipeline.datasets import MSNBC_CATEGORIES, parse
from shuffledp.pipeline.datasets.content import read_content

ADULT = b"39, State-gov, 1, B, 13, N, A, N, White, Male, 2174, 0, 40, United-States, <=50K\n"
WOMAN = ADULT.replace(b"Male", b"Female").replace(b" 40,", b" 99,")
IPUMS = ",".join(["97"] + ["01"] * 32 + ["073"] + ["0"] * 26 + ["-0011"]).encode() + b"\n"
HEADER = (
    "% Different categories found in input file:\r\n\r\n"
    + " ".join(MSNBC_CATEGORIES)
    + "\r\n\r\n\r\n% Sequences:\r\n\r\n"
).encode()


def test_adult_train_and_test():
    frame = parse.parse_adult(ADULT + WOMAN + b"\n")
    assert frame.to_dict("list") == {"sex": ["Male", "Female"], "hours_per_week": [40, 99]}
    test = parse.parse_adult(b"|1x3 Cross validator\n" + ADULT.replace(b"K\n", b"K.\n"), test=True)
    assert len(test) == 1


def test_ipums_birthplace_is_column_34():
    content = IPUMS + IPUMS.replace(b"073", b"900")
    assert parse.parse_ipums_birthplace(content)["birthplace"].tolist() == [73, 900]


def slow_msnbc(lines: list[list[int]]):
    masks = [sum(1 << (c - 1) for c in set(line)) for line in lines]
    visits = [sum(line.count(c) for line in lines) for c in range(1, 18)]
    return masks, [line[0] for line in lines], visits


@pytest.mark.parametrize("last", [b"", b"\r\n"])
@pytest.mark.parametrize("end", [" \r\n", "\n"])
def test_msnbc_agrees_with_a_plain_loop(last, end):
    rng = np.random.default_rng(5)
    lines = [rng.integers(1, 18, rng.integers(1, 9)).tolist() for _ in range(500)] + [[17], [1]]
    body = end.join(" ".join(map(str, line)) for line in lines).encode()
    masks, first, visits = parse.parse_msnbc(HEADER + body + b" " + last)
    assert (masks.tolist(), first.tolist(), visits.tolist()) == slow_msnbc(lines)


def test_idx():
    content = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3]) + bytes(range(6))
    assert parse.parse_idx(content).tolist() == [[[0, 1, 2]], [[3, 4, 5]]]


def test_ratings_are_counted_in_chunks():
    movies = np.random.default_rng(1).integers(1, 50, 999)
    rows = "".join(f"{i},{m},3.5,99\n" for i, m in enumerate(movies))
    content = ("userId,movieId,rating,timestamp\n" + rows).encode()
    table = parse.count_ratings(io.BytesIO(content), 100)
    expected = pd.Series(movies).value_counts().sort_index()
    assert table["movie"].tolist() == expected.index.tolist()
    assert table["count"].tolist() == expected.tolist()


def test_damaged_gzip_is_a_value_error(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(bytes(10_000))[:-9])
    with pytest.raises(ValueError, match="damaged gzip"):
        read_content(path)
    path.write_bytes(gzip.compress(bytes(10_000_000)))
    assert len(read_content(path, 100)) == 100
