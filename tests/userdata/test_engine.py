"""Files of any size and format: the same counts as from the reader of plain CSV files."""

from __future__ import annotations

import gzip
import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shuffledp.userdata import csv_reader
from shuffledp.userdata.counting import Counted, count_column
from shuffledp.userdata.engine import Table
from shuffledp.userdata.sets import collect_sets, group_sets

MIRROR = Path(os.environ.get("SHUFFLEDP_MIRROR", "/nothing"))
WHOLE = "SHUFFLEDP_WHOLE_DATA" in os.environ
VISITS = (
    'color,x,who\nred,1,a\nblue,2.5,b\nred,-3,a\n\nred\nblue,9,a\n,4,c\nblue,nan,d\n red ,1_0,\n"re\nd",2,e\n'
)


@pytest.fixture
def without_duckdb(monkeypatch):
    """Read plain CSV files as an installation without the extra does."""

    def use(plain: bool) -> None:
        monkeypatch.setattr(csv_reader, "find_spec", lambda name: None if plain else name)

    return use


def same(one: Counted, other: Counted) -> bool:
    """Compare everything except the wording of faults."""
    names = ("values", "found", "bad_rows", "clipped", "rounded", "step", "dropped")
    return np.array_equal(one.counts, other.counts) and all(
        getattr(one, name) == getattr(other, name) for name in names
    )


def outcome(path: Path, column: str, domain: dict) -> Counted | str:
    """Return the counts, or the error for a column with a single value."""
    try:
        return count_column(path, column, **domain)
    except ValueError as error:
        return str(error)


def adult() -> tuple[bytes, dict[str, dict]]:
    options = {
        "c0": {"max_value": 90, "levels": 30},
        "c12": {"domain_size": 50},
        "c14": {"values": [">50K", "x"]},
    }
    return (MIRROR / "adult/adult.data").read_bytes(), {"c1": {}} | options


def ipums(name: str = "ipums.la.99") -> tuple[bytes, dict[str, dict]]:
    content = gzip.decompress((MIRROR / f"ipums/{name}.gz").read_bytes())
    return content, {"c3": {}, "c33": {"domain_size": 900}, "c9": {"max_value": 40}}


def movielens() -> tuple[bytes, dict[str, dict]]:
    return (MIRROR / "movielens/ml-20m-rating-counts.csv").read_bytes(), {"c1": {}}


def mnist(name: str) -> tuple[bytes, dict[str, dict]]:
    """Return label and mean intensity of every image."""
    images, labels = (
        np.frombuffer(gzip.decompress((MIRROR / f"mnist/{name}-{kind}-ubyte.gz").read_bytes()), np.uint8)[
            start:
        ]
        for kind, start in (("images-idx3", 16), ("labels-idx1", 8))
    )
    rows = zip(labels.tolist(), images.reshape(len(labels), -1).mean(1).tolist(), strict=True)
    options = {"c0": {"domain_size": 10}, "c1": {"max_value": 255, "levels": 20}}
    return "".join(f"{label},{mean:.3f}\n" for label, mean in rows).encode(), options


def msnbc() -> list[str]:
    """Return the pages of every user."""
    with gzip.open(MIRROR / "msnbc/msnbc990928.seq.gz", "rt") as source:
        return [line.strip() for line in source][7 : None if WHOLE else 30_000]


FILES = {"adult": adult, "ipums.la.99": ipums, "movielens": movielens}
if WHOLE:
    FILES |= {name: partial(ipums, name) for name in ("ipums.la.97", "s.ipums.la.97", "ipums.la.98")}
    FILES |= {f"mnist {name}": partial(mnist, name) for name in ("train", "t10k")}


@pytest.mark.skipif(not MIRROR.is_dir(), reason="needs SHUFFLEDP_MIRROR")
@pytest.mark.parametrize("name", FILES)
def test_published_data_are_counted_alike(tmp_path, without_duckdb, name):
    content, options = FILES[name]()
    columns = [f"c{i}" for i in range(content.split(b"\n", 1)[0].count(b",") + 1)]
    path, packed = tmp_path / "plain.csv", tmp_path / "packed.csv.gz"
    path.write_bytes(",".join(columns).encode() + b"\n" + content)
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    asked = [*options.items(), *((column, {}) for column in columns if WHOLE)]
    for column, domain in asked:
        without_duckdb(True)
        small = outcome(path, column, domain)
        without_duckdb(False)
        large = outcome(path, column, domain)
        assert small == large if isinstance(small, str) else same(small, large), column
    assert same(small, count_column(packed, column, **domain))


@pytest.mark.skipif(not MIRROR.is_dir(), reason="needs SHUFFLEDP_MIRROR")
def test_published_sets_are_collected_alike(tmp_path, without_duckdb):
    users = msnbc()
    path = tmp_path / "msnbc.csv"
    path.write_text("pages\n" + "\n".join(users).replace(" ", ";") + "\n")
    without_duckdb(True)
    small = collect_sets(path, column="pages", separator=";", domain_size=18)
    without_duckdb(False)
    large = collect_sets(path, column="pages", separator=";", domain_size=18)
    assert np.array_equal(small.sizes, large.sizes)
    assert np.array_equal(small.items, large.items)
    assert small.bad_rows == large.bad_rows
    pairs = (f"{user},{page}\n" for user, pages in enumerate(users) for page in pages.split())
    path.write_text("user,page\n" + "".join(pairs))
    grouped = group_sets(path, "user", "page", domain_size=18)
    np.testing.assert_allclose(grouped.shares(3), small.shares(3), rtol=1e-9)


@pytest.mark.parametrize(
    ("column", "options"),
    [
        ("color", {}),
        ("color", {"values": ["red", "blue"]}),
        ("x", {"max_value": 5}),
        ("who", {"domain_size": 2}),
    ],
)
def test_damaged_rows_are_left_out_alike(tmp_path, without_duckdb, column, options):
    path = tmp_path / "a.csv"
    path.write_text(VISITS + "0,0,1\n")
    without_duckdb(True)
    small = count_column(path, column, **options)
    without_duckdb(False)
    large = count_column(path, column, **options)
    assert same(small, large)
    wrong = f"1 with another number of cells than the header ({path}, line 6)"
    assert wrong in small.faults and wrong in large.faults


def test_folders_patterns_separators_and_partitions_are_one_table(tmp_path):
    for day, mark in (("mon day", ";"), ("tue", "|")):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}/part.csv").write_text(f"v{mark}w\n1{mark}a\n2{mark}b\n3\n")
    (tmp_path / "_notes.csv").write_text("not read")
    whole = count_column(tmp_path, "v")
    assert (whole.values, whole.counts.tolist(), whole.bad_rows) == (("1", "2"), [2, 2], 2)
    assert whole.faults == (
        f"2 with another number of cells than the header ({tmp_path}/day=mon day/part.csv, line 4)",
    )
    days = count_column(tmp_path / "*/part.csv", "day")
    assert (days.values, days.counts.tolist(), days.bad_rows) == (("mon day", "tue"), [2, 2], 2)
    with pytest.raises(ValueError, match=r"no column 'u'. It has: v, w"):
        count_column(tmp_path, "u")
    (tmp_path / "day=tue/x.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match=r"several formats \(csv, json\)"):
        count_column(tmp_path, "v")


def test_lines_of_json(tmp_path):
    lines = [{"a b": "x", "n": 1}, {"a b": "y", "n": 2.5}, {"n": None}, {"a b": " x "}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n{broken\n")
    found = count_column(tmp_path / "a.jsonl", "a b")
    assert (found.values, found.counts.tolist(), found.bad_rows) == (("x", "y"), [2, 1], 2)
    numbers = count_column(tmp_path / "a.jsonl", "n", max_value=2)
    assert (numbers.counts.tolist(), numbers.clipped, numbers.bad_rows) == ([0, 1, 1], 1, 3)


def test_a_user_has_one_value(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(VISITS)
    domain = {"values": ["red", "blue"], "user": "who"}
    first = count_column(path, "color", per_user="first", **domain)
    assert (first.counts.tolist(), first.dropped, first.bad_rows) == ([1, 2], 2, 4)
    assert "2 rows are of a user with another row" in " ".join(first.remarks())
    summed = count_column(path, "x", user="who", per_user="sum", max_value=8, low=-8)
    assert (summed.counts.tolist()[8 + 7], summed.users, summed.dropped) == (1, 4, 2)  # 1 - 3 + 9
    with pytest.raises(ValueError, match="needs max_value"):
        count_column(path, "color", per_user="sum", user="who")


def test_the_random_value_depends_on_the_key_and_not_on_the_order_or_the_format(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"u": rng.integers(0, 2000, 12_000), "v": rng.integers(0, 3, 12_000)}
    ).drop_duplicates()
    frame = frame[frame.groupby("u")["v"].transform("count") == 3]
    users = frame["u"].nunique()
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "b.parquet", index=False)
    found = [
        count_column(tmp_path / name, "v", user="u", domain_size=3, key=key).counts.tolist()
        for name, key in (("a.csv", "0"), ("b.parquet", "0"), ("a.csv", "1"))
    ]
    assert found[0] == found[1] != found[2]
    assert users > 1000
    # The chi-squared statistic of 2 degrees of freedom exceeds 27.6 with a probability of 1e-6.
    assert sum((count - users / 3) ** 2 / (users / 3) for count in found[0]) < 27.6


def test_larger_tables_than_the_memory_go_to_a_folder_that_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    numbers = np.random.default_rng(1).permutation(600_000)
    pd.DataFrame({"u": numbers, "v": numbers % 7}).to_parquet(tmp_path / "a.parquet", index=False)
    found = count_column(tmp_path / "a.parquet", "v", user="u", domain_size=7, memory="60MB")
    assert found.counts.tolist() == np.bincount(numbers % 7).tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_no_extension_is_installed_or_loaded(tmp_path):
    (tmp_path / "a.csv").write_text("v\n1\n")
    with Table(tmp_path / "a.csv", ["v"]) as table:
        settings = list(
            table.fetched("SELECT value FROM duckdb_settings() WHERE name LIKE 'auto%extensions'")
        )
    assert settings == [("false",), ("false",)]


@pytest.mark.parametrize("domain", [{}, {"values": ["a", "b", "c", "d", "z"]}, {"domain_size": 3}])
def test_sets_of_many_users_are_grouped_as_in_memory(tmp_path, domain):
    rng = np.random.default_rng(2)
    names = ["a", "b ", "c", "", "0", "2"]
    rows = [f"{names[rng.integers(6)]},{rng.integers(90)}" for _ in range(400)]
    (tmp_path / "a.tsv").write_text("i\tu\n" + "\n".join(rows).replace(",", "\t") + "\n\t\n1\n")
    held = collect_sets(tmp_path / "a.tsv", user="u", item="i", **domain)
    grouped = group_sets(tmp_path / "a.tsv", "u", "i", **domain)
    for size in (1, 2, 3):
        np.testing.assert_allclose(grouped.shares(size), held.shares(size), rtol=1e-12, atol=1e-15)
        assert grouped.size_remark(size) == held.size_remark(size)
    assert (grouped.users, grouped.values) == (held.users, held.values)
    assert grouped.bad_rows == held.bad_rows
