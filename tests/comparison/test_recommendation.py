"""The recommendation: proven guarantees first, reasons against other protocols, and the limit to loosen first."""

import json
import math
from dataclasses import replace

import pytest

from command_line import invoked, printed, typed, unwrapped
from shuffledp.comparison import recommended
from shuffledp.comparison.recommendation import loosening, sentences
from shuffledp.comparison.rows import Compared
from shuffledp.guarantees import MEANING
from shuffledp.numerics.statements import Conditions

SETTING = typed("--users 10000 --domain-size 20 --eps 1 --delta 1e-6")
FEW = ["--protocols", "pure_dump,grr_blanket,mix_dump,sageo,central_laplace"]


def row(name, trust="shuffler", mse=1e-6, guarantee="exact", **more):
    known = {
        "mse": mse,
        "half_width": mse**0.5,
        "simultaneous_half_width": 2 * mse**0.5,
        "messages_per_user": 1.0,
        "bits_per_user": 5.0,
        "conditions": dict.fromkeys(
            ("mse", "half_width", "messages_per_user"), Conditions(10_000, "planned", "worst", "up")
        ),
    }
    return Compared(name, name, "frequency", trust, "ok", "", "exact", "own", guarantee, **known | more)


def test_proven_row_of_weakest_trust_leads():
    """Other rows are passed over, with the reason."""
    rows = [
        row("central", "central", 1e-9),
        replace(row("printed", mse=1e-9), accounting="printed"),
        row("unproven", mse=1e-9, guarantee="unproven"),
        row("idle", mse=1e-9, idle=True),
        row("biased", mse=1e-9, biased=True),
        row("adds", "shuffler_adds", 1e-9),
        row("best", relies_on="others' dummies", most_messages=2.0, most_bits=10.0, most_certain=False),
        row("next", mse=4e-6),
        row("local", "local", 1.0),
    ]
    found = recommended(rows)
    assert found is not None
    assert (found.protocol, found.runner_up, found.trust) == ("best", "next", "shuffler")
    assert found.runner_up_ratio == pytest.approx(2)
    assert found.trusted == "a shuffler that permutes; others' dummies"
    against = {name: why for why, names in found.passed_over.items() for name in names}
    assert set(against) == {"central", "printed", "unproven", "idle", "biased", "adds"}
    assert against["printed"] == "printed accounting"
    assert found.worst_certain is False
    said = unwrapped(sentences(found))
    assert said.startswith(
        "Use best for one release: within ±0.001 for one value, ±0.002 for all values at once, with 95 % confidence "
        "for 10,000 planned users with any values."
    )
    for part in (
        f"Guarantee: exact ({MEANING['exact']}).",
        "Users trust a shuffler that permutes, and rely on others' dummies.",
        "at most 2 (10 bits) except with a probability of at most 1e-06.",
        "Runner-up: next, with 2 times the root mean squared error.",
    ):
        assert part in said
    assert recommended(rows[:1]).trust == "central"
    assert recommended(rows[1:5]) is None


def test_command_recommends_in_text_and_json():
    text = printed("compare", *SETTING, *FEW)
    answer = json.loads(printed("compare", *SETTING, *FEW, "--json"))
    best = answer["recommendation"]
    rows = [one for one in answer["rows"] if one["trust"] == "shuffler" and one["status"] == "ok"]
    assert best["protocol"] == min(rows, key=lambda one: one["mse"])["protocol"]
    assert text.startswith(f"Use {best['protocol']} for one release: within ±")
    assert best["messages_worst"] == rows[0]["most_messages"]
    assert best["parameters"] == rows[0]["parameters"] != {}
    plain = printed("compare", *SETTING, *FEW, "--json", "--rows-only")
    assert json.loads(plain) == answer["rows"]
    assert "Use " not in printed("compare", *SETTING, *FEW, "--rows-only")


@pytest.mark.parametrize(
    "options, command, unit",
    [
        (
            typed("--column x --max-value 2 --levels 4 --protocols correlated_sum"),
            "client correlated_sum --users 1000 --max-value 2 --levels 4 --unit x",
            "",
        ),
        (
            typed("--column v --values b,a --protocols pure_dump"),
            "client pure_dump --users 1000 --values b,a",
            "",
        ),
        (
            typed("--column v --protocols pure_dump"),
            "client pure_dump --users 1000 --domain-size 2",
            "The client's value is the place in this list, from 0 on: a, b.",
        ),
    ],
)
def test_next_command_states_the_values(tmp_path, options, command, unit):
    file = tmp_path / "mine.csv"
    file.write_text("v,x\n" + "a,1.5\nb,0.5\n" * 500)
    call = ["compare", "--csv", str(file), *typed("--eps 1 --delta 1e-6"), *options]
    line, after = printed(*call).partition("Next command:\n  ")[2].splitlines()[:2]
    assert line == f"shuffledp {command} --eps 1.0 --delta 1e-06 -o client" and after == unit
    assert invoked(*line.split()[1:-1], str(tmp_path / "new")).exit_code == 0


def test_limit_to_loosen_has_sufficient_value():
    limits = typed("--max-bits 3 --mean-messages 0.9")
    answer = json.loads(printed("compare", *SETTING, *FEW[:1], "pure_dump,grr_blanket", *limits, "--json"))
    assert answer["recommendation"] is None
    loosen = answer["loosen"]
    changes = loosen.pop("changes")
    assert loosen == {"protocol": "grr_blanket", "limit": "max_bits", "given": 3.0, "needed": 5.0}
    assert changes == {"max_bits": [3.0, 5.0], "mean_messages": [0.9, 1.0]}


def test_unstated_quantity_is_not_loosened():
    unknown = replace(row("unknown"), status="infeasible", beyond={"max_bits": math.inf})
    assert loosening([unknown], {"max_bits": 3.0}, 1.0, lambda changes, names: []) is None


@pytest.mark.parametrize(
    "users, same", [("200k", "200000"), ("2e5", "200000"), ("0.5M", "500000"), ("10_000", "10000")]
)
def test_human_number_formats_are_read(users, same):
    setting = typed("--domain-size 4 --epsilon 1 --delta 1e-6 --protocols pure_dump --json")
    one, two = (printed("compare --users", n, *setting) for n in (users, same))
    assert one == two != ""
    assert invoked("account --users", users, *typed("--eps-local 1 --delta 1e-6")).exit_code == 0


@pytest.mark.parametrize("users", ["2e5.5", "1.5", "k", "-1k", "1e400", "ten", ""])
def test_fractional_users_are_refused(users):
    done = invoked("compare --users", users, *SETTING[2:])
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    assert "--users" in done.stderr or "users" in done.stderr
