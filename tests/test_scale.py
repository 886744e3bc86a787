"""A billion users: the memory of every protocol's fast law."""

import json
import os
import subprocess
import sys

import pytest

from scripts_by_file import ROOT, script
from small_tasks import BUILT_INS

scale = script("benchmarks/scale.py")

#: Smaller numbers of users if users are drawn one by one, or if several numbers of dummies are tried.
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
#: Protocols whose exact calibration takes about a second.
PRINTED = {("frequency", "solh"), ("frequency", "flexible_pure_dump"), ("frequency", "flexible_mix_dump")}
#: Numbers of values of protocols with other ones than ten.
VALUES = {("summation", "coarse_correlated_sum"): 3}
#: Program that reads cases and runs each in a fork with only the library, because a fork must have no threads.
RUNNER = """
import importlib, json, os, pkgutil, resource, sys, time
from pathlib import Path
from benchmarks.scale import Case, run
import shuffledp.accounting, shuffledp.protocols

for package in (shuffledp.accounting, shuffledp.protocols):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(found.name)

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))

for line in sys.stdin:
    if os.fork() == 0:
        before, spent = peak(), int(time.process_time()) + 11
        resource.setrlimit(resource.RLIMIT_CPU, (spent, spent + 1))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        try:
            run(Case(*json.loads(line)))
            outcome = "done"
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        print(json.dumps([outcome, peak() - before]), flush=True)
        os._exit(0)
    _, status = os.wait()
    if status:
        print(json.dumps([f"signal {status}", 0]), flush=True)
"""


@pytest.fixture(scope="module")
def alone():
    """Return a function that runs a case and returns its outcome, and the bytes beyond an idle fork."""
    known = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER], env=known, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def run(*case):
            print(json.dumps(case), file=process.stdin, flush=True)
            outcome, memory = json.loads(process.stdout.readline())
            return outcome, memory

        yield run
        process.stdin.close()


@pytest.mark.parametrize("kind, name", BUILT_INS)
def test_billion_users_need_no_array(kind, name, alone):
    users = FEWER_USERS.get((kind, name), 10**9)
    accounting = "printed" if (kind, name) in PRINTED else ""
    outcome, memory = alone(kind, name, users, VALUES.get((kind, name), 10), accounting)
    assert outcome == "done"  # an estimate that is far off raises an error
    assert memory < 200 << 20


@pytest.mark.parametrize(
    "case, most",
    [
        (("frequency", "public_coin", 10**6, 2 * 10**5), 200),  # several arrays of all cells took 253 MiB
        (("sets", "subset_local", 10**5, 100), 60),  # numbers of all users were ranked at once: 161 MiB
    ],
    ids=lambda found: found[1] if isinstance(found, tuple) else "",
)
def test_large_draws_are_split(case, most, alone):
    outcome, memory = alone(*case)
    assert outcome == "done"
    assert memory < most << 20
