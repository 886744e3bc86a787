"""Results of `shuffledp.compare`, against the protocols."""

import inspect
import math
import re

import pandas as pd
import pytest

import shuffledp
from command_line import unwrapped
from shuffledp.accounting import shipped_design
from shuffledp.comparison import table
from shuffledp.populations import Binomial, Fixed, MomentBounded, Poisson
from shuffledp.protocols import available
from shuffledp.tasks import Sets, Summation

SETTING = {"eps": 1.0, "delta": 1e-6}
PLUGIN = """
from dataclasses import dataclass
import numpy as np
from shuffledp.protocols import get
Local = get("frequency", "local")

@dataclass(frozen=True)
class Mine(Local):
    name, label, trust = "mine", "Mine", "local"
    FAULT

    def expected_variance(self, participants):
        return None
"""


@pytest.fixture(scope="module")
def frequencies():
    return shuffledp.compare(2_000, domain_size=6, **SETTING)


def of(rows, name):
    (row,) = (row for row in rows if row.protocol == name)
    return row


@pytest.mark.parametrize(
    "kind, what",
    [
        ("frequency", {"domain_size": 6}),
        ("summation", {"max_value": 5}),
        ("sets", {"domain_size": 12, "set_size": 3}),
        ("vectors", {"dimension": 5}),
        ("vectors", {"dimension": 5, "norm": "l1"}),
    ],
)
def test_built_ins_have_rows_without_failure(frequencies, kind, what):
    rows = frequencies if kind == "frequency" else shuffledp.compare(2_000, **what, **SETTING)
    assert sorted(row.protocol for row in rows) == list(available(kind))
    assert {row.status for row in rows} == ({"ok"} if kind == "sets" else {"ok", "infeasible"})
    for row in rows:
        if row.status == "ok":
            assert row.mse > 0
            assert row.messages_per_user > 0
            assert row.guarantee in {"exact", "upper", "approximate", "unproven"}
            # Without data the half-width is for the worst data, but at most the length of the known range.
            assert row.half_width > min(1.9 * math.sqrt(row.mse), 0.99)
            assert row.simultaneous_half_width >= row.half_width * (1 - 1e-4)
            assert row.eps_spent is None or 0 < row.eps_spent <= 1
        else:
            assert row.reason
            assert row.mse is None


def test_rows_are_grouped_and_sorted(frequencies):
    """Rows are grouped by trust, and sorted by error."""
    good = [row for row in frequencies if row.status == "ok"]
    assert list(frequencies[: len(good)]) == good
    order = ["shuffler", "shuffler_adds", "secure_sum", "central", "local"]
    assert good == sorted(good, key=lambda row: (order.index(row.trust), row.mse))
    assert of(frequencies, "central_laplace").floor_ratio == pytest.approx(1)
    assert all(row.floor_ratio > 0.99 for row in good)


def test_filters_omit_rows_or_explain():
    rows = shuffledp.compare(
        2_000,
        domain_size=6,
        protocols=["all"],
        trust=["local", "shuffler"],
        max_bits=5,
        max_messages=1.5,
        **SETTING,
    )
    assert {row.trust for row in rows} == {"local", "shuffler"}
    assert of(rows, "private_coin").reason == "A user may send more than 5 bits."
    good = [row for row in rows if row.status == "ok"]
    assert good
    assert all(row.most_bits <= 5 and row.most_messages <= 1.5 for row in good)


def test_most_and_mean_have_separate_limits():
    names = ["designated_coins", "pure_dump", "silent_users", "grr_blanket"]

    def admitted(**limits):
        rows = shuffledp.compare(20_000, domain_size=50, protocols=names, **SETTING, **limits)
        return {row.protocol: row for row in rows if row.status == "ok"}

    every = admitted(mean_bits=20)
    assert set(every) == set(names) == set(admitted(mean_messages=2))
    assert [every[name].most_messages for name in ("designated_coins", "pure_dump", "grr_blanket")] == [
        51,
        2,
        1,
    ]
    assert every["designated_coins"].bits_per_user < 20 < every["designated_coins"].most_bits == 51 * 6
    assert (every["pure_dump"].most_certain, every["silent_users"].most_certain) == (True, False)
    assert set(admitted(max_bits=20)) == set(admitted(max_messages=2)) == {"pure_dump", "grr_blanket"}
    assert set(admitted(max_bits=20, mean_bits=6)) == {"grr_blanket"}


def test_plugin_without_most_keeps_no_limit(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from shuffledp.protocols import Cost\n"
        "from shuffledp.protocols.frequency.grr_blanket import GrrBlanket\n\n\n"
        "class Mine(GrrBlanket):\n"
        "    relies_on = 'not stated'\n\n"
        "    def cost(self):\n"
        "        return Cost(1.0, 1.0)\n"
    )
    asked = {"domain_size": 2, "protocols": ["mine.py:Mine"], "root": tmp_path, **SETTING}
    rows = shuffledp.compare(1_000, **asked, mean_messages=1)
    assert (rows[0].status, rows[0].most_messages, rows[0].most_bits, rows[0].most_certain) == (
        "ok",
        *[None] * 3,
    )
    assert "most is not stated for mine.py:Mine." in unwrapped(table(rows))
    assert "Who else must be honest is not stated for mine.py:Mine." in unwrapped(table(rows))
    (refused,) = shuffledp.compare(1_000, **asked, max_messages=5)
    assert (refused.status, refused.reason) == (
        "infeasible",
        "The most messages that a user sends are not stated.",
    )


def test_requested_accounting_is_not_replaced():
    names = ["grr_blanket", "silent_users"]
    printed = shuffledp.compare(20_000, domain_size=6, protocols=names, accounting="printed", **SETTING)
    assert of(printed, "grr_blanket").accounting == "printed"
    assert of(printed, "silent_users").reason == "Has no printed accounting."
    best = shuffledp.compare(2_000, max_value=5, protocols=["split_and_mix"], **SETTING)
    assert best[0].accounting == "printed"  # it has no other


def test_frames_series_and_files_are_counted(tmp_path):
    frame = pd.DataFrame({"v": ["b", "a", "b", "c"] * 500, "x": [0.5, 2.0, 7.0, None] * 500})
    setting = {**SETTING, "protocols": ["grr_blanket"]}
    (wanted,) = shuffledp.compare(counts=[500, 1000, 500], **setting)
    frame.to_csv(tmp_path / "a.csv", index=False)
    for data in (frame, tmp_path / "a.csv"):
        with pytest.warns(UserWarning, match="A domain must be public"):
            assert shuffledp.compare(data=data, column="v", **setting) == (wanted,)
    assert shuffledp.compare(data=frame["v"], values=["a", "b", "c"], **setting) == (wanted,)
    setting = {**SETTING, "protocols": ["central_laplace"]}
    (steps,) = shuffledp.compare(counts=[0, 500, 0, 0, 500, 0, 0, 0, 0, 0, 500], max_value=10, **setting)
    with pytest.warns(UserWarning) as said:
        (units,) = shuffledp.compare(data=frame, column="x", max_value=5, levels=10, **setting)
    assert units == steps.scaled(0.5)
    assert [str(one.message).partition(":")[0] for one in said] == [
        "500 rows left out",
        "500 numbers were clipped to the range.",
    ]


def test_remarks_name_origin_of_noise_design():
    def row(size, eps):
        return shuffledp.compare(9_000, max_value=size, eps=eps, delta=1e-6, protocols=["correlated_sum"])[0]

    best = row(100, 1.0)
    assert best.remark == "a shipped noise design" and best.eps_spent == 1.0
    fewest = shipped_design(10, 1.0, 1e-6, 0.9).design.messages
    paper = row(10, 1.0)  # the paper's atoms; others need fewer messages
    over = paper.parameters["noise_messages"] / fewest
    assert paper.remark.endswith(f", {over:.3g} times the messages of the best shipped one") and over > 1.4
    assert row(10, 0.7).remark.endswith("by the losses of all pairs of inputs")


def test_set_frames_equal_their_counts():
    frame = pd.DataFrame({"s": [[0, 1], [1, 2]] * 500, "t": ["0,1", "1,2"] * 500})
    sets = {"set_size": 2, "domain_size": 3, "protocols": ["balls_into_bins", "subset_local"], **SETTING}
    want = shuffledp.compare(counts=[500, 1000, 500], **sets)
    assert shuffledp.compare(data=frame, column="s", **sets) == want
    assert shuffledp.compare(data=frame, column="t", separator=",", **sets) == want
    with pytest.warns(UserWarning, match="Of 1000 users 0 have more than 3 items"):
        shuffledp.compare(data=frame, column="s", **{**sets, "set_size": 3})


def test_population_bound_has_no_simulation():
    what = {
        "population": MomentBounded(2_000, 100),
        "domain_size": 4,
        "protocols": ["grr_blanket", "central_laplace"],
    }
    rows = shuffledp.compare(**what, **SETTING)
    assert of(rows, "grr_blanket").mse > 0
    assert of(rows, "grr_blanket").floor_ratio is None
    assert "not a law" in of(rows, "central_laplace").reason
    with pytest.raises(ValueError, match="a simulation needs a law"):
        shuffledp.compare(**what, simulate=3, **SETTING)


@pytest.mark.parametrize(
    "what",
    [
        {"domain_size": 50, "protocols": ["pure_dump", "grr_blanket", "sageo"]},
        # If estimates are truncated, errors for drawn shares differ from errors for the given shares.
        {"domain_size": 5, "protocols": ["truncation"], "population": Binomial(999, 0.3)},
        {"domain_size": 4, "protocols": ["pure_dump", "central_laplace"], "population": Poisson(999.0)},
        {"domain_size": 30, "set_size": 4, "protocols": ["balls_into_bins", "subset_shuffled"]},
        {"dimension": 4, "protocols": ["privunit", "central_gaussian"]},
        {"dimension": 4, "norm": "l1", "protocols": ["random_checkin"], "population": Binomial(3_999, 0.5)},
    ],
)
def test_simulation_agrees_with_the_expectation(what):
    users = None if "population" in what else 2_000
    for row in shuffledp.compare(users, simulate=400, seed=5, **what, **SETTING):
        assert (row.status, row.mse_from) == ("ok", "expected")
        assert abs(row.simulated_mse - row.mse) < 4 * row.simulated_standard_error  # about 1e-4 each


def test_long_vector_messages_are_not_simulated():
    (row,) = shuffledp.compare(30_000, dimension=1_000, protocols=["privunit"], simulate=1, **SETTING)
    assert (row.mse_from, row.simulated_mse) == ("expected", None)


def test_interval_covers_95_percent():
    """The 400 x 50 errors are nearly independent; the bound is 4.5 standard deviations of a share, about 1e-5."""
    names = ["pure_dump", "grr_blanket", "skellam", "local", "central_laplace"]
    rows = shuffledp.compare(counts=[600] * 50, protocols=names, simulate=400, seed=5, **SETTING)
    for row in rows:
        # The lattice of central_laplace has few points.
        assert -4.5 * math.sqrt(0.05 * 0.95 / 20_000) < row.simulated_coverage - 0.95 < 0.02, row.protocol
    assert "(central_laplace)" in unwrapped(table(rows))
    assert all(row.simulated_coverage is None for row in shuffledp.compare(99, domain_size=3, **SETTING))


def test_error_needs_law_or_formula(tmp_path):
    (tmp_path / "mine.py").write_text(PLUGIN.replace("FAULT", "pass").replace('"local")', '"grr_blanket")'))
    (row,) = shuffledp.compare(
        population=MomentBounded(90_000, 30),
        domain_size=6,
        protocols=["mine.py:Mine"],
        root=tmp_path,
        **SETTING,
    )
    assert (row.status, row.mse) == ("infeasible", None)
    assert "no closed form" in row.reason


@pytest.mark.parametrize(
    "fault, status, says",
    [
        ("", "ok", ""),
        (
            "@classmethod\n    def calibrate(cls, *args, **options): raise KeyError('lost')",
            "failed",
            "KeyError: 'lost'",
        ),
        (
            "@property\n    def eps_central(self): 1/0\n    def cost(self): return self.eps_central",
            "failed",
            "Zero",
        ),
    ],
)
def test_plugins_and_their_faults_are_rows(tmp_path, fault, status, says):
    (tmp_path / "mine.py").write_text(PLUGIN.replace("FAULT", fault or "pass"))
    rows = shuffledp.compare(
        2_000, domain_size=6, protocols=["local", "mine.py:Mine"], root=tmp_path, **SETTING
    )
    mine = of(rows, "mine.py:Mine")
    assert (mine.status, says in mine.reason) == (status, True)
    if status == "ok":  # no closed form: simulated
        assert mine.mse_from == "simulated"
        assert mine.mse == pytest.approx(of(rows, "local").mse, rel=0.5)
    assert of(rows, "local").status == "ok"


@pytest.mark.parametrize(
    "arguments, says",
    [
        ({}, "Give users, a population, or data"),
        ({"users": 100}, "Give a task"),
        ({"users": 100, "population": Fixed(99), "domain_size": 2}, "not both"),
        ({"users": 100, "domain_size": 3, "max_value": 3}, "not several"),
        ({"users": 100, "task": Sets(10, 2, levels=2)}, "sets of one privacy level"),
        ({"users": 100, "task": Summation(3, coordinates=2)}, "frequencies, one sum"),
        (
            {"counts": [3, 4], "domain_size": 3},
            "counts must have 3 entries, one per value of the task, got 2",
        ),
        ({"users": 100, "set_size": 3}, "needs domain_size"),
        ({"counts": [3, 4, 2], "dimension": 3}, "compared without data"),
        ({"counts": [[3, 4], [1, 2]]}, "one number per value, got shape"),
        ({"counts": [3, 4, 2], "set_size": 2}, "a multiple of set_size"),
        ({"counts": [7, 1, 2], "set_size": 2}, "at most 5, the number of users, got 7 holders"),
        ({"counts": [0.5, 1.5]}, "must be integers"),
        ({"counts": [-1, 5]}, "must not be negative"),
        ({"users": 100, "domain_size": 3, "protocols": ["grr_blankett"]}, "Did you mean 'grr_blanket'"),
        ({"users": 100, "domain_size": 3, "protocols": []}, "at least one"),
        ({"users": 100, "domain_size": 3, "protocols": "local"}, "list of names, as in .'local'."),
        ({"users": 100, "domain_size": 3, "norm": "l1"}, "norm 'l1' is for vectors"),
        ({"users": 100, "max_value": 10**12}, "task must have at most 10,000,000 values"),
        ({"users": 100, "domain_size": 3, "trust": ["me"]}, "trust"),
        ({"users": 100, "domain_size": 3, "accounting": "best"}, "accounting"),
        ({"users": 100, "domain_size": 3, "max_bits": -1}, "max_bits"),
        ({"users": 100, "domain_size": 3, "column": "v"}, "levels and low need data"),
        ({"data": [0, 1], "counts": [1, 1]}, "without counts, task and dimension"),
    ],
)
def test_mistakes_are_named(arguments, says):
    with pytest.raises(ValueError, match=says):
        shuffledp.compare(**arguments, **SETTING)


def test_documentation_describes_all_arguments():
    names = list(inspect.signature(shuffledp.compare).parameters)
    assert names[:3] == ["users", "eps", "delta"]
    assert set(names) <= set(re.findall(r"\w+", shuffledp.compare.__doc__))
    with pytest.raises(TypeError, match=r"^compare\(\): unknown argument 'epsilon'; did you mean eps\?$"):
        shuffledp.compare(3, eps=1, delta=1e-6, epsilon=1)
