"""Files of any size and format: published data have the counts of pandas."""

import gzip
import os
import sys
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shuffledp.optional_dependencies import MissingExtra
from shuffledp.userdata.counting import count_column
from shuffledp.userdata.sets import collect_sets

MIRROR = Path(os.environ.get("SHUFFLEDP_MIRROR", "/nothing"))
WHOLE = "SHUFFLEDP_WHOLE_DATA" in os.environ


def by_pandas(cells, *, max_value=None, levels=0, domain_size=None, values=None):
    """Return the rows of every value or level, and the number of other rows."""
    texts = cells.str.strip().str.replace(r"^(-?[0-9]+)[.]0+$", r"\1", regex=True)
    numbers = pd.to_numeric(texts, errors="coerce")
    if max_value is not None:
        step = max_value / (levels or max_value)
        placed = (numbers.clip(0, max_value) / step).round() * step
    elif domain_size is not None:
        placed = numbers.where(numbers.isin(range(domain_size)))
    else:
        placed = texts.where(texts != "" if values is None else texts.isin(values))
    return placed.value_counts().to_dict(), int(placed.isna().sum())


def outcome(data, column, domain):
    """Return the rows of every value or level, and the number of other rows."""
    counted = count_column(data, column, **domain)
    pairs = zip(counted.values, counted.counts.tolist(), strict=True)
    return {value: count for value, count in pairs if count}, counted.bad_rows


def adult():
    options = {
        "c0": {"max_value": 90, "levels": 30},
        "c12": {"domain_size": 50},
        "c14": {"values": [">50K", "x"]},
    }
    return (MIRROR / "adult/adult.data").read_bytes(), {"c1": {}} | options


def ipums(name="ipums.la.99"):
    lines = gzip.decompress((MIRROR / f"ipums/{name}.gz").read_bytes()).splitlines(keepends=True)
    options = {"c3": {}, "c33": {"domain_size": 900}, "c9": {"max_value": 40}}
    return b"".join(lines[: None if WHOLE else 20_000]), options


def movielens():
    return (MIRROR / "movielens/ml-20m-rating-counts.csv").read_bytes(), {"c1": {}}


def msnbc():
    """Return the pages of every user."""
    with gzip.open(MIRROR / "msnbc/msnbc990928.seq.gz", "rt") as source:
        return [line.strip() for line in source][7 : None if WHOLE else 30_000]


FILES = {"adult": adult, "ipums.la.99": ipums, "movielens": movielens}
if WHOLE:
    FILES |= {name: partial(ipums, name) for name in ("ipums.la.97", "s.ipums.la.97", "ipums.la.98")}


@pytest.mark.skipif(not MIRROR.is_dir(), reason="needs SHUFFLEDP_MIRROR")
@pytest.mark.parametrize("name", FILES)
def test_published_data_have_pandas_counts(tmp_path, name):
    content, options = FILES[name]()
    columns = [f"c{i}" for i in range(content.split(b"\n", 1)[0].count(b",") + 1)]
    whole = ",".join(columns).encode() + b"\n" + content
    plain, packed, lines, parquet = (tmp_path / f"a.{kind}" for kind in ("csv", "csv.gz", "jsonl", "parquet"))
    plain.write_bytes(whole)
    packed.write_bytes(gzip.compress(whole, 1))
    frame = pd.read_csv(plain, dtype=str, keep_default_na=False)
    frame[[*options]].to_parquet(parquet, index=False)
    frame[[*options]].to_json(lines, orient="records", lines=True)
    for column, domain in options.items():
        wanted = by_pandas(frame[column], **domain)
        for data in (plain, packed, lines, parquet, frame):
            assert outcome(data, column, domain) == wanted, (column, data)
    for column in columns if WHOLE else ():
        wanted = by_pandas(frame[column])
        if len(wanted[0]) > 1:
            assert outcome(plain, column, {}) == wanted, column
        else:
            with pytest.raises(ValueError, match="single value"):
                count_column(plain, column)


@pytest.mark.skipif(not MIRROR.is_dir(), reason="needs SHUFFLEDP_MIRROR")
def test_published_lists_and_pairs_agree(tmp_path):
    users = msnbc()
    path = tmp_path / "msnbc.csv"
    path.write_text("pages\n" + "\n".join(users).replace(" ", ";") + "\n")
    held = [sorted(set(map(int, pages.split()))) for pages in users]
    lists = collect_sets(path, column="pages", separator=";", domain_size=18)
    assert lists.sizes.tolist() == list(map(len, held))
    assert lists.items.tolist() == list(chain.from_iterable(held))
    rows = (f"{user:07},{page}\n" for user, pages in enumerate(users) for page in pages.split())
    path.write_text("user,page\n" + "".join(rows))
    pairs = collect_sets(path, user="user", item="page", domain_size=18)
    assert np.array_equal(pairs.sizes, lists.sizes) and np.array_equal(pairs.items, lists.items)
    assert (pairs.users, pairs.bad_rows) == (len(users), 0)


def test_missing_duckdb_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("v\n0\n1\n")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match="the package duckdb of the extra data, which is not installed"):
        count_column(tmp_path / "a.csv", "v")
    assert count_column(pd.DataFrame({"v": [0, 1]}), "v").users == 2


def test_random_value_depends_on_key_only(tmp_path):
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


def test_large_tables_use_a_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    numbers = np.random.default_rng(1).permutation(600_000)
    pd.DataFrame({"u": numbers, "v": numbers % 7}).to_parquet(tmp_path / "a.parquet", index=False)
    found = count_column(tmp_path / "a.parquet", "v", user="u", domain_size=7, memory="60MB")
    assert found.counts.tolist() == np.bincount(numbers % 7).tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
