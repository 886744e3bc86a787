"""Claims on summation, on both sides of every threshold."""

import json
import math

import pytest
from judged_claims import assert_wrong_is_seen, judged, outcomes

from shuffledp.pipeline.formatters import number
from shuffledp.pipeline.papers.summation import figure_claims as figures, theorem_claims as theory


@pytest.mark.parametrize(
    "messages, outcome",
    [
        (lambda n: 1 + 5e5 / n, "holds"),
        (lambda n: 1 + 5e6 / n, "in part"),
        (lambda n: 4.0, "fails"),
    ],
)
def test_extra_messages_are_below_one(messages, outcome):
    """The claim is judged for a million users, without which it is untestable."""

    def cell(accounting, point):
        common = {"expected": 1.0, "domain_size": 6.0, "eps": 1.0, "delta": 1e-6}
        return common | {"messages_per_user": messages(point["n"])}

    def judged_for(users):
        return judged({"users": ({"n": users}, {"correlated_sum": cell})}, "SU-34")["printed", "-"]

    found, lost = judged_for([10_000_000, 10_000, 1_000_000]), judged_for([10])
    assert found["verdict"] == outcome
    assert found["measured"] == (
        f"{number(messages(1e6))} messages per user (n = 1,000,000, D = 5, eps = 1, delta = 1e-06)"
    )
    assert (lost["verdict"], lost["measured"]) == ("untestable", "")
    assert "there is no n = 1000000" in lost["why"]


@pytest.mark.parametrize(
    "name, wrong, failing",
    [
        ("correlated_noise_delta", lambda right, *a: 0.5, {"SU-12": ["-"], "SU-13": ["printed"]}),
        ("negative_binomial_shift_delta", lambda right, *a: 0.5, {"SU-14": ["printed"]}),
        ("atom_inverse", lambda right, size: 2 * right(size), {"SU-15": ["-"]}),
    ],
)
def test_wrong_theorems_are_seen(name, wrong, failing):
    assert_wrong_is_seen(theory, name, wrong, failing)


SIZES, USERS = (2, 3, 5, 10, 15), (10**4, 10**5, 10**6, 10**7)


def plant(experiment, grid, **methods):
    """Return results of methods whose squared error and bits are functions of the point."""

    def cell(method, accounting, point):
        if figures.SINGLE.get(method, accounting) == accounting:
            error, bits = methods[method]
            sent = bits(point)
            return {"expected": error(point), "messages_per_user": sent / 4, "bits_per_user": sent}
        return None

    return {experiment: (grid, {method: lambda a, p, m=method: cell(m, a, p) for method in methods})}


@pytest.mark.parametrize("ours, outcome", [(1 / 0.9, "holds"), (0.5, "in part")])
def test_errors_of_figure_1a(ours, outcome):
    bits = lambda p: 4.0  # noqa: E731
    planted = plant(
        "sizes",
        {"max_value": SIZES},
        correlated_sum=(lambda p: (ours * p["max_value"]) ** 2, bits),
        split_and_mix=(lambda p: p["max_value"] ** 2, bits),
        central_laplace=(lambda p: p["max_value"] ** 2, bits),
        rappor_centred=(lambda p: 40 * p["max_value"] ** 3, bits),
        rappor_plain=(lambda p: 40 * p["max_value"] ** 4.0, bits),
    )
    expected = {"SU-17": outcome, "SU-18": "holds", "O-20": outcome, "SU-19": "in part"}  # D^2 and not D^1.5
    assert {key: outcomes(planted, key)["printed"] for key in expected} == expected


@pytest.mark.parametrize("noise, outcome", [(2.197e5, "holds"), (2.128e6, "in part")])
def test_bits_of_figure_1b(noise, outcome):
    one = lambda p: 1.0  # noqa: E731
    shares = dict(zip(USERS, (96, 95, 92, 104), strict=True))  # more for ten million users than for fewer
    planted = plant(
        "users",
        {"n": USERS},
        correlated_sum=(one, lambda p: 4 * (1 + noise / p["n"])),
        split_and_mix_figure=(one, lambda p: shares[p["n"]]),
        rappor_plain=(one, lambda p: 4 * (1 + 170 / p["n"])),
    )
    expected = {"SU-25": outcome, "SU-26": "holds", "SU-27": outcome, "SU-29": "in part"}
    expected |= {"SU-21": "holds", "SU-36": "holds"}
    assert {key: outcomes(planted, key)["printed"] for key in expected} == expected


@pytest.mark.parametrize("factor, outcome", [(1.0, "holds"), (2.0, "fails")])
def test_bits_errors_and_budgets_of_coordinates(factor, outcome):
    def bits(accounting, point):
        return {"expected": 1.0, "bits_per_user": point["max_value"] ** (factor - 0.5)}

    def budget(accounting, point):
        return {"expected": 1.0, "parameters": json.dumps({"eps_star": factor * 0.45 * point["eps"]})}

    ratio = math.exp(-0.9 / 2)
    mean = factor * 0.99 * 2 * ratio / (1 - ratio) ** 2
    simulated = {"expected": 1.0, "mean": mean, "standard_error": 0.02 * mean, "count": 2}
    for key, planted, accountings in (
        ("SU-32", {"sizes": ({"max_value": SIZES}, {"correlated_sum": bits})}, ("corrected", "exact")),
        ("SU-08", {"pages": ({"eps": [0.2, 1.0]}, {"sparse_sum": budget})}, ("printed",)),
        ("SU-01", {"sizes": ({"max_value": [2]}, {"correlated_sum": simulated})}, ("exact",)),
    ):
        assert outcomes(planted, key, accountings=accountings) == dict.fromkeys(accountings, outcome)
