"""The recommendation: for one release, published protocols first at a tie, and what remains if the shuffler fails."""

import dataclasses
import importlib
import json
import math
import re
import sys

import pytest

import shuffledp
from command_line import invoked, printed, typed, unwrapped
from printed_tables import best
from shuffledp.comparison.recommendation import recommended
from shuffledp.guarantees import is_derived
from shuffledp.protocols import available, get
from shuffledp.tasks import TASK_KINDS, Budget, Frequency

SETTING = {"eps": 1.0, "delta": 1e-6}


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
    text = unwrapped(rows)
    assert "The protocol was derived for this project and is not published." in text
    assert "Its proof is in the description of shuffledp.designs.jump_laws." in text


def test_derived_protocols_name_their_proofs():
    """The description of the module has a formula of the mechanism or of its delta, and no other protocol names one."""
    for kind in TASK_KINDS:
        for name in available(kind):
            protocol = get(kind, name)
            assert bool(protocol.proof) is is_derived(protocol.source), name
            if protocol.proof:
                assert len(importlib.import_module(protocol.proof).__doc__.split()) > 80, name


def test_the_simplest_of_tied_protocols_wins():
    """Subset selection with one value is randomized response; rounding may give it the smaller error."""
    names = ["grr_blanket", "subset_selection"]
    rows = shuffledp.compare(2000, domain_size=20, protocols=names, **SETTING)
    simple, general = sorted(rows, key=lambda row: names.index(row.protocol))
    general = dataclasses.replace(general, mse=simple.mse * (1 - 1e-9))
    assert recommended([general, simple]).protocol == "grr_blanket"
    assert str(rows.recommendation) == str(rows).partition("\n\n")[0]


def test_privacy_claims_agree(tmp_path):
    """The claim has every point in one object; a delta at eps comes from the calibrated protocol."""
    words = typed("--users 300 --domain-size 4 --eps 1 --delta 1e-3")
    more = typed("--protocols one_sided_noise --colluding 2% --dropout 10% --json")
    answer = json.loads(printed("compare", *words, *more))
    claim, row = answer["recommendation"]["privacy"], answer["rows"][0]
    protocol = best(Frequency(4), "one_sided_noise", 269, Budget(1.0, 1e-3))
    assert protocol.privacy_profile().delta(claim["epsilon"]) <= claim["delta"] == 1e-3
    assert (claim["unit"], claim["relation"], claim["rounds"]) == ("user", "replace_one", 1)
    assert claim["trust"]["model"] == "shuffler" and claim["trust"]["eps_local"] == "inf"
    assert "values are in the clear" in claim["trust"]["if_it_fails"]
    assert claim["collusion"] == {
        "relies_on": "others' dummies",
        "colluding": 0.02,
        "epsilon": row["eps_colluding"],
        "dropout_planned": 0.1,
    }
    folder = tmp_path / "made"
    printed("client one_sided_noise", *words, "--dropout", "10%", "-o", str(folder))
    exported = json.loads((folder / "parameters.json").read_text())["privacy"]
    claim["collusion"] |= {"colluding": None, "epsilon": None}
    assert exported == claim


def test_ties_go_to_fewest_messages():
    (row,) = shuffledp.compare(2000, domain_size=4, protocols=["grr_blanket"], **SETTING)
    more = dataclasses.replace(row, protocol="more", most_messages=7.0)
    assert recommended([more, row]).protocol == "grr_blanket"


@pytest.mark.parametrize(
    "name, words",
    [
        ("pure_dump", "values are in the clear: the local eps is inf."),
        ("grr_blanket", "a value has only the local eps, "),
        ("skellam", "If the secure summation shows the messages of a user, values are in the clear"),
        ("central_laplace", "A curator receives the values of all users."),
        ("local", "A user trusts no other party"),
    ],
)
def test_failure_of_trusted_party_is_stated(name, words):
    rows = shuffledp.compare(5000, domain_size=3, protocols=[name], eps=3.0, delta=1e-6)
    assert words in unwrapped(rows)
    assert words in rows.recommendation.if_shuffler_fails


def test_shuffler_failure_over_releases_is_stated(tmp_path):
    """Two users with one value in every release differ in each of their messages, whose ratios multiply."""
    words = typed("--users 100 --domain-size 4 --eps 1 --delta 1e-6 --rounds 2")
    found = printed("compare", *words, "--protocols", "grr_blanket")
    (once, every) = re.search(
        r"only the local eps, (\S+) in one release\. In 2 releases, all values of a user have the local eps (\S+)\. ",
        unwrapped(found),
    ).groups()
    folder = tmp_path / "made"
    made = invoked("client grr_blanket", *words, "-o", str(folder))
    assert f"all values of a user have the local eps {every}." in made.stdout
    parameters = json.loads((folder / "parameters.json").read_text())
    weights = parameters["client"][0]
    ratio = math.log(int(weights["true_weight"]) / int(weights["other_weight"]))
    assert 2 * ratio <= float(every) <= 2 * ratio * 1.001 and ratio <= float(once) <= ratio * 1.001
    for text in (parameters["if_shuffler_fails"], parameters["privacy"]["trust"]["if_it_fails"]):
        assert f"all values of a user have the local eps {every}." in text


def test_notebooks_show_a_comparison_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    rows = shuffledp.compare(2000, domain_size=4, protocols=["grr_blanket"], **SETTING)
    assert rows._repr_html_().startswith("<pre>Use grr_blanket for one release")
    batch = shuffledp.simulate(counts=[500, 300, 200], protocol="grr_blanket", seed=1, **SETTING)
    assert "grr_blanket, 1,000 users" in batch._repr_html_()
