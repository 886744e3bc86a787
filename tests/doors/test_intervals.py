"""Every half-width that `compare`, `simulate` and the recommendation print covers what it states.

Errors come from the exact laws of aggregates (`protocol.simulate`), which share no code with the half-widths. Of R
intervals a share of at least 0.95 less 5 standard deviations covers; a correct program misses it with a probability of
3e-7.
"""

import json
import re
import warnings

import numpy as np
import pytest

import shuffledp
from command_line import one_line, printed, typed, unwrapped
from printed_tables import best, cells
from shuffledp.comparison.setting import holding
from shuffledp.populations import Binomial
from shuffledp.protocols import available
from shuffledp.tasks import Budget, Frequency, Sets, Summation, Vectors

REPEATS = 1_000


def least(repeats):
    return 0.95 - 5 * np.sqrt(0.05 * 0.95 / repeats)


def errors(protocol, task, counts, repeats=REPEATS, seed=1):
    """Return the absolute errors (R, V) of simulated batches with these counts."""
    users = int(np.sum(counts)) // (task.set_size if isinstance(task, Sets) else 1)
    who = holding(task, np.full(repeats, users), np.tile(counts, (repeats, 1)))
    found = protocol.simulate(who, np.random.default_rng(seed)) - who.truth
    return np.abs(np.asarray(found, float)).reshape(repeats, -1)


def check(found, single, together, data):
    """Assert that intervals of these half-widths cover errors (R, V)."""
    inside = found <= np.asarray(single) * (1 + 1e-12)
    assert inside.mean(axis=0).min() > least(len(found)), data
    assert (found.max(axis=1) <= together * (1 + 1e-12)).mean() > least(len(found)), data


#: Task, and users per value of several data sets: frequent, half, rare and absent values.
TASKS = {
    "frequency": (Frequency(6), ([450, 40, 8, 2, 0, 0], [250, 250, 0, 0, 0, 0], [500, 0, 0, 0, 0, 0])),
    "bits": (Frequency(2), ([450, 50], [250, 250], [0, 500])),
    "summation": (
        Summation(4),
        ([100] * 5, [500, 0, 0, 0, 0], [0, 0, 0, 0, 500], [0, 500, 0, 0, 0], [0, 0, 500, 0, 0]),
    ),
    "sets": (Sets(8, 2), ([500, 500, 0, 0, 0, 0, 0, 0], [125] * 8, [500, 300, 100, 60, 30, 9, 1, 0])),
}


@pytest.mark.parametrize("kind, eps", [("frequency", 4.0), ("bits", 1.0), ("summation", 4.0), ("sets", 1.0)])
def test_all_protocols_cover_given_and_worst(kind, eps):
    task, datasets = TASKS[kind]
    asked = {"task": task, "eps": eps, "delta": 1e-3}
    names = ["multi_exact", "multi_expected", "multi_union"] if kind == "bits" else None
    for row in shuffledp.compare(500, **asked, protocols=names):
        if row.status != "ok":
            continue
        for counts in datasets:
            shown = shuffledp.simulate(counts=counts, protocol=row.protocol, **asked)
            found = errors(shown.protocol, task, counts)
            check(found, shown.half_width, shown.simultaneous_half_width, (row.protocol, counts, "given"))
            capped = np.minimum(found, 1) if kind != "summation" else found  # estimates cut to [0, 1]
            if row.conditions["half_width"].data == "worst":
                check(capped, row.half_width, row.simultaneous_half_width, (row.protocol, counts, "worst"))
            else:
                assert row.biased


def test_vectors_cover():
    for norm in ("l1", "l2"):
        task = Vectors(3, 1.0, norm)
        for row in shuffledp.compare(300, dimension=3, norm=norm, eps=2.0, delta=1e-4):
            if row.status != "ok":
                continue
            protocol = best(task, row.protocol, 299, Budget(2.0, 1e-4))
            for counts in ([300, 0, 0], [100, 100, 100]):
                found = np.minimum(errors(protocol, task, counts, 400), 2)
                check(found, row.half_width, row.simultaneous_half_width, (row.protocol, counts))


def test_a_random_number_of_users():
    for row in shuffledp.compare(
        population=Binomial(600, 0.5),
        counts=[700, 200, 99, 1],
        eps=2.0,
        delta=1e-4,
        simulate=600,
        protocols=["random_checkin", "grr_blanket", "one_sided_noise", "adaptive", "designated_coins"],
    ):
        assert row.status != "ok" or row.simulated_coverage > least(600), row.protocol


@pytest.mark.parametrize(
    "protocol, eps, users, values",
    [
        ("correlated_noise", 1.0, 1e5, 1000),
        ("one_sided_noise", 6.0, 1e4, 100),
        ("silent_users", 6.0, 1e4, 100),
        ("grr_blanket", 6.0, 100, 2),
        ("sageo", 3.0, 1e6, 1000),
        ("s1geo", 1.0, 1e4, 100),
        ("solh", 2.0, 1e5, 300),
        ("jump_counts", 2.0, 50, 4),
        ("truncation", 1.0, 1e4, 400),
        ("truncation", 0.5, 1e4, 120),
    ],
)
def test_tail_intervals_cover(protocol, eps, users, values):
    """Half-widths cover, and are at most 1.3 times the exact quantile plus two steps of a count."""
    shares = np.where(np.arange(values) < values // 2, 2 / values, 0.0)
    counts = np.round(users * shares).astype(int)
    shown = shuffledp.simulate(counts=counts, protocol=protocol, eps=eps, delta=1e-8)
    found = errors(shown.protocol, Frequency(values), counts, 800)
    check(found, shown.half_width, shown.simultaneous_half_width, protocol)
    step = 2 / (counts.sum() * min(1.0, getattr(shown.protocol, "keep", 1.0)))
    exact = np.quantile(found.max(axis=1), 0.95)
    assert shown.simultaneous_half_width < 1.3 * exact + step


@pytest.mark.parametrize(
    "protocol", ["grr_blanket", "unary_rows", "s1geo", "mix_dump", "silent_users", "sageo"]
)
def test_recommended_interval_covers_frequent_value(protocol):
    n, k, budget = 10_000, 100, Budget(1.0, 1e-6)
    asked = ["compare", "--users", str(n), "--domain-size", str(k), *typed("--eps 1 --delta 1e-6")]
    said = one_line(*asked, "--protocols", protocol)
    stated = re.search(
        rf"Use {protocol} for one release: within ±([\d.e-]+) for one value, ±([\d.e-]+) for all values at once, "
        r"with 95 % confidence for 10,000 planned users with any values\.",
        said,
    )
    assert stated, said
    calibrated = best(Frequency(k), protocol, n - 1, budget)
    for heavy in (1.0, 0.9, 0.5, 1 / k):
        counts = np.full(k, int(n * (1 - heavy) / (k - 1)))
        counts[0] += n - counts.sum()
        check(errors(calibrated, Frequency(k), counts), float(stated[1]), float(stated[2]), (protocol, heavy))


def test_error_laws_have_expected_variance():
    for kind, (task, datasets) in TASKS.items():
        for name in available(task.kind):
            try:
                protocol = best(task, name, 499, Budget(2.0, 1e-3))
            except shuffledp.Infeasible:
                continue
            for counts in datasets:
                users = int(np.sum(counts)) // getattr(task, "set_size", 1)
                who = holding(task, np.array([users]), np.array([counts]))
                law, squared = protocol.error_law(who), protocol.expected_squared_error(who)
                if squared is None:
                    assert law is None
                    continue
                ratio = (law.variance + np.square(law.least)) / np.reshape(squared, (1, -1)).clip(1e-300)
                assert ratio.min() > 1 - 1e-6, (kind, name)
                if name not in ("truncation", "sageo", "s1geo"):  # conservative laws
                    assert ratio.max() < 1 + 1e-4, (kind, name)


def test_useless_interval_is_idle(tmp_path):
    """An interval as long as the known range is no answer."""
    (tmp_path / "two.csv").write_text("color\nred\nred\n")
    asked = ["--data", str(tmp_path / "two.csv"), *typed("--column color --values red,blue --eps 1")]
    asked += ["--protocols", "grr_blanket,pure_dump,sageo,central_laplace"]
    said = printed("compare", *asked, "--delta", "1e-6")
    assert "Use " not in said
    for row in json.loads(printed("compare", *asked, "--delta", "1e-6", "--json"))["rows"]:
        assert row["status"] != "ok" or (row["idle"] and row["half_width"] <= 1)


@pytest.mark.filterwarnings("ignore:.*the guarantee needs")
def test_unplanned_users_of_batch_are_stated():
    budget = {"eps": 1.0, "delta": 1e-6}
    few = shuffledp.simulate(counts=[60, 30, 10, 0], protocol="correlated_noise", users=10_000, **budget)
    assert (few.planned, few.users, few.guarantee_holds) == (10_000, 100, False)
    text = str(few)
    assert "calibrated for 10,000; the guarantee does not hold for 100" in text
    assert "guarantee exact" not in text
    assert re.search(r"at most \d+ except with a probability of at most 1e-06", text)
    many = shuffledp.simulate(counts=[600, 300, 100, 0], protocol="correlated_noise", users=100, **budget)
    assert (many.planned, many.guarantee_holds) == (100, True)
    assert "calibrated for 100, guarantee upper also for 1,000" in str(many)
    assert "with a probability of at most 1e-05" in str(many)
    for name, holds in (
        ("central_laplace", True),
        ("sageo", True),
        ("grr_blanket", False),
        ("amplified", False),
    ):
        found = shuffledp.simulate(counts=[500, 400], protocol=name, users=1_000, **budget)
        assert (found.planned, found.guarantee_holds) == (1_000, holds), name
    usual = shuffledp.simulate(counts=[500, 500], protocol="grr_blanket", **budget)
    assert "calibrated for" not in str(usual)
    for batch, counts in ((few, [60, 30, 10, 0]), (many, [600, 300, 100, 0])):
        found = errors(batch.protocol, Frequency(4), counts)
        check(found, batch.half_width, batch.simultaneous_half_width, batch.users)


def test_left_out_users_are_told():
    said = ["blue"] * 500 + ["red"] * 400 + ["Blue"] * 300 + [None] * 5
    with pytest.warns(UserWarning, match="305 rows left out"):
        found = shuffledp.simulate(
            np.array(said, object), protocol="pure_dump", values=["blue", "red"], eps=1.0, delta=1e-6
        )
    assert found.users == 900
    assert "305 rows left out" in str(found)


def test_users_without_items_are_omitted(tmp_path):
    """Users of sets without an item of the domain are left out, and a message says so."""
    lines = [
        f"{who},{item}" for who in range(500) for item in (["zoo"] if who % 35 == 0 else ["home", "news"])
    ]
    path = tmp_path / "pages.csv"
    path.write_text("\n".join(["who,page", *lines, ""]))
    sets = {"user": "who", "item": "page", "values": ["home", "news", "shop"], "set_size": 2}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = shuffledp.simulate(path, **sets, protocol="balls_into_bins", eps=1.0, delta=1e-6)
    assert found.users == 485
    told = "15 of 500 users left out, who hold no item of the 3 items."
    assert told in [str(one.message) for one in seen]
    assert told in str(found)
    np.testing.assert_allclose(found.truth, [1.0, 1.0, 0.0])


def test_printed_bounds_are_rounded_up():
    asked = typed("compare --users 7919 --domain-size 13 --eps 1.37 --delta 1e-7")
    names = "pure_dump,mix_dump,grr_blanket,correlated_noise,jump_counts,silent_users,sageo,skellam,local,adaptive"
    asked += ("--protocols", f"{names},central_laplace,central_gaussian,designated_coins,truncation")
    text = printed(*asked)
    answer = json.loads(printed(*asked, "--json"))
    rows = {row["protocol"]: row for row in answer["rows"] if row["status"] == "ok"}
    shown = cells(text)
    assert set(shown) == set(rows) and len(rows) > 10
    for name, row in rows.items():
        local, half, most, spent, slack = (
            shown[name][key] for key in ("local", "±95", "most messages", "spent", "slack")
        )
        assert row["half_width"] <= float(half) <= row["half_width"] * 1.01
        assert local in ("inf", "–") or float(local) >= row["eps_local"]
        assert most == "–" or float(most.lstrip("~")) >= row["most_messages"] * (1 - 1e-12)
        assert spent == "–" or float(spent) >= row["eps_spent"]
        assert slack == "–" or float(slack) <= row["slack"]
    best = answer["recommendation"]
    first = re.search(r"within ±([\d.e-]+) for one value, ±([\d.e-]+)", unwrapped(text))
    assert first
    assert float(first[1]) >= best["half_width"]
    assert float(first[2]) >= best["simultaneous_half_width"]
