"""Claims on summation, on both sides of every threshold."""

import json
import math

import made_up_results
import pytest
from judged_claims import judged, outcomes

from shuffledp.pipeline.formatters import number
from shuffledp.pipeline.papers.summation import theorem_claims as theory


@pytest.mark.parametrize(
    "messages, outcome",
    [
        (lambda n: 1 + 5e5 / n, "holds"),
        (lambda n: 1 + 5e6 / n, "in part"),
        (lambda n: 4.0, "fails"),
    ],
)
def test_extra_messages_are_below_one(tmp_path, messages, outcome):
    """The claim is judged for a million users."""
    grid = {"n": [10_000_000, 10_000, 1_000_000]}
    made_up_results.write(
        tmp_path,
        "summation.users.correlated_sum",
        grid,
        lambda a, p: 1.0,
        messages=lambda a, p: messages(p["n"]),
        columns={"domain_size": lambda a, p: 6.0, "eps": lambda a, p: 1.0, "delta": lambda a, p: 1e-6},
    )
    found = judged(tmp_path, "SU-34")["printed", "-"]
    assert found["verdict"] == outcome
    assert found["measured"] == (
        f"{number(messages(1e6))} messages per user (n = 1,000,000, D = 5, eps = 1, delta = 1e-06)"
    )


def test_missing_million_users_is_untestable(tmp_path):
    made_up_results.write(
        tmp_path, "summation.users.correlated_sum", {"n": [10]}, lambda a, p: 1.0, messages=lambda a, p: 2.0
    )
    found = judged(tmp_path, "SU-34")["printed", "-"]
    assert (found["verdict"], found["measured"]) == ("untestable", "")
    assert "there is no n = 1000000" in found["why"]


def test_wrong_theorems_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(theory, "correlated_noise_delta", lambda design, eps: 0.5)
    assert outcomes(tmp_path, "SU-12") == {"-": "fails"}
    assert outcomes(tmp_path, "SU-13") == {"printed": "fails"}
    monkeypatch.setattr(theory, "negative_binomial_shift_delta", lambda *a: 0.5)
    assert outcomes(tmp_path, "SU-14") == {"printed": "fails"}
    right = theory.atom_inverse
    monkeypatch.setattr(theory, "atom_inverse", lambda size: 2 * right(size))
    assert outcomes(tmp_path, "SU-15") == {"-": "fails"}


SIZES, USERS = (2, 3, 5, 10, 15), (10**4, 10**5, 10**6, 10**7)


def plant(folder, experiment, grid, *, accountings, **methods):
    """Write methods whose squared error and bits are functions of the point."""
    for method, (error, bits) in methods.items():
        made_up_results.write(
            folder,
            f"summation.{experiment}.{method}",
            grid,
            lambda a, p, error=error: error(p),
            messages=lambda a, p, bits=bits: bits(p) / 4,
            columns={"bits_per_user": lambda a, p, bits=bits: bits(p)},
            accountings=accountings.get(method, ("printed", "exact")),
        )


ONLY = {"central_laplace": ("exact",), "split_and_mix": ("printed",), "split_and_mix_figure": ("printed",)}


@pytest.mark.parametrize(
    "ours, expected",
    [
        (1 / 0.9, {"SU-17": "holds", "SU-18": "holds", "O-20": "holds"}),
        (0.5, {"SU-17": "in part", "SU-18": "holds", "O-20": "in part"}),
    ],
)
def test_errors_of_figure_1a(tmp_path, ours, expected):
    bits = lambda p: 4.0  # noqa: E731
    plant(
        tmp_path,
        "sizes",
        {"max_value": SIZES},
        accountings=ONLY,
        correlated_sum=(lambda p: (ours * p["max_value"]) ** 2, bits),
        split_and_mix=(lambda p: p["max_value"] ** 2, bits),
        central_laplace=(lambda p: p["max_value"] ** 2, bits),
        rappor_centred=(lambda p: 40 * p["max_value"] ** 3, bits),
        rappor_plain=(lambda p: 40 * p["max_value"] ** 4.0, bits),
    )
    assert {key: outcomes(tmp_path, key)["printed"] for key in expected} == expected
    assert outcomes(tmp_path, "SU-19") == {"printed": "in part"}  # D^2 and not D^1.5


@pytest.mark.parametrize(
    "noise, expected",
    [
        (2.197e5, {"SU-25": "holds", "SU-26": "holds", "SU-27": "holds"}),
        (2.128e6, {"SU-25": "in part", "SU-26": "holds", "SU-27": "in part"}),
    ],
)
def test_bits_of_figure_1b(tmp_path, noise, expected):
    one = lambda p: 1.0  # noqa: E731
    shares = dict(zip(USERS, (96, 95, 92, 104), strict=True))
    plant(
        tmp_path,
        "users",
        {"n": USERS},
        accountings=ONLY,
        correlated_sum=(one, lambda p: 4 * (1 + noise / p["n"])),
        split_and_mix_figure=(one, lambda p: shares[p["n"]]),
        rappor_plain=(one, lambda p: 4 * (1 + 170 / p["n"])),
    )
    assert {key: outcomes(tmp_path, key)["printed"] for key in expected} == expected
    assert outcomes(tmp_path, "SU-36") == outcomes(tmp_path, "SU-21") == {"printed": "holds"}
    assert outcomes(tmp_path, "SU-29") == {
        "printed": "in part"
    }  # 26 shares for ten million users, 23 for fewer


def test_bits_grow_with_largest_value(tmp_path):
    for grows, outcome in ((0.5, "holds"), (1.5, "fails")):
        made_up_results.write(
            tmp_path,
            "summation.sizes.correlated_sum",
            {"max_value": SIZES},
            lambda a, p: 1.0,
            columns={"bits_per_user": lambda a, p, grows=grows: float(p["max_value"]) ** grows},
            accountings=("corrected", "exact"),
        )
        assert outcomes(tmp_path, "SU-32") == {"corrected": outcome, "exact": outcome}


@pytest.mark.parametrize("factor, outcome", [(1.0, "holds"), (2.0, "fails")])
def test_simulated_errors_and_budgets_of_coordinates(tmp_path, monkeypatch, factor, outcome):
    made_up_results.write(
        tmp_path,
        "summation.pages.sparse_sum",
        {"eps": [0.2, 1.0]},
        lambda a, p: 1.0,
        columns={"parameters": lambda a, p: json.dumps({"eps_star": factor * 0.45 * p["eps"]})},
        accountings=("printed",),
    )
    assert outcomes(tmp_path, "SU-08") == {"printed": outcome}
    ratio = math.exp(-0.9 / 2)
    made_up_results.write(
        tmp_path,
        "summation.sizes.correlated_sum",
        {"max_value": [2]},
        lambda a, p: 1.0,
        simulated=(factor * v * 2 * ratio / (1 - ratio) ** 2 for v in (0.97, 1.01)),
        accountings=("exact",),
    )
    assert outcomes(tmp_path, "SU-01") == {"exact": outcome}
