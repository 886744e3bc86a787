"""Calibration for several releases to the same users, and its place in a comparison.

The exact values were computed apart from this library, from exact laws.
"""

import json
import math
import re

import numpy as np
import pytest

import shuffledp
from command_line import invoked, printed, typed
from exported_programs import parameters_of, run
from shuffledp.accounting import ClonesProfile, Infeasible, OtherReports, composed_epsilon
from shuffledp.accounting.general.composition import ComposedProfile
from shuffledp.comparison import recommended
from shuffledp.comparison.options import Options
from shuffledp.comparison.releases import calibrate_releases, point_profile, releases_within
from shuffledp.comparison.setting import setting_of
from shuffledp.comparison.spending import Spent
from shuffledp.populations import Binomial, Fixed, Poisson
from shuffledp.protocols import get
from shuffledp.protocols.frequency.designated_coins import DesignatedCoins


def released(name, users, values, rounds, accounting="exact", **more):
    where = setting_of(
        Options(**{"users": users, "domain_size": values, "eps": 1.0, "delta": 1e-6, "rounds": rounds} | more)
    )
    once = get("frequency", name).calibrate(where.budget, where.population, where.task, accounting=accounting)
    return calibrate_releases(once, where, accounting)


@pytest.mark.parametrize(
    "name, users, values, rounds, parameter, exact, tolerance, single",
    [
        ("central_laplace", 49_241, 499, 30, "eps", 0.0627942, 3e-5, 0.0627903),
        ("designated_coins", 49_241, 499, 30, "designated", 4_284, 2.4e-4, 0.161967),
        ("pure_dump", 49_241, 499, 30, "dummies", 534_721, 3e-5, 0.162287),
    ],
)
def test_the_exact_parameters(name, users, values, rounds, parameter, exact, tolerance, single):
    found = released(name, users, values, rounds)
    assert found.protocol.parameters()[parameter] == pytest.approx(exact, rel=tolerance)
    assert found.eps_one == pytest.approx(single, rel=1e-4)
    assert 0.999 <= found.eps_all <= 1
    assert found.status == "exact"
    assert 0.999 * found.eps_all <= found.eps_lower <= found.eps_all
    if parameter == "designated":  # the smallest sufficient number
        fewer = DesignatedCoins(values, users, found.protocol.designated - 1).privacy_profile()
        assert composed_epsilon([fewer], 1e-6, rounds=[rounds]) > 1


def test_fair_coins_need_enough_users():
    with pytest.raises(Infeasible, match="10000 users are too few"):
        released("balls_into_bins", 10_000, 20, 365)


def test_infinite_losses_leave_little_delta():
    found = released("sageo", 49_241, 499, 30)
    assert found.floor < 1e-6
    assert 0.999 <= found.eps_all <= 1
    # The same as a curator's noise, apart from the part of delta.
    laplace = released("central_laplace", 49_241, 499, 30)
    ratio = found.protocol.parameters()["half_eps"] / (laplace.protocol.parameters()["eps"] / 2)
    assert ratio == pytest.approx(1, abs=2e-3)


def test_point_bound_composes_as_failing_response():
    """A bound at one point composes as randomized response that fails with probability delta."""
    found = released("pure_dump", 49_241, 499, 30, accounting="printed")
    assert found.status == "point"
    assert found.protocol.dummies_in_all > 534_721
    profile = point_profile(0.2, 1e-3)
    assert float(profile.delta(0.2)) == 1e-3
    assert float(profile.delta(0.0)) == pytest.approx(1e-3 + 0.999 * math.tanh(0.1))


def test_crowds():
    """A number that is the same in all releases allows a smaller local budget than a number drawn anew."""
    found = {}
    for crowd, law in (("fixed", Fixed(999)), ("shared", Poisson(999)), ("fresh", Poisson(999))):
        chosen = None if crowd == "fixed" else crowd
        found[crowd] = released("amplified", None, 20, 10, population=law, crowd=chosen)
        assert 0.999 <= found[crowd].eps_all <= 1
    budgets = {crowd: one.protocol.eps_local for crowd, one in found.items()}
    assert 0.9 * budgets["fixed"] < budgets["shared"] < budgets["fresh"] < budgets["fixed"]
    assert found["shared"].status == "upper"
    # The mean over the number of users of delta of ten releases is within the budget.
    window = Poisson(999).window(1e-9)
    at = np.arange(window.start, window.stop, 30)
    profiles = [ClonesProfile(OtherReports(Fixed(int(n))), budgets["shared"]) for n in at]
    deltas = [float(ComposedProfile([one], [10], 1e-6).delta(1.0)) for one in profiles]
    assert float(window.pmf @ np.interp(window.support, at, deltas)) <= 1e-6
    same = released("amplified", None, 20, 10, population=Binomial(999, 1.0), crowd="shared")
    assert same.protocol.eps_local == pytest.approx(budgets["fixed"], rel=1e-4)


def test_numbers_of_releases_within_an_eps():
    protocol = DesignatedCoins(499, 49_241, 4_284)
    profile = protocol.privacy_profile()
    assert releases_within(profile, 2.0, 1e-6, protocol) == 107
    assert releases_within(profile, 1.0, 1e-6, protocol) == 30
    assert releases_within(profile, 0.1, 1e-6, protocol) == 0


def test_order_depends_on_number_of_releases():
    names = ["correlated_noise", "designated_coins", "pure_dump", "central_laplace"]
    best = {}
    for rounds in (1, 30):
        rows = shuffledp.compare(49_241, domain_size=499, eps=1, delta=1e-6, protocols=names, rounds=rounds)
        assert all(row.status == "ok" for row in rows)
        best[rounds] = recommended(rows)
        known = {row.protocol: row for row in rows}
        rmse = {name: 49_241 * math.sqrt(row.mse) for name, row in known.items()}
        if rounds == 30:
            assert rmse["pure_dump"] == pytest.approx(32.7023, rel=5e-5)
            assert rmse["correlated_noise"] == pytest.approx(50.0459, rel=5e-5)
            assert rmse["central_laplace"] == pytest.approx(45.0410, rel=5e-5)
            assert known["pure_dump"].messages_all_rounds == 30 * known["pure_dump"].messages_per_user
        assert all(row.eps_spent == row.eps_all_rounds for row in rows)
    assert {rounds: one.protocol for rounds, one in best.items()} == {
        1: "correlated_noise",
        30: "pure_dump",
    }
    assert best[1].eps_if_repeated == pytest.approx(20.4079, rel=1e-3)
    assert best[30].one_release_choice == "correlated_noise"
    assert "eps once eps all" in str(rows)
    assert str(best[30]).startswith("Use pure_dump for 30 releases to the same users, with eps 1 for all")


def test_the_commands():
    setting = typed("--users 2000 --domain-size 5 --eps 1 --delta 1e-6 --rounds 3")

    def output(*words):
        return invoked(*words, *setting).output

    content = json.loads(output(*typed("compare --json --protocols designated_coins,local")))
    rows = {row["protocol"]: row for row in content["rows"]}
    assert rows["local"]["status"] == "ok"
    row, best = rows["designated_coins"], content["recommendation"]
    assert (row["rounds"], row["crowd"], row["unit"]) == (3, "fixed", "user")
    assert row["eps_all_rounds_lower"] < row["eps_all_rounds"] <= 1
    assert (best["rounds"], best["privacy"]["rounds"]) == (3, 3)
    assert "for 3 releases to the same users" in best["sentence"]
    text = output(*typed("describe designated_coins --until-eps 2"))
    every, more = map(
        int, re.search(r"(\d+) releases in all have eps at most 2, (\d+) more than the 3", text).groups()
    )
    assert every - 3 == more > 0
    text = output("compare", "--protocols", "designated_coins")
    assert "eps once eps all" in text and "--rounds 3" in text
    assert "crowd must be left out without population" in output("compare", "--crowd", "fresh")


def test_one_release_is_simulated():
    counts = [5_000, 3_000, 2_000]
    result = shuffledp.simulate(counts=counts, protocol="designated_coins", eps=1, delta=1e-6, rounds=30)
    once = shuffledp.simulate(counts=counts, protocol="designated_coins", eps=3, delta=1e-6)
    assert result.rounds == 30
    assert result.variance.max() > 4 * once.variance.max()
    assert "for 30 releases to the same users" in str(result)


def test_the_analyzer_counts_releases(tmp_path):
    folder = tmp_path / "visits"
    options = typed("--users 1000 --domain-size 4 --eps 1 --delta 1e-4 --rounds 2")
    printed("client pure_dump", *options, "-o", str(folder))
    parameters = parameters_of(folder)
    assert (parameters["rounds"], parameters["round"], parameters["privacy"]["rounds"]) == (2, 1, 2)
    sent = json.loads((folder / "test_vectors.json").read_text())["clients"]
    answers = []
    for number in (1, 2, 3, 1):
        file = tmp_path / f"{number}.txt"
        file.write_text("\n".join(message for user in sent[:number] for message in user["messages"]) + "\n")
        done = run(folder, "analyzer", str(file), "--users", "1000")
        answers.append((json.loads(done.stdout), done.stderr))
    assert [found["round"] for found, _ in answers] == [1, 2, 3, 1]
    assert [found["guarantee_holds"] for found, _ in answers] == [True, True, False, True]
    assert "it covers 2 releases to the same users, and this is release 3." in answers[2][1]


def test_past_releases_and_further_ones(tmp_path):
    file, coins = tmp_path / "past.json", {"designated": 4_284}
    entry = {
        "protocol": "designated_coins",
        "parameters": coins,
        "n": 49_241,
        "domain_size": 499,
        "count": 30,
    }
    file.write_text(json.dumps([entry]))
    call = ["account", "--spent", str(file), "--delta", "1e-6"]
    found = json.loads(invoked(*call, "--eps", "2", "--json").output)
    assert found["eps"] == pytest.approx(1.0, rel=1e-3)
    assert (found["releases"], found["left"]) == (30, 77)
    pure = {"protocol": "pure_dump", "parameters": {"dummies": 534_721}, "n": 49_241, "domain_size": 499}
    file.write_text(json.dumps([entry | {"count": 10}, pure | {"count": 20}]))
    said = invoked(*call).output
    assert 0.999 < float(said.split("eps = ")[1].split(":")[0]) < 1.002
    refused = invoked(*call, "--users", "5").output
    assert "--spent cannot be combined" in refused


@pytest.mark.parametrize(
    "content, says",
    [
        ("no json", "is not a JSON file in UTF-8"),
        ("[5]", "entry 1: it must be an object, got 5"),
        ('{"protocol": "pure_dump"}', "entry 1: it lacks users, eps, delta"),
        ('{"protocol": "pure_dump", "users": "x", "eps": 1, "delta": 1e-6}', "users must be an integer"),
        (
            '{"protocol": "pure_dump", "users": 99, "domain_size": 5, "eps": "x", "delta": 1e-6}',
            "eps must be a positive",
        ),
        ('{"protocol": "pure_dump", "users": 99, "domain_size": 5, "parameters": {}}', "lack dummies_in_all"),
        (
            '{"protocol": "pure_dump", "users": 99, "domain_size": 5, "parameters": {"dummies": "x"}}',
            "got 'x'",
        ),
    ],
)
def test_wrong_file_of_releases_is_located(tmp_path, content, says):
    file = tmp_path / "past.json"
    file.write_text(content)
    done = invoked("account --spent", str(file), "--delta", "1e-6")
    assert done.exit_code == 1 and done.stderr.startswith(f"Error: {file}")
    assert says in done.stderr and done.stderr.count("\n") == 1


def test_further_eps_is_rounded_up():
    lines = Spent(0.1, 1e-6, 3, 1.23456789, 138).lines()
    assert lines[1].endswith("eps of all is at most 1.23457.")
