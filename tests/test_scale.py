"""A billion users and a million values: the cost of every protocol's fast law, its measurement and its table."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from scripts_by_file import ROOT, script
from shuffledp.protocols import available
from shuffledp.tasks import TASK_KINDS, Summation

scale = script("benchmarks/scale.py")

#: Smaller numbers of users if users are drawn one by one, or if several numbers of dummies are tried;
#: docs/benchmarks.md has the slopes.
FEWER_USERS = {
    ("frequency", "adaptive"): 10**5,
    ("frequency", "non_adaptive"): 10**5,
    ("frequency", "random_checkin"): 10**7,
    ("sets", "subset_local"): 10**5,
    ("sets", "subset_shuffled"): 10**5,
    ("vectors", "adaptive"): 10**5,
    ("vectors", "non_adaptive"): 10**5,
    ("vectors", "privunit"): 10**5,
    ("vectors", "random_checkin"): 10**7,
}
#: Protocols without a noise design for as many levels.
INFEASIBLE: set[tuple[str, str]] = set()
#: Protocols whose exact calibration takes about a second.
PRINTED = {("frequency", "solh"), ("frequency", "flexible_pure_dump"), ("frequency", "flexible_mix_dump")}
#: Program that reads cases and runs each in a copy of its process with only the library, because a copy must have no
#: threads.
RUNNER = """
import json, sys
from scripts_by_file import script
scale = script("benchmarks/scale.py")
for line in sys.stdin:
    found = scale.measured(scale.Case(*json.loads(line)))
    print(json.dumps([found.outcome, found.note, found.memory]), flush=True)
"""
EVERY = [(kind, name) for kind in TASK_KINDS for name in available(kind)]


@pytest.fixture(scope="module")
def alone() -> Iterator[Callable[..., tuple[str, str, int]]]:
    """Return a function that runs a case and returns its outcome, a note, and bytes."""
    known = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER], env=known, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def run(*case: object) -> tuple[str, str, int]:
            print(json.dumps(case), file=process.stdin, flush=True)
            outcome, note, memory = json.loads(process.stdout.readline())
            return outcome, note, memory

        yield run
        process.stdin.close()


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_billion_users_take_no_array_of_users(kind, name, alone):
    users = FEWER_USERS.get((kind, name), 10**9)
    accounting = "printed" if (kind, name) in PRINTED else ""
    values = scale.USUAL.get((kind, name), scale.USUAL_VALUES)
    outcome, note, memory = alone(
        kind, name, users, values, accounting
    )  # refuses an estimate that is far off
    assert outcome == ("infeasible" if (kind, name) in INFEASIBLE else "done"), note
    assert memory < 200 << 20


@pytest.mark.parametrize(
    ("case", "most"),
    [
        (("frequency", "public_coin", 10**6, 2 * 10**5), 200),  # several arrays of all cells took 253 MiB
        (("sets", "subset_local", 10**5, 100), 60),  # numbers of all users were ranked at once: 161 MiB
    ],
    ids=lambda found: found[1] if isinstance(found, tuple) else "",
)
def test_what_is_drawn_together_is_held_some_at_a_time(case, most, alone):
    outcome, note, memory = alone(*case)
    assert outcome == "done", note
    assert memory < most << 20


def test_users_of_a_sum_hold_what_their_counts_say():
    who = scale.participants(Summation(3), 10)
    assert who.counts.tolist() == [[3, 3, 2, 2]]
    assert who.truth.tolist() == [13.0]
    several = scale.participants(Summation(1, coordinates=2), 6)
    assert several.counts.tolist() == [[[2, 2], [1, 1]]]
    assert several.truth.tolist() == [[2.0, 1.0]]
