"""Numbers that `count`, `merge` and `compare --counts` state, compared with a count of the rows in Python."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from command_line import invoked, typed, unwrapped

MOST = 10.0


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Write a table of users and numbers; some users have several rows, and some cells are empty."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(20_261_128)
    users = [str(user) if user else "" for user in rng.integers(0, 40, 120)]
    numbers = [text if i % 9 else "" for i, text in enumerate(map(str, rng.integers(-3, 15, 120) / 2))]
    table = list(zip(users, numbers, strict=True))
    for name, part in (("all", table), ("a", table[:60]), ("b", table[60:])):
        Path(f"{name}.csv").write_text("".join(f"{u},{x}\n" for u, x in [("u", "x"), *part]))
    return table


def run(*words):
    done = invoked(*words)
    assert done.exit_code == 0, done.output
    return unwrapped(done.output)


def counted(name, *words):
    text = run(
        "count", f"{name}.csv", "--column", "x", "--max-value", str(MOST), *words, "-o", f"{name}.json"
    )
    return json.loads(Path(f"{name}.json").read_text()), text


def level(number):
    return float(np.rint(min(max(number, 0.0), MOST)))


@pytest.mark.parametrize("way", ["none", "first", "sum", "random"])
def test_counts_are_of_rows_or_users(rows, way):
    words = () if way == "none" else ("--user", "u", "--per-user", way)
    content, text = counted("all", *words)
    whole = [(user, float(x)) for user, x in rows if x and (user or way == "none")]
    held: dict[str, list[float]] = {}
    for place, (user, number) in enumerate(whole):
        held.setdefault(str(place) if way == "none" else user, []).append(number)
    assert content["rows"] == len(rows)
    assert content["left_out"] == len(rows) - len(whole)
    assert content["users"] == len(held) == sum(content["counts"])
    assert content["dropped"] == len(whole) - len(held)
    assert f"{content['left_out']} rows left out" in text
    if way != "none":
        assert f"{content['dropped']} rows are of a user with another row" in text
    if way == "random":
        return
    numbers = [sum(values) if way == "sum" else values[0] for values in held.values()]
    assert Counter(dict(zip(content["values"], content["counts"], strict=True))) == Counter(
        map(level, numbers)
    )
    if way != "sum":
        clipped = sum(not 0 <= number <= MOST for number in numbers)
        assert content["clipped"] == clipped and f"{clipped} numbers were clipped" in text
        inside = [number for number in numbers if 0 <= number <= MOST]
        assert (
            f"{sum(number != level(number) for number in inside)} numbers were rounded to steps of 1." in text
        )


def test_merged_parts_equal_the_whole(rows):
    """Users with rows in several parts are counted in each of them."""
    whole, _ = counted("all")
    parts = [counted(name)[0] for name in "ab"]
    run("merge", "a.json", "b.json", "-o", "merged.json")
    merged = json.loads(Path("merged.json").read_text())
    for name in ("rows", "left_out", "users", "clipped", "rounded", "counts", "values"):
        assert merged[name] == whole[name], name
    assert merged["users"] == sum(part["users"] for part in parts)
    parts = [counted(name, "--user", "u")[0] for name in "ab"]
    text = run("merge", "a.json", "b.json", "-o", "merged.json")
    assert "a user with rows in several parts has a value in each of them" in text
    several = {user for user, x in rows[:60] if user and x} & {user for user, x in rows[60:] if user and x}
    merged, (whole, _) = json.loads(Path("merged.json").read_text()), counted("all", "--user", "u")
    assert merged["users"] - whole["users"] == len(several) > 0


def test_comparison_is_for_counted_users(rows):
    content, _ = counted("all")
    text = run(*typed("compare --counts all.json --eps 3 --delta 1e-4 --protocols central_laplace"))
    assert f"for {content['users']} counted users with the shares of the data" in text


def test_unlisted_values_are_counted_as_other(tmp_path, monkeypatch):
    """The cells have commas, quotes and blanks at their ends; empty cells and users are left out in every case."""
    monkeypatch.chdir(tmp_path)
    cities = ["München", "Washington, D.C.", 'the "Q"', "Rio", "berlin", "", "Berlin", "N/A"]
    rng = np.random.default_rng(20_261_129)
    table = [
        (user or "", cities[place])
        for user, place in zip(rng.integers(0, 90, 400), rng.integers(0, 8, 400), strict=True)
    ]
    with Path("all.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("user_id", "city"), *table])
    Path("list.txt").write_text('\ufeffMünchen\n Washington, D.C. \n\nthe "Q"\n', encoding="utf-8")
    words = typed("count all.csv --column city -o all.json")
    listed = Counter(city if city in cities[:3] else "other" for _, city in table if city)

    text = run(*words, "--values-file", "list.txt", "--other")
    content = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert dict(zip(content["values"], content["counts"], strict=True)) == listed
    assert content["other"] is True and content["left_out"] == sum(not city for _, city in table)
    told = (
        f"{listed['other']} users have the value 'other', which stands for every value outside of the list."
    )
    assert told in text
    whole = typed("--eps 8 --delta 0.01 --protocols grr_blanket")
    assert told in run("compare", "--counts", "all.json", *whole)
    assert told in run(
        "compare", "--data", "all.csv", *words[2:4], "--values-file", "list.txt", "--other", *whole
    )

    run(*words, *typed("--values-file list.txt --other --user user_id"))
    content = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert content["users"] == len({user for user, city in table if user and city})
    fewer = run(*words, "--values-file", "list.txt")
    assert f"{listed['other']} outside the domain of 3 values" in fewer
    found = run(*words)
    assert "1 value differs from another value in upper and lower case only." in found
    assert "1 value looks like a missing one, such as N/A or NULL, and counts as a value." in found


def test_comparison_has_range_of_counts(rows):
    """Of the same rows, a comparison with --low is that of a file of counts with --low."""
    counted(*typed("all --low -2 --levels 24"))
    whole = typed("--eps 1 --delta 1e-3 --protocols central_laplace --json")
    given = (*typed("--data all.csv --column x --max-value"), str(MOST), *typed("--low -2 --levels 24"))
    both = [run("compare", *words, *whole) for words in (("--counts", "all.json"), given)]
    first, second = (json.loads(text[text.index("{") :]) for text in both)
    assert first == second and first["rows"][0]["half_width"] > 0


def test_invalid_value_lists_are_refused(rows):
    """A list of values is given by one option, and has at least two values."""
    for words, reason in (
        (
            ("--values", "list.txt"),
            "--values must have at least 2 values, got 'list.txt'. --domain-size is",
        ),
        (typed("--values 1,2 --values-file all.csv"), "Give --values or --values-file, not both."),
        (("--values-file", "nothing.txt"), "--values-file nothing.txt: No such file or directory."),
        (("--other",), "other needs values, the list of the public domain."),
    ):
        done = invoked("count all.csv --column x", *words, "-o", "x.json")
        assert done.exit_code == 1 and reason in done.output
