from __future__ import annotations

import gzip
import io

import numpy as np
import pandas as pd
import pytest

from shuffledp.pipeline.datasets import MSNBC_CATEGORIES, ParseError, parse
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
    frame = parse.parse_adult(ADULT + WOMAN + b"\n", "adult.data")
    assert frame.to_dict("list") == {"sex": ["Male", "Female"], "hours_per_week": [40, 99]}
    test = parse.parse_adult(b"|1x3 Cross validator\n" + ADULT.replace(b"K\n", b"K.\n"), "t", test=True)
    assert len(test) == 1


@pytest.mark.parametrize(
    ("content", "test", "line", "says"),
    [
        (ADULT + ADULT.replace(b"Male", b"male"), False, 2, "'Female' or 'Male'"),
        (ADULT + ADULT.replace(b" 40,", b" 100,"), False, 2, "1..99"),
        (ADULT + ADULT[:40] + b"\n", False, 2, "15 fields"),
        (ADULT + b"\n" + ADULT, False, 2, "no empty line"),
        (ADULT.replace(b"50K", b"50K."), False, 1, "<=50K"),
        (ADULT, True, 1, "header line"),
        (ADULT + b"\xff\n", False, 2, "ASCII"),
        (b"<html>\n", False, 1, "15 fields"),
    ],
)
def test_adult_errors_name_file_and_line(content, test, line, says):
    with pytest.raises(ParseError, match=rf"^adult\.x, line {line}: found .*{says}"):
        parse.parse_adult(content, "adult.x", test=test)


def test_ipums_birthplace_is_column_34():
    content = IPUMS + IPUMS.replace(b"073", b"900")
    assert parse.parse_ipums_birthplace(content, "i").tolist() == [73, 900]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ((b"073", b"901"), "1..900"),
        ((b"073", b"000"), "1..900"),
        ((b"073", b"7x3"), "digits"),
        ((b"073", b""), "digits"),
        ((b"073,", b""), "61 fields"),
        ((b"97,", b"98,"), "year"),
        ((b"073", b"-73"), "1..900"),
    ],
)
def test_ipums_errors_name_file_and_line(change, says):
    with pytest.raises(ParseError, match=rf"^ipums\.la\.97, line 3: found .*{says}"):
        parse.parse_ipums_birthplace(IPUMS * 2 + IPUMS.replace(*change), "ipums.la.97")


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
    masks, first, visits = parse.parse_msnbc(HEADER + body + b" " + last, "m")
    assert (masks.tolist(), first.tolist(), visits.tolist()) == slow_msnbc(lines)


@pytest.mark.parametrize("bad", ["18", "0", "01", "111", "x", "-1", "", "1,2"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_msnbc_errors_name_file_and_line(bad, place):
    lines = ["1 2", "3", "17 17"]
    lines[place] = bad
    if bad == "" and place == 2:
        lines.append("4")
    with pytest.raises(ParseError, match=rf"^m\.seq, line {8 + place}: found "):
        parse.parse_msnbc(HEADER + " \r\n".join(lines).encode(), "m.seq")


@pytest.mark.parametrize(("line", "change"), [(1, b"% Other"), (3, b"frontpage"), (5, b"1"), (6, b"%")])
def test_msnbc_header_errors(line, change):
    head = HEADER.split(b"\r\n")
    head[line - 1] = change
    with pytest.raises(ParseError, match=rf"^m, line {line}: "):
        parse.parse_msnbc(b"\r\n".join(head) + b"1 \r\n", "m")


def test_msnbc_without_sequences():
    with pytest.raises(ParseError, match="line 8"):
        parse.parse_msnbc(HEADER, "m")
    with pytest.raises(ParseError, match="line 1"):
        parse.parse_msnbc(b"", "m")


def test_idx():
    content = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3]) + bytes(range(6))
    assert parse.parse_idx(content, "x", 3).tolist() == [[[0, 1, 2]], [[3, 4, 5]]]
    with pytest.raises(ParseError, match=r"^x, byte 21: .* expected 22"):
        parse.parse_idx(content[:-1], "x", 3)
    with pytest.raises(ParseError, match=r"^x, byte 0: "):
        parse.parse_idx(content, "x", 1)
    with pytest.raises(ParseError, match="byte 6"):
        parse.parse_idx(content[:6], "x", 3)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"a,b\n", 1),
        (b"a,count\n1,x\n", 2),
        (b"a,count\n1,2\n1,3\n", 3),
        (b"a,count\n1\n", 2),
        (b"a,count\n", 1),
    ],
)
def test_counts_errors(content, line):
    with pytest.raises(ParseError, match=rf"^c\.csv, line {line}: "):
        parse.parse_counts(content, "c.csv", ("a", "count"))


def test_ratings_are_counted_in_chunks():
    movies = np.random.default_rng(1).integers(1, 50, 999)
    rows = "".join(f"{i},{m},3.5,99\n" for i, m in enumerate(movies))
    content = ("userId,movieId,rating,timestamp\n" + rows).encode()
    table = parse.count_ratings(io.BytesIO(content), "r", 100)
    expected = pd.Series(movies).value_counts().sort_index()
    assert table["movie"].tolist() == expected.index.tolist()
    assert table["count"].tolist() == expected.tolist()
    with pytest.raises(ParseError, match=r"^r, lines \d+ to \d+"):
        parse.count_ratings(io.BytesIO(content + b"1,x,1,1\n"), "r", 100)
    with pytest.raises(ParseError, match=r"^r, line 1: "):
        parse.count_ratings(io.BytesIO(b"<html>"), "r")


def test_damaged_gzip_is_a_value_error(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(bytes(10_000))[:-9])
    with pytest.raises(ValueError, match="damaged gzip"):
        read_content(path)
    path.write_bytes(gzip.compress(bytes(10_000_000)))
    assert len(read_content(path, 100)) == 100


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\n"])
def test_files_without_a_person_are_refused(content):
    for read in (parse.parse_adult, parse.parse_ipums_birthplace):
        with pytest.raises(ParseError, match=r"line 1.*at least one person"):
            read(content, "a")


def test_numbers_that_no_64_bits_hold_are_refused():
    with pytest.raises(ParseError, match=r"line 2.*at most 18 digits"):
        parse.parse_counts(b"a,count\n1," + b"9" * 30 + b"\n", "a.csv", ("a", "count"))


@pytest.mark.parametrize(
    "rows",
    [b"1,2,\n3.5,1112486027\n", b"1\r2,3.5,1\n", b"\n1,2,3.5,1\n", b"1,,3.5,1\n", b"1,2000000000,3,1\n"],
)
def test_broken_ratings_are_one_line_and_take_no_memory(rows):
    with pytest.raises(ParseError, match=r"^ratings\.csv") as caught:
        parse.count_ratings(io.BytesIO(b"userId,movieId,rating,timestamp\n" + rows), "ratings.csv")
    assert "\n" not in str(caught.value)
