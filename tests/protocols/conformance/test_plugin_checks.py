"""Faults that the conformance checks miss are found, and a sound class passes."""

import re
from pathlib import Path

import pytest

from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.conformance import Case, leakage_checks, plugin_checks, privacy_evidence
from shuffledp.protocols.conformance.checks import LEVELS, verdict
from shuffledp.tasks import Budget, Frequency

PLUGINS = Path(__file__).parents[1] / "plugins"
TWO = Case(Budget(1.0, 1e-3), Fixed(59), Frequency(2), "exact", (45, 15))


def planted(name):
    return get("frequency", f"devious.py:{name}", root=PLUGINS)


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
        ("FirstInTheClear", plugin_checks.check_users_apart, TWO, "together send other messages"),
        ("LooksAtOthers", plugin_checks.check_users_apart, TWO, "together send other messages"),
        ("Numbered", plugin_checks.check_users_apart, TWO, "a message reveals its sender"),
        ("OwnDummies", plugin_checks.check_trust, TWO, "dummies.. adds 5 messages"),
        ("Drifting", plugin_checks.check_seeded_crowds, TWO, "different messages for the same seed"),
        ("NoNoise", plugin_checks.check_seeded_crowds, TWO, "the generator is not used"),
        ("SlightlyWrongVariance", plugin_checks.check_close_variance, TWO, "expected: .* too small"),
    ],
)
def test_a_devious_fault_is_caught(name, check, case, message):
    with pytest.raises(AssertionError, match=message):
        check(planted(name), [case])


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
