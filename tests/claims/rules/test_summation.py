"""Claims on summation, on both sides of every threshold."""

from __future__ import annotations

import made_up_results
import pytest
from judged_claims import judged


@pytest.mark.parametrize(
    ("messages", "outcome"),
    [
        (lambda n: 1 + 5e5 / n, "holds"),
        (lambda n: 1 + 5e6 / n, "in part"),
        (lambda n: 4.0, "fails"),
    ],
)
def test_a_single_message_is_fewer_than_one_extra_among_a_million_users(tmp_path, messages, outcome):
    grid = {"n": [10_000_000, 10_000, 1_000_000]}
    made_up_results.write(
        tmp_path,
        "summation.users.correlated_sum",
        grid,
        lambda a, p: 1.0,
        messages=lambda a, p: messages(p["n"]),
    )
    found = judged(tmp_path, "SU-34")["printed", "-"]
    assert found["verdict"] == outcome
    assert found["measured"] == f"{messages(1e6):.3g} messages per user"


def test_without_a_million_users_it_is_untestable(tmp_path):
    made_up_results.write(
        tmp_path, "summation.users.correlated_sum", {"n": [10]}, lambda a, p: 1.0, messages=lambda a, p: 2.0
    )
    found = judged(tmp_path, "SU-34")["printed", "-"]
    assert (found["verdict"], found["measured"]) == ("untestable", "")
    assert "lacks n = 1,000,000" in found["why"]
