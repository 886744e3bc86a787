"""Sets of items, from lists and from rows of users and items."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from shuffledp.userdata import counting, sets
from shuffledp.userdata.sets import collect_sets

LONG = "user,page\nann,home\nbob,news\nann,news\nann,home\n\ncy,\nbob,shop\nann,\ndee,zoo\n"


def held(found):
    """Return the sets of all users, as values."""
    ends = np.cumsum(found.sizes)[:-1]
    return [[found.values[i] for i in part] for part in np.split(found.items, ends)]


@pytest.fixture
def long(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(LONG)
    return "a.csv"


def test_rows_of_users_and_items(long):
    found = collect_sets(long, user="user", item="page")
    assert held(found) == [["home", "news"], ["news", "shop"], ["zoo"]]
    assert found.values == ("home", "news", "shop", "zoo")
    assert found.faults == ("2 empty page (a.csv, row 5)",)
    domain, rows = found.remarks("give values")
    assert "A domain must be public" in domain and domain.endswith("give values.")
    assert rows.startswith("2 rows left out")


def test_lists_of_every_format(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lists = [[3, 1.0, 1], [], None, [2, None, 2.5], [0]]
    parquet.write_table(pa.table({"l": pa.array(lists)}), "l.parquet")
    Path("l.jsonl").write_text("".join(json.dumps({"l": items}) + "\n" for items in lists))
    for data in ("l.parquet", "l.jsonl", pd.DataFrame({"l": pd.Series(lists, dtype=object)})):
        found = collect_sets(data, column="l", domain_size=4)
        assert held(found) == [[1, 3], [], [2], [0]]
        assert [fault.replace(f"({data}, ", "(") for fault in found.faults] == [
            "1 empty l (row 3)",
            "1 outside the domain 0..3 (row 4)",
            "1 with an empty entry (row 4)",
        ]
    # the same as rows of users and items, of which nobody can have an empty set
    pairs = [(user, item) for user, items in enumerate(lists) for item in items or [] if item is not None]
    users, items = zip(*pairs, strict=True)
    parquet.write_table(pa.table({"u": users, "i": items}), "p.parquet")
    rows = collect_sets("p.parquet", user="u", item="i", domain_size=4)
    assert held(rows) == [[1, 3], [2], [0]]


@pytest.mark.parametrize(
    "options, says",
    [
        ({}, "Give either column"),
        ({"user": "user"}, "Give either column"),
        ({"column": "page", "user": "user", "item": "page"}, "Give either column"),
        ({"column": "page"}, "lists in a CSV file need separator"),
        ({"user": "who", "item": "page"}, "no column 'who'. It has: user, page"),
        (
            {"user": "user", "item": "page", "domain_size": 4},
            r"has no set: 6 outside the domain 0..3 \(a.csv, row 1\); 2 empty page",
        ),
        ({"user": "user", "item": "page", "domain_size": 4, "values": ["a", "b"]}, "not both"),
    ],
)
def test_mistakes_are_named(long, options, says):
    with pytest.raises(ValueError, match=says):
        collect_sets(long, **options)


def test_memory_is_bounded(long, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="There is no file"):
        collect_sets(tmp_path / "none.parquet", column="l")
    parquet.write_table(pa.table({"l": [1, 2]}), tmp_path / "n.parquet")
    with pytest.raises(ValueError, match="holds BIGINT, not lists"):
        collect_sets(tmp_path / "n.parquet", column="l")
    monkeypatch.setattr(sets, "MOST_ENTRIES", 3)
    with pytest.raises(ValueError, match="more than 3 entries"):
        collect_sets(long, user="user", item="page")
    monkeypatch.setattr(counting, "MOST_VALUES", 1)
    with pytest.raises(ValueError, match="more than 1 different items"):
        collect_sets(long, user="user", item="page")


# -- lists as texts, data frames, sets of one size -----------------------------------------------------------------


@pytest.mark.parametrize("of_file", [True, False])
def test_texts_with_a_separator(tmp_path, of_file):
    path = tmp_path / "a.csv"
    path.write_text("who,pages\n1,home; news;home\n2,\n3,news\n4,shop;\n5,zoo\n")
    data = path if of_file else pd.read_csv(path)
    found = collect_sets(data, column="pages", separator=";", values=["home", "news", "shop"])
    assert held(found) == [["home", "news"], ["news"], ["shop"]]
    assert found.outside == 1  # user 5
    place = f"{path}, row" if of_file else "row"
    assert found.faults == (
        f"1 empty pages ({place} 2)",
        f"1 outside the domain of 3 values ({place} 5)",
        f"1 with an empty entry ({place} 4)",
    )
    with pytest.raises(ValueError, match="separator must not be blank"):
        collect_sets(data, column="pages", separator=" ")


def test_lists_and_pairs_of_data_frames():
    cells = [[1, 0], (2,), None, {1}, "text", np.array([2, 0]), [None]]
    found = collect_sets(pd.DataFrame({"s": cells}), column="s", domain_size=3)
    assert held(found) == [[0, 1], [2], [1], [0, 2], []]
    assert found.faults == (
        "1 empty s (row 3)",
        "1 with an empty entry (row 7)",
        "1 without a list (row 5)",
    )
    pairs = pd.DataFrame({"u": ["a", "b", "a"], "i": [1, 2, 0]})
    assert held(collect_sets(pairs, user="u", item="i", domain_size=3)) == [[0, 1], [2]]


def test_sets_of_one_size_have_shares():
    frame = pd.DataFrame({"s": [["a", "b", "c"], ["a"]]})
    found = collect_sets(frame, column="s", values="abcd")
    # of the first set two of three are kept, the second gets one of three others
    assert found.shares(2) == pytest.approx([5 / 6, 1 / 2, 1 / 2, 1 / 6])
    assert " ".join(found.size_remark(2)) == (
        "Of 2 users 1 have more than 2 items, of which 2 random ones are kept, and 1 have fewer, to which random other "
        "items are added."
    )
    assert collect_sets(frame[:1], column="s", values="abcd").size_remark(3) == []
    with pytest.raises(
        ValueError, match="set_size must be at most 4, the number of items of the domain, got 5"
    ):
        found.shares(5)
    with pytest.raises(ValueError, match="has no item"):
        collect_sets(pd.DataFrame({"s": [[], []]}), column="s")
