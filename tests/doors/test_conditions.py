"""Conditions of printed numbers: the users and the data that a clause names are those for which the number is right.

Means are within 6 standard errors and half a printed digit, and of R intervals a share of at least 0.95 less 5 standard
deviations covers: a correct program misses these limits with a probability of about 3e-7.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields

import numpy as np
import pytest

import shuffledp
from command_line import printed, typed
from shuffledp.comparison import Compared
from shuffledp.comparison.comparing import best_accounting
from shuffledp.numerics.statements import Conditions
from shuffledp.populations import Fixed, Poisson
from shuffledp.protocols import get
from shuffledp.protocols.client import analyzing
from shuffledp.tasks import Budget, Frequency, Participants, Users

USERS, VALUES = 200, 4
BUDGET = Budget(2.0, 1e-4)
SIZE = typed("--domain-size 4 --eps 2 --delta 1e-4")
NAMES = ("grr_blanket", "silent_users", "one_sided_noise", "balls_into_bins")
EVERY = ("--protocols", ",".join(NAMES))
REPEATS = 2000


def calibrated(name, others):
    kind = get("frequency", name)
    return kind.calibrate(BUDGET, others, Frequency(VALUES), accounting=best_accounting(kind))


def rows_of(text):
    """Return the printed cells by protocol and heading."""
    rows: dict[str, dict[str, str]] = {}
    headings: list[str] = []
    for line in text.replace("±95 %", "±95").splitlines():
        name, *cells = line.split() or [""]
        if name == "protocol":
            headings = [f"most {cells[i - 1]}" if cell == "most" else cell for i, cell in enumerate(cells)]
        elif name in NAMES and len(cells) == len(headings):
            rows[name] = dict(zip(headings, cells, strict=True))
    assert set(rows) == set(NAMES)
    return rows


def clauses_of(text):
    """Return the clause on users and data of every heading."""
    told = re.search(r"Numbers hold as follows: (.*)\.$", " ".join(text.partition("\n\n\n")[0].split()))
    assert told, text
    result = {}
    for part in told[1].split("; "):
        headings, clause = re.fullmatch(r"(.*?) (for .*)", part).groups()
        result |= dict.fromkeys(headings.replace("±95 %", "±95").split(", "), clause)
    return result


#: Data that a clause allows.
DATA = {
    "for 200 planned users with equal shares of all values": [[50, 50, 50, 50]],
    "for 200 planned users of whom a tenth have the value": [[20, 60, 60, 60]],
    "for 200 planned users with any values": [[200, 0, 0, 0], [100, 100, 0, 0], [50, 50, 50, 50]],
}


def errors(name, counts):
    who = Participants.from_counts(np.tile(counts, (REPEATS, 1)))
    found = calibrated(name, Fixed(USERS - 1)).simulate(who, np.random.default_rng(20_261_128))
    return np.abs(found - who.truth)


def check_messages(protocol, counts, mean, most):
    """Compare the mean with that of 30 batches, and the most with the messages of single users."""
    rng, values = np.random.default_rng(20_261_128), np.repeat(np.arange(VALUES), counts)
    means = np.array([len(protocol.encode(Users(values), rng)) for _ in range(30)]) / len(values)
    unseen = 18 * max(1.0, float(mean)) / (30 * len(values))  # a chance of 1e-8 to be absent in all batches
    assert abs(means.mean() - float(mean)) <= 6 * means.std() / math.sqrt(30) + unseen + 6e-4 * float(mean)
    single = [len(protocol.encode(Users(values[i : i + 1], None, i), rng)) for i in range(20)]
    assert max(single) <= float(most.lstrip("~"))


@pytest.mark.parametrize("name", NAMES)
def test_numbers_hold_for_users_and_data(name):
    """The users and the data are those of the clauses below the table; see also `test_columns.py`."""
    text = printed("compare --users", str(USERS), *SIZE, *EVERY)
    row, clauses = rows_of(text)[name], clauses_of(text)
    assert set(clauses) == {heading.partition(" ")[0] for heading in row} - {"guarantee"}
    assert clauses["messages"] == clauses["bits"] == clauses["most"]
    for heading in ("error", "frequent", "/floor", "±95", "messages"):
        for counts in DATA[clauses[heading]]:
            check_number(name, counts, row, heading)


def check_number(name, counts, row, heading):
    """Compare a printed number with users of these values."""
    if heading == "messages":
        check_messages(calibrated(name, Fixed(USERS - 1)), counts, row["messages"], row["most messages"])
        return
    if heading == "±95":
        inside = (errors(name, counts) <= float(row["±95"])).mean(axis=0).min()
        assert inside > 0.95 - 5 * math.sqrt(0.05 * 0.95 / REPEATS)
        return
    squared = errors(name, counts) ** 2
    squared = squared[:, 0] if heading == "frequent" else squared.mean(axis=1)
    if heading == "/floor":  # discrete Laplace noise of two counts
        squared *= 2 * math.sinh(BUDGET.largest_eps / 4) ** 2 * USERS**2
    deviation = abs(squared.mean() - float(row[heading]))
    assert deviation < 6 * squared.std() / math.sqrt(REPEATS) + 0.006 * float(row[heading])


def test_numbers_have_conditions_in_every_format(tmp_path):
    """The formats are Python, JSON and CSV."""
    what = {"eps": 2.0, "delta": 1e-4, "protocols": [*NAMES, "local", "central_laplace"]}
    numbers = {field.name for field in fields(Compared) if "float" in str(field.type)}
    numbers -= {"colluding", "parameters", "beyond"}  # of the request, of the calibration, of limits
    rows = shuffledp.compare(USERS, domain_size=4, **what, simulate=2, poisoned=3, colluding=0.1)
    for row in rows:
        assert set(row.conditions) == {name for name in numbers if getattr(row, name) is not None}
        assert set(row.as_dict()["conditions"]) == set(row.conditions)
    options = (
        "--users",
        str(USERS),
        *SIZE,
        *EVERY,
        "--colluding",
        "0.1",
        "--poisoned",
        "3",
        "--simulate",
        "2",
    )
    best = json.loads(printed("compare", *options, "--json"))["recommendation"]
    told = {
        name for name, value in best.items() if isinstance(value, float | str) and name in best["conditions"]
    }
    assert told >= {
        "half_width",
        "messages_mean",
        "bits_mean",
        "messages_worst",
        "eps_colluding",
        "runner_up_ratio",
    }
    assert set(best["conditions"]["messages_mean"]) == {field.name for field in fields(Conditions)}
    table = tmp_path / "rows.csv"
    printed("compare", *options, "--csv-out", str(table))
    assert "messages_per_user=for 200 planned users with any values, rounded nearest" in table.read_text()


@pytest.mark.parametrize("counts", [[200, 0, 0, 0], [120, 60, 20, 0]])
def test_recommended_messages_hold_for_any_values(counts, tmp_path):
    data = tmp_path / "in.csv"
    data.write_text("v\n" + "".join(f"{value}\n" * count for value, count in enumerate(counts)))
    text = printed("compare --data", str(data), "--column", "v", *SIZE, "--protocols", "silent_users")
    told = re.search(
        r"A user sends (\S+) messages \(\S+ bits\) on average for 200 counted users with any values, at most (\d+)",
        " ".join(text.split()),
    )
    assert told, text
    protocol = calibrated("silent_users", Fixed(USERS - 1))
    for held in (counts, [50, 50, 50, 50]):
        check_messages(protocol, held, told[1], told[2])


@pytest.mark.parametrize("users", ["--users 300", "--population poisson:299"])
def test_described_messages_hold_for_stated_users(users):
    text = " ".join(printed("describe pure_dump", *users.split(), *SIZE).split())
    who = r"for ([\d,]+) (planned users|users on average) with any values"
    told = re.search(rf"A user sends (\S+) messages of \S+ bits in expectation, {who}", text)
    assert told and told[3] == ("planned users" if users.startswith("--users") else "users on average")
    law = Fixed(299) if users.startswith("--users") else Poisson(299.0)
    number = int(told[2])
    check_messages(calibrated("pure_dump", law), [number - 3, 1, 1, 1], told[1], "1000")


@pytest.mark.parametrize("users", [150, 200, 300])
def test_analyzer_states_users_and_data(users, tmp_path):
    """The half-widths hold, see `test_client_intervals.py`; the planned users are in the parameters."""
    protocol = calibrated("one_sided_noise", Fixed(USERS - 1))
    protocol.export_client(tmp_path / "made", eps=2.0, delta=1e-4)
    parameters = json.loads((tmp_path / "made/parameters.json").read_text())
    planned = {"users": USERS, "who": "planned", "data": "worst", "side": "up"}
    assert parameters["conditions"] == dict.fromkeys(("eps", "delta", "eps_local"), planned)
    stated = analyzing.analysis(parameters, [(0,)] * users, users)["conditions"]
    assert Conditions(**stated["half_width"]) == Conditions(users, "counted", "worst", "up")
