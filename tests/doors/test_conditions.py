"""Conditions of printed numbers: the users and the data that a clause names are those for which the number is right.

The numbers themselves are measured in other files of this folder.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields

import pytest

import shuffledp
from command_line import printed, typed, unwrapped
from printed_tables import best, cells
from shuffledp.comparison import Compared
from shuffledp.numerics.statements import Conditions
from shuffledp.protocols.client import analyzing
from shuffledp.tasks import Budget, Frequency

USERS = 200
BUDGET = Budget(2.0, 1e-4)
SIZE = typed("--domain-size 4 --eps 2 --delta 1e-4")
NAMES = ("grr_blanket", "silent_users", "one_sided_noise", "balls_into_bins")
EVERY = ("--protocols", ",".join(NAMES))


def clauses_of(text):
    """Return the clause on users and data of every heading."""
    told = re.search(r"Numbers hold as follows: (.*)\.$", unwrapped(text.partition("\n\n\n")[0]))
    assert told, text
    result = {}
    for part in told[1].split("; "):
        headings, clause = re.fullmatch(r"(.*?) (for .*)", part).groups()
        result |= dict.fromkeys(headings.replace("±95 %", "±95").split(", "), clause)
    return result


def test_numbers_hold_for_users_and_data():
    """`test_columns.py`, `test_messages.py` and `test_intervals.py` measure the numbers for these users and data."""
    text = printed("compare --users", str(USERS), *SIZE, *EVERY)
    every, planned = cells(text)["silent_users"], "for 200 planned users "
    headings = {heading.partition(" ")[0] for heading in every} - {"guarantee"}
    assert clauses_of(text) == dict.fromkeys(headings, f"{planned}with any values") | {
        **dict.fromkeys(("error", "/floor"), f"{planned}with equal shares of all values"),
        "frequent": f"{planned}of whom a tenth have the value",
    }
    floor = 1 / (
        2 * math.sinh(BUDGET.largest_eps / 4) ** 2 * USERS**2
    )  # discrete Laplace noise of two counts
    assert float(every["/floor"]) == pytest.approx(float(every["error"]) / floor, rel=6e-3)


def test_numbers_have_conditions_in_every_format(tmp_path):
    """The formats are Python, JSON and CSV."""
    what = {"eps": 2.0, "delta": 1e-4, "protocols": [*NAMES, "local", "central_laplace"]}
    numbers = {field.name for field in fields(Compared) if "float" in str(field.type)}
    numbers -= {"colluding", "parameters", "beyond"}  # of the request, of the calibration, of limits
    rows = shuffledp.compare(USERS, domain_size=4, **what, simulate=2, poisoned=3, colluding=0.1)
    for row in rows:
        assert set(row.conditions) == {name for name in numbers if getattr(row, name) is not None}
        assert set(row.as_dict()["conditions"]) == set(row.conditions)
    options = ("--users", str(USERS), *SIZE, *EVERY, *typed("--colluding 0.1 --poisoned 3 --simulate 2"))
    chosen = json.loads(printed("compare", *options, "--json"))["recommendation"]
    told = {name for name in chosen["conditions"] if chosen[name] is not None}
    assert told >= {
        *("half_width", "messages_mean", "bits_mean", "messages_worst"),
        "eps_colluding",
        "runner_up_ratio",
    }
    assert set(chosen["conditions"]["messages_mean"]) == {field.name for field in fields(Conditions)}
    table = tmp_path / "rows.csv"
    printed("compare", *options, "--csv-out", str(table))
    assert "messages_per_user=for 200 planned users with any values, rounded nearest" in table.read_text()


@pytest.mark.parametrize("users", [150, 200, 300])
def test_analyzer_states_users_and_data(users, tmp_path):
    """The half-widths hold, see `test_client_intervals.py`; the planned users are in the parameters."""
    protocol = best(Frequency(4), "one_sided_noise", USERS - 1, BUDGET)
    protocol.export_client(tmp_path / "made", eps=2.0, delta=1e-4)
    parameters = json.loads((tmp_path / "made/parameters.json").read_text())
    planned = {"users": USERS, "who": "planned", "data": "worst", "side": "up"}
    assert parameters["conditions"] == dict.fromkeys(("eps", "delta", "eps_local"), planned)
    stated = analyzing.analysis(parameters, [(0,)] * users, users)["conditions"]
    assert Conditions(**stated["half_width"]) == Conditions(users, "counted", "worst", "up")
