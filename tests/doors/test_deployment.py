"""A deployment from a messy file to estimates, with users who drop out.

Seeds are fixed. A correct program misses the limit on the coverage with a probability of at most 1e-6.
"""

from __future__ import annotations

import csv
import json
import math
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import shuffledp
from command_line import invoked, one_line, printed, typed, unwrapped
from printed_tables import best
from shuffledp.protocols.client import analyzing, files, randomizers, shuffling
from shuffledp.tasks import Budget, Frequency

BUDGET = Budget(2.0, 1e-4)
#: Long tail of cities, with commas, quotes and letters of several scripts; the last ten are not in the public list.
CITIES = [
    "München",
    "Washington, D.C.",
    '東京 "Tokyo"',
    "São Paulo",
    "- nowhere",
    *map("city {:02d}".format, range(35)),
]
LISTED = CITIES[:30]


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """Write a file of visits, and return the first city of every counted user."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(20_261_129)
    weights = 1 / np.arange(1, len(CITIES) + 1)
    cities = rng.choice(CITIES, 3_400, p=weights / weights.sum())
    users = np.concatenate([np.arange(2_000), rng.integers(0, 2_000, 1_400)])
    table = [
        ("" if i % 331 == 0 else f"u{user}", "" if i % 51 == 0 else city)
        for i, (user, city) in enumerate(zip(users, cities, strict=True))
    ]
    with Path("visits.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("user_id", "city"), *table])
    Path("cities.txt").write_text("\n".join(LISTED), encoding="utf-8")
    held: dict[str, str] = {}
    for user, city in table:
        if user and city:
            held.setdefault(user, city)
    return held


def test_messy_file_becomes_estimates(visits):
    """The printed command writes the clients; 5 % of the users drop out of 12 runs, and one more of the last one."""
    words = typed("--values-file cities.txt --other --dropout 5% --eps 2 --delta 1e-4")
    data = typed("--data visits.csv --column city")
    names = ["--protocols", "pure_dump,one_sided_noise,grr_blanket"]
    warned = invoked("compare", *data, *words, *names)
    assert "column 'user_id' repeats values" in warned.output
    done = invoked("compare", *data, "--user", "user_id", *words, *names)
    assert done.exit_code == 0, done.output
    (command,) = re.findall(r"Next command:\n +(shuffledp client .*)", done.output)
    assert invoked(*shlex.split(command)[1:]).exit_code == 0
    parameters = files.read_parameters(Path("client/parameters.json"))
    planned = len(visits) - math.ceil(0.05 * len(visits))
    assert (parameters["planned_users"], parameters["least_users"]) == (planned, planned)

    rng, domain = np.random.default_rng(1), [*LISTED, "other"]
    inside = []
    for missing in [0] * 12 + [1]:
        there = rng.permutation(list(visits))[: planned - missing]
        values = [visits[user] for user in there]
        sent = [
            files.decoded(parameters, message)
            for value in values
            for message in randomizers.user_messages(
                parameters, randomizers.input_of(parameters, value), 2_500
            )
        ]
        answer = analyzing.analysis(parameters, shuffling.shuffled_messages(parameters, sent), len(there))
        assert (answer["planned"], answer["users"]) == (planned, planned - missing)
        assert answer["guarantee_holds"] is not bool(missing)
        assert answer["values"] == domain
        named = [value if value in LISTED else "other" for value in values]
        truth = np.array([named.count(value) for value in domain]) / len(there)
        inside.append(np.mean(np.abs(np.array(answer["estimates"]) - truth) <= answer["half_width"]))
    assert np.mean(inside) > 0.95 - 5 * math.sqrt(0.05 * 0.95 / len(inside))
    assert "(it needs" not in json.dumps(answer) and "The guarantee does not hold" in answer["warnings"][0]


def test_dropout_guarantee_covers_remaining_users():
    """Delta for the remaining users, and for all of them, is at most the budget's; one user less is not covered."""
    rows = shuffledp.compare(200, domain_size=3, eps=2, delta=1e-4, dropout=0.1, trust=["shuffler"])
    chosen = rows.recommendation
    assert chosen.dropout == 0.1 and chosen.conditions["half_width"].users == 180
    assert "It is calibrated for the users who remain if 10 % drop out." in unwrapped(rows)
    checked = 0
    for row in rows:
        if row.status != "ok" or not row.proven:
            continue
        protocol = best(Frequency(3), row.protocol, 179, BUDGET)
        for users in (180, 190, 200):
            profile = protocol.profile_for(users) if hasattr(protocol, "profile_for") else None
            if profile is not None:
                assert profile.delta(BUDGET.largest_eps) <= BUDGET.delta * (1 + 1e-9), (row.protocol, users)
                checked += 1
    assert checked > 20
    listed = {row.protocol for row in rows if "the first users of a list" in row.reason}
    assert {"pure_dump", "mix_dump", "designated_coins"} <= listed


@pytest.mark.parametrize("kind", ["frequency", "summation"])
def test_half_widths_have_every_unit(kind, tmp_path):
    """The half-width of the row covers, see `test_intervals.py`."""
    step = 0.5 if kind == "summation" else 1.0
    content = {"kind": kind, "values": [0, 0.5, 1.0, 1.5] if kind == "summation" else ["a", "b", "c", "d"]}
    content |= {"counts": [600, 250, 100, 50], "rows": 1000, "users": 1000, "left_out": 0, "step": step}
    (tmp_path / "all.json").write_text(json.dumps(content))
    name = "central_laplace" if kind == "summation" else "pure_dump"
    words = ("--counts", str(tmp_path / "all.json"), *typed("--eps 2 --delta 1e-4 --protocols"), name)
    half = json.loads(printed("compare", *words, "--json"))["rows"][0]["half_width"]
    text = one_line("compare", *words)
    if kind == "frequency":
        exact = {r"The half-width for one value is (\S+) of 1,000 users\.": 1000 * half}
    else:
        exact = {
            r"The mean of 1,000 users is within ±(\S+)\. ": half / 1000,
            r"The half-width is (\S+) % of the sum of the data\.": 100 * half / 300,
        }
    for sentence, number in exact.items():
        (told,) = re.findall(sentence, text)
        assert number <= float(told) <= 1.01 * number
