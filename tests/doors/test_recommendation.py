"""The recommendation: for one release, published protocols first at a tie, and what remains if the shuffler fails."""

import dataclasses
import sys

import pytest

import shuffledp
from shuffledp.comparison.recommendation import recommended

SETTING = {"eps": 1.0, "delta": 1e-6}


def test_the_recommendation_is_for_one_release():
    rows = shuffledp.compare(2000, domain_size=4, protocols=["grr_blanket"], **SETTING)
    assert str(rows).startswith("Use grr_blanket for one release: within")


@pytest.mark.parametrize("users", [2000, 20_000, 100_000])
def test_a_published_protocol_wins_a_tie(users):
    names = ["jump_counts", "correlated_noise"]
    rows = shuffledp.compare(users, domain_size=50, protocols=names, **SETTING)
    jumps, published = sorted(rows, key=lambda row: names.index(row.protocol))
    assert jumps.mse == pytest.approx(published.mse, rel=1e-3)
    assert jumps.derived and not published.derived
    assert rows.recommendation.protocol == "correlated_noise"
    assert rows.recommendation.runner_up == "jump_counts"
    assert "passed over" not in str(rows).split("Trusted:")[0]


def test_a_derived_protocol_says_so():
    rows = shuffledp.compare(20_000, domain_size=50, protocols=["jump_counts"], **SETTING)
    text = " ".join(str(rows).split())
    assert "The protocol was derived for this project and is not published." in text


def test_at_equal_errors_the_fewest_messages_of_a_user_decide():
    (row,) = shuffledp.compare(2000, domain_size=4, protocols=["grr_blanket"], **SETTING)
    more = dataclasses.replace(row, protocol="more", most_messages=7.0)
    assert recommended([more, row]).protocol == "grr_blanket"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pure_dump", "values are in the clear: the local eps is inf."),
        ("grr_blanket", "a value has only the local eps, "),
        ("skellam", "If the secure summation shows the messages of a user, values are in the clear"),
        ("central_laplace", "A curator receives the values of all users."),
        ("local", "A user trusts no other party"),
    ],
)
def test_what_remains_if_the_trusted_party_fails(name, words):
    rows = shuffledp.compare(5000, domain_size=3, protocols=[name], eps=3.0, delta=1e-6)
    assert words in " ".join(str(rows).split())
    assert words in rows.recommendation.if_shuffler_fails


def test_notebooks_show_a_comparison_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    rows = shuffledp.compare(2000, domain_size=4, protocols=["grr_blanket"], **SETTING)
    assert rows._repr_html_().startswith("<pre>Use grr_blanket for one release")
    batch = shuffledp.simulate(counts=[500, 300, 200], protocol="grr_blanket", seed=1, **SETTING)
    assert "grr_blanket, 1,000 users" in batch._repr_html_()
