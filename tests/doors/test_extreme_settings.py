"""Extreme settings: every protocol has a number or a reason, and every profile is a number at every eps."""

import json
import math
import re

import numpy as np
import pytest

from command_line import invoked
from shuffledp import accountant, accounting as a
from shuffledp.accounting import Infeasible
from shuffledp.populations import Empirical, Fixed
from shuffledp.protocols import available, conformance, get
from shuffledp.tasks import TASK_KINDS, Budget, Sets

EPS = [0.0, 1e-12, 0.5, 5.0, 300.0, 699.0, 709.0, 710.0, 745.0, 746.0, 1e3, 1e4]
PROTOCOLS = [(kind, name) for kind in TASK_KINDS for name in available(kind)]
#: Profiles that take minutes at unusual eps.
SLOW = {"jump_counts", "coarse_correlated_sum"}
#: Messages that Python or NumPy writes by itself.
BARE = re.compile(
    r"math (domain|range) error|unpack|cannot convert|overflow|division|zero-size|broadcast", re.IGNORECASE
)


@pytest.mark.parametrize("kind, name", [(k, n) for k, n in PROTOCOLS if n not in SLOW])
def test_profile_is_defined_at_every_eps(kind, name):
    protocol = get(kind, name)
    case = next(iter(conformance.default_cases(protocol, {})))
    budgets = [case.budget]
    if isinstance(case.budget.eps, float):
        budgets.append(Budget(800.0, case.budget.delta))
    for budget in budgets:
        try:
            planned = protocol.calibrate(budget, case.population, case.task, accounting=case.accounting)
        except Infeasible:
            continue
        profile = planned.privacy_profile()
        if profile is not None:
            deltas = np.asarray(profile.delta(EPS))
            assert np.all((deltas >= 0) & (deltas <= 1)), (budget, deltas)


@pytest.mark.parametrize(
    "words, least",
    [
        ("--users 1000000000000 --domain-size 20 --eps 1 --delta 1e-6 --protocols hashed_balls_into_bins", 0),
        ("--users 1000 --domain-size 20 --eps 1 --delta 0.999999999 --protocols solh,sageo,amplified", 2),
        (
            "--users 1000000 --domain-size 3 --eps 0.1 --delta 0.999999999999 --protocols fake_users,unary_rows",
            1,
        ),
        ("--users 1000 --domain-size 5 --eps 1000 --delta 1e-300 --protocols fake_users,central_gaussian", 0),
    ],
)
def test_no_protocol_fails(words, least):
    result = invoked(f"compare {words}", "--json")
    rows = json.loads(result.stdout)["rows"]
    assert {row["status"] for row in rows} <= {"ok", "infeasible"}, rows
    assert all(row["reason"] and not BARE.search(row["reason"]) for row in rows if row["status"] != "ok")
    assert sum(row["status"] == "ok" for row in rows) >= least


PAIR = a.CountPair(np.log([0.5, 0.5]), np.log([0.4, 0.6]))


def segmented(first_round):
    """Calibrate the protocol for sets with a first round."""
    return get("sets", "segmented").calibrate(
        Budget(1.0, 1e-6), Fixed(999), Sets(10, 2), first_round=first_round
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: PAIR.delta(-1.0), "eps must be a finite number >= 0, got -1.0"),
        (lambda: PAIR.delta([0.5, -0.25]), "eps must be a finite number >= 0, got -0.25"),
        (lambda: Empirical.of("ten"), "counts must be a sequence, got 'ten'"),
        (lambda: Empirical.of([0, 10**15]), "counts must be an integer in"),
        (lambda: segmented(3), "first_round must be a mapping, got 3"),
        (lambda: segmented({"protocol": "local", "eps": "a", "delta": 1e-9}), "first_round: eps must be"),
        (lambda: segmented({"eps": 0.1}), "first_round needs the keys protocol, eps and delta"),
    ],
)
def test_bad_argument_is_named_with_range(call, message):
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        call()
    assert not BARE.search(str(caught.value))


def test_no_message_of_python_escapes():
    """Arguments in range that no float can evaluate are refused by the call, in one line."""
    for call in (
        lambda: accountant.budget(1e308, 1000, 1e-6),
        lambda: a.checkin_generic_epsilon(10**6, 1e-300, 1e-300, 10**6, 1e-6),
        lambda: a.composed_epsilon([a.GaussianProfile(1e300)], 1e-6, rounds=[10**6]),
    ):
        try:
            value = call()
            assert not np.any(np.isnan(np.asarray(value, float)))
        except ValueError as error:
            assert "\n" not in str(error) and not BARE.search(str(error))
        except TypeError:
            pass
    assert math.isfinite(a.composed_epsilon([a.GaussianProfile(1e-9)], 1e-6, rounds=[10**6]))
