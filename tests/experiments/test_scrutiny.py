"""Faults that the conformance checks do not see are found, a sound class is not, and what was looked at is said."""

import re
from pathlib import Path

import pytest

from shuffledp.experiments import scaffold, scrutiny
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.conformance import Case, Verdict, default_cases
from shuffledp.protocols.registry import plugin
from shuffledp.tasks import Budget, Frequency, Summation, Vectors

PLUGINS = Path(__file__).parents[1] / "protocols" / "plugins"
CONFORMS = Verdict(
    "privacy", True, "checked by the conformance checks / NOT checked: a privacy profile (none)"
)
TWO = Case(Budget(1.0, 1e-3), Fixed(59), Frequency(2), "exact", (45, 15))
TIGHT = Case(Budget(0.05, 1e-6), Fixed(59), Frequency(2), "exact", (45, 15))
LOOSE = Case(Budget(6.0, 1e-2), Fixed(59), Frequency(2), "exact", (45, 15))
TWELVE = Case(Budget(1.0, 1e-3), Fixed(59), Frequency(12), "exact", (20, 20, *[2] * 10))


@pytest.fixture
def sums(tmp_path):
    """A class that is infeasible for several sums at once, the largest of the default tasks."""
    (tmp_path / "mine.py").write_text(scaffold.class_source("summation", "mine"))
    return plugin(f"{tmp_path / 'mine.py'}:Mine")


def planted(name):
    return get("frequency", f"devious.py:{name}", root=PLUGINS)


@pytest.fixture(autouse=True)
def fewer(monkeypatch):
    """Enough draws for what is planted here."""
    monkeypatch.setattr(scrutiny, "REPORTS", 100_000)
    monkeypatch.setattr(scrutiny, "VIEWED", 400)
    monkeypatch.setattr(scrutiny, "CALLS", 300)
    monkeypatch.setattr(scrutiny, "ERRORS", {True: 60_000, False: 2_000})


@pytest.mark.parametrize(
    ("name", "check", "case", "message"),
    [
        ("ClearValue", scrutiny.check_rare_reports, TWELVE, "encoder's messages for .* differ by at least"),
        ("ClearSometimes", scrutiny.check_rare_reports, TIGHT, "encoder's messages for 0 and 1 differ"),
        ("ClearPair", scrutiny.check_seen, TWELVE, "user 1 with 0 or 3: delta is at least"),
        ("TwiceForMany", scrutiny.check_seen, TWO, "Fixed.others=199.*delta is at least"),
        ("NoiseShares", scrutiny.check_seen, TWO, "the messages that the shuffler passes on"),
        ("TwoMessagesLocally", scrutiny.check_seen, TWO, "all messages of a user"),
        ("FirstInTheClear", scrutiny.check_users_apart, TWO, "together send something else"),
        ("LooksAtOthers", scrutiny.check_users_apart, TWO, "together send something else"),
        ("Numbered", scrutiny.check_users_apart, TWO, "a message tells who sent it"),
        ("OwnDummies", scrutiny.check_trust, TWO, "dummies.. adds 5 messages"),
        ("NoPermutation", scrutiny.check_trust, LOOSE, "does not permute"),
        ("Drifting", scrutiny.check_seeded_crowds, TWO, "different messages for the same seed"),
        ("NoNoise", scrutiny.check_seeded_crowds, TWO, "the generator is not used"),
        ("SlightlyWrongVariance", scrutiny.check_close_variance, TWO, "expected: .* too small"),
    ],
)
def test_a_devious_fault_is_caught(name, check, case, message):
    with pytest.raises(AssertionError, match=message):
        check(planted(name), [case])


def test_a_sound_class_passes_and_what_was_looked_at_is_said():
    verdicts = {v.about: v for v in scrutiny.closer_verdicts(planted("Sound"), [TWO], CONFORMS)}
    assert [v for v in verdicts.values() if not v.passed] == []
    by, _, missing = verdicts["privacy"].note.partition(" / NOT checked: ")
    assert by.startswith("checked by the conformance checks; the encoder with 2 inputs")
    assert "delta end to end with 200 users" in by
    assert missing.startswith("a privacy profile (none); more than 200 users")
    assert "% too large would pass" in verdicts["close variance"].note


def test_a_claim_that_is_doubted_is_not_called_checked():
    by, missing = scrutiny.check_seen(planted("Doubted"), [TWO])
    assert by == ()
    assert "labeled as no sound claim" in missing[0]


def test_an_error_in_a_check_is_no_crash_and_names_the_file():
    file = str(PLUGINS / "devious.py")
    *_, privacy = scrutiny.closer_verdicts(planted("Unable"), [TWO], CONFORMS, file)
    assert not privacy.passed
    assert re.search(r"devious\.py, line \d+, in encode: KeyError: 'no such'", privacy.note)


def test_room_for_far_more_messages_is_said():
    assert "whether fewer than 30 bits would do" in scrutiny.check_bits_used(planted("ManyBits"), [TWO])
    assert scrutiny.check_bits_used(planted("Sound"), [TWO]) == ""


def test_what_conformance_rejected_stays_rejected():
    rejected = Verdict("privacy", False, "too large")
    *_, privacy = scrutiny.closer_verdicts(get("frequency", "local"), (), rejected)
    assert privacy is rejected


@pytest.mark.parametrize("task", [Frequency(30), Summation(40, signed=True), Summation(2), Vectors(9, 2.0)])
def test_inputs_are_different_and_each_is_compared(task):
    held = scrutiny.more_inputs(task)
    assert len({row.tobytes() for row in held}) == len(held) <= scrutiny.MOST_INPUTS
    compared = {id(row) for pair in scrutiny.neighbours(held) for row in pair}
    assert compared == {id(row) for row in held}


@pytest.mark.parametrize("kind", ["frequency", "summation", "sets", "vectors"])
def test_further_cases_can_be_run(kind):
    protocol = get(kind, {"sets": "subset_local", "summation": "skellam"}.get(kind, "local"))
    cases = scrutiny.further_cases(protocol)
    assert {case.accounting for case in cases} == set(protocol.accountings)
    for case in cases:
        assert case.participants(1).public.n_users[0] == 1 + case.population.mean


def test_the_largest_task_that_is_feasible_is_compared(sums, monkeypatch):
    monkeypatch.setattr(scrutiny, "REPORTS", 2_000)
    by = scrutiny.check_rare_reports(sums, (*default_cases(sums), *scrutiny.further_cases(sums)))
    assert any(text.startswith("the encoder with 12 inputs") for text in by)
