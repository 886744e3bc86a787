"""Leaks and faults that the conformance checks miss are found, and the checks report what they compared."""

import re
from pathlib import Path

import pytest

from shuffledp.populations import Fixed
from shuffledp.protocols import get, scaffold
from shuffledp.protocols.conformance import (
    Case,
    default_cases,
    leakage_checks,
    plugin_checks,
    privacy_evidence,
)
from shuffledp.protocols.conformance.checks import LEVELS, verdict
from shuffledp.protocols.registry import plugin
from shuffledp.tasks import Budget, Frequency, Summation, Vectors

PLUGINS = Path(__file__).parents[1] / "plugins"
TWO = Case(Budget(1.0, 1e-3), Fixed(59), Frequency(2), "exact", (45, 15))
TIGHT = Case(Budget(0.05, 1e-6), Fixed(59), Frequency(2), "exact", (45, 15))
TWELVE = Case(Budget(1.0, 1e-3), Fixed(59), Frequency(12), "exact", (20, 20, *[2] * 10))


def planted(name):
    return get("frequency", f"devious.py:{name}", root=PLUGINS)


@pytest.fixture
def sums(tmp_path):
    """Return a class that is infeasible for several sums at once, the largest default task."""
    (tmp_path / "mine.py").write_text(scaffold.class_source("summation", "mine"))
    return plugin(f"{tmp_path / 'mine.py'}:Mine")


@pytest.fixture(autouse=True)
def fewer(monkeypatch):
    """Reduce the draws to a number that suffices for the planted faults."""
    monkeypatch.setattr(leakage_checks, "REPORTS", 100_000)
    monkeypatch.setattr(leakage_checks, "VIEWED", 400)
    monkeypatch.setattr(plugin_checks, "CALLS", 300)
    monkeypatch.setattr(plugin_checks, "ERRORS", {True: 60_000, False: 2_000})


@pytest.mark.parametrize(
    "name, check, case, message",
    [
        (
            "ClearValue",
            leakage_checks.check_rare_reports,
            TWELVE,
            "encoder's messages for .* differ by at least",
        ),
        ("ClearSometimes", leakage_checks.check_rare_reports, TIGHT, "encoder's messages for 0 and 1 differ"),
        ("ClearPair", leakage_checks.check_seen, TWELVE, "user 1 with 0 or 3: delta is at least"),
        ("TwiceForMany", leakage_checks.check_seen, TWO, "Fixed.others=199.*delta is at least"),
        ("NoiseShares", leakage_checks.check_seen, TWO, "the messages that the shuffler passes on"),
        ("TwoMessagesLocally", leakage_checks.check_seen, TWO, "all messages of a user"),
        ("FirstInTheClear", plugin_checks.check_users_apart, TWO, "together send other messages"),
        ("LooksAtOthers", plugin_checks.check_users_apart, TWO, "together send other messages"),
        ("Numbered", plugin_checks.check_users_apart, TWO, "a message reveals its sender"),
        ("OwnDummies", plugin_checks.check_trust, TWO, "dummies.. adds 5 messages"),
        ("Drifting", plugin_checks.check_seeded_crowds, TWO, "different messages for the same seed"),
        ("NoNoise", plugin_checks.check_seeded_crowds, TWO, "the generator is not used"),
        ("SlightlyWrongVariance", plugin_checks.check_close_variance, TWO, "expected: .* too small"),
    ],
)
def test_a_fault_is_caught(name, check, case, message):
    with pytest.raises(AssertionError, match=message):
        check(planted(name), [case])


def test_doubted_claim_is_not_called_checked():
    ((checked, what),) = leakage_checks.check_seen(planted("Doubted"), [TWO])
    assert not checked
    assert "the claim is not labeled exact or upper" in what


def test_largest_feasible_task_is_compared(sums, monkeypatch):
    monkeypatch.setattr(leakage_checks, "REPORTS", 2_000)
    cases = (*default_cases(sums), *leakage_checks.further_cases(sums))
    notes = leakage_checks.check_rare_reports(sums, cases)
    assert any(checked and what.startswith("the encoder with 12 inputs") for checked, what in notes)


@pytest.mark.parametrize("task", [Frequency(30), Summation(40, signed=True), Summation(2), Vectors(9, 2.0)])
def test_inputs_differ_and_are_all_compared(task):
    held = leakage_checks.more_inputs(task)
    assert len({row.tobytes() for row in held}) == len(held) <= leakage_checks.MOST_INPUTS
    compared = {i for pair in leakage_checks.neighbours(len(held)) for i in pair}
    assert compared == set(range(len(held)))


@pytest.mark.parametrize("kind", ["frequency", "summation", "sets", "vectors"])
def test_further_cases_can_be_run(kind):
    protocol = get(kind, {"sets": "subset_local", "summation": "skellam"}.get(kind, "local"))
    cases = leakage_checks.further_cases(protocol)
    assert {case.accounting for case in cases} == set(protocol.accountings)
    for case in cases:
        assert case.participants(1).public.n_users[0] == 1 + case.population.mean


@pytest.mark.parametrize("smallest, caught", [("min", False), ("max", True)])
def test_strict_level_keeps_its_budget(tmp_path, smallest, caught):
    text = scaffold.class_source("sets", "mine").replace("min(request.budget", f"{smallest}(request.budget")
    (tmp_path / "mine.py").write_text(text)
    found = plugin(f"{tmp_path / 'mine.py'}:Mine")
    cases = leakage_checks.further_cases(found)[-1:]
    if not caught:
        assert leakage_checks.check_levels(found, cases) == [(True, "two privacy levels")]
        return
    with pytest.raises(AssertionError, match=r"privacy level 0, delta is at least .* eps = 0\.5"):
        leakage_checks.check_levels(found, cases)


def test_sound_class_passes_with_evidence():
    sound = planted("Sound")
    by, _, missing = str(privacy_evidence(sound, [TWO], "close")).partition(" / NOT checked: ")
    assert by.startswith("privacy: checked by the encoder against the declared eps_local; delta end to end")
    assert "; the encoder with 2 inputs" in by
    assert "delta end to end with 200 users" in by
    assert missing.startswith("a privacy profile (none); more than 200 users")
    for check, level in LEVELS.items():
        if level == "close":
            assert verdict(check, sound, (TWO,)).passed, check
    assert "% too large would pass" in verdict(plugin_checks.check_close_variance, sound, (TWO,)).note


def test_error_in_check_names_the_file():
    file = str(PLUGINS / "devious.py")
    found = verdict(plugin_checks.check_users_apart, planted("Unable"), (TWO,), file)
    assert not found.passed
    assert re.search(r"devious\.py, line \d+, in encode: KeyError: 'no such'", found.note)


def test_room_for_many_messages_is_stated():
    assert "whether fewer than 30 bits would do" in plugin_checks.check_bits(planted("ManyBits"), [TWO])
    assert plugin_checks.check_bits(planted("Sound"), [TWO]) == ""
