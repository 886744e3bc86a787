"""Every protocol passes every check, and every check can fail."""

from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from shuffledp.protocols import conformance, get
from shuffledp.protocols.conformance import checks, plugin_checks, privacy, running
from shuffledp.protocols.conformance.running import calibrated, in_turn, sending, simulated
from small_tasks import BUILT_INS

PLUGINS = Path(__file__).parents[1] / "plugins"
PROTOCOLS = [(*built_in, ()) for built_in in BUILT_INS]
PROTOCOLS += [
    ("frequency", "four_methods.py:Coin", ()),
    ("frequency", "adaptive", (("stray_factor", True),)),
    ("frequency", "adaptive", (("dummies", 70),)),
    ("frequency", "non_adaptive", (("dummies", 25),)),
]
IDS = ["-".join([kind, name, *(key for key, _ in options)]) for kind, name, options in PROTOCOLS]


@cache
def cases_of(kind, name, options):
    protocol = get(kind, name, root=PLUGINS)
    return enough(protocol, conformance.default_cases(protocol, dict(options)))


def parts(case):
    return {case.population, case.task, case.budget}


def enough(protocol, cases):
    """Return few feasible cases that together have every possible population, task, budget and accounting.

    The first of several equal choices is taken, and the accounting changes with every choice. The command
    `make -C tools conformance-seeds` has all cases, and the golden table has all accountings of a setting.
    """
    alike, chosen, seen = {}, [], set()
    for case in cases:
        alike.setdefault(replace(case, accounting=""), []).append(case)
    while new := max(alike, key=lambda case: len(parts(case) - seen), default=None):
        group = alike.pop(new)
        turn = len(chosen) % len(group)
        turned = group[turn:] + group[:turn]
        if parts(new) <= seen:
            break
        found = next((case for case in turned if calibrated(protocol, case) is not None), None)
        if found is not None:
            chosen.append(found)
            seen |= parts(found)
    for accounting in set(protocol.accountings) - {case.accounting for case in chosen}:
        own = (case for case in cases if case.accounting == accounting and calibrated(protocol, case))
        chosen += islice(own, 1)
    return tuple(chosen)


#: Checks that draw thousands of reports from encoders, here only for one case of every protocol.
OF_ENCODERS = (conformance.check_encoder, conformance.check_claim)
#: Checks with fewer draws here.
DRAWING = (*OF_ENCODERS, conformance.check_one_law, conformance.check_trust)


@pytest.mark.parametrize("kind, name, options", PROTOCOLS, ids=IDS)
def test_protocol_conforms(kind, name, options, monkeypatch):
    protocol, every = get(kind, name, root=PLUGINS), cases_of(kind, name, options)
    fewer = {
        running: {"MESSAGE_REPEATS": 200, "MOST_DRAWN": 100_000},
        plugin_checks: {"CALLS": 300},
        privacy: {"REPORTS": 2000, "VIEWS": 1000, "SLOW_MESSAGES": 25_000, "TRIALS": privacy.TRIALS[1:2]},
    }
    for check in conformance.CHECKS:
        cases = every
        if check is conformance.check_privacy:  # other budgets are in the test of profiles of protocols
            cases = tuple({type(case.population): case for case in every}.values())
        if check is conformance.check_one_law:  # a case per task
            cases = tuple({case.task: case for case in every}.values())
        if check in OF_ENCODERS:
            cases = tuple(case for case, _, _ in simulated(protocol, every))[:1]
        with monkeypatch.context() as patch:
            for module in fewer if check in DRAWING else ():
                for draws, number in fewer[module].items():
                    patch.setattr(module, draws, number)
            try:
                check(protocol, cases)
            except AssertionError as error:
                error.add_note(f"{check.__name__} of {kind}.{name}")
                raise


@pytest.mark.parametrize(
    "kind, name",
    [
        *(("frequency", name) for name in ("amplified", "multi_expected", "random_checkin")),
        *(("sets", "subset_local"), ("summation", "bit_sum"), ("vectors", "amplified")),
    ],
)
def test_every_feasible_setting_is_simulated(kind, name):
    protocol = get(kind, name)
    cases = conformance.default_cases(protocol)
    every = [case for case, _, _ in simulated(protocol, cases)]
    turns = [list(in_turn(protocol, cases, simulated, turn)) for turn in range(len(protocol.accountings))]
    for chosen in turns:
        for part in (lambda case: replace(case, accounting=""), lambda case: case.accounting):
            assert set(map(part, chosen)) == set(map(part, every))
    if len({case.accounting for case in every}) < 4:
        assert set().union(*turns) == set(every)


def test_random_checkin_conforms_with_own_coin():
    protocol = get("frequency", "random_checkin")
    cases = enough(protocol, conformance.default_cases(protocol, {"threat": "own_coin"}))
    conformance.check_protocol(protocol, cases)


@pytest.mark.parametrize(
    "name, check, message",
    [
        ("Biased", "check_unbiased", "mean estimate"),
        ("AllButOne", "check_unbiased", "mean estimate"),
        ("DoesNotShuffle", "check_trust", "does not permute"),
        ("WrongMean", "check_one_law", "mean of the fast law"),
        ("WrongSpread", "check_one_law", "variance of the fast law"),
        ("WrongCorrelation", "check_one_law", "fast law"),
        ("WrongShape", "check_one_law", "differ in distribution"),
        ("WrongVariance", "check_variance", "variance, simulated and expected"),
        ("WrongVarianceShape", "check_variance", "has shape"),
        ("LyingCost", "check_cost", "messages per user"),
        ("LyingBits", "check_cost", "do not fit"),
        ("LyingMost", "check_cost", "at most 2.0 as stated"),
        ("LyingDummies", "check_cost", "dummies, added and stated"),
        ("OverClaimed", "check_privacy", "above"),
        ("WritesCounts", "check_inputs_unchanged", "counts changed"),
        ("WritesAggregate", "check_inputs_unchanged", "the aggregate changed"),
        ("OwnGenerator", "check_seeded", "same seed"),
        ("GlobalGenerator", "check_seeded", "global state"),
        ("OrderDependent", "check_permutation_invariant", "order of the messages"),
        ("NotAdditive", "check_additive", "sum over chunks"),
        ("SharedRepeats", "check_repeats_apart", "share memory"),
        ("MixesRepeats", "check_repeats_apart", "alone"),
        ("AcceptsAnything", "check_refusals", "accounting 'no_such' is accepted"),
        ("WeakestLevel", "check_refusals", "two privacy levels is accepted"),
        ("NotHashable", "check_value_object", "not hashable"),
        ("NeverFeasible", "check_unbiased", "no case is feasible"),
    ],
)
def test_a_broken_protocol_is_caught(name, check, message):
    broken = get("frequency", f"broken.py:{name}", root=PLUGINS)
    with pytest.raises(AssertionError, match=message):
        getattr(conformance, check)(broken, conformance.default_cases(broken))


def test_joint_law_may_be_declared_missing(monkeypatch):
    broken = get("frequency", "broken.py:WrongCorrelation", root=PLUGINS)

    class Declared(broken):
        joint_law = False

    cases = tuple(case for case in conformance.default_cases(broken) if case.task.domain_size == 5)[:2]
    monkeypatch.setattr(checks, "CHECKS", (conformance.check_one_law,))
    monkeypatch.setattr(checks, "privacy_evidence", lambda *_: "privacy: not the question")
    verdict, _ = conformance.verdicts(Declared, cases)
    assert verdict.passed
    assert verdict.note.startswith("NOT checked: how numbers depend on each other where joint_law is False, ")
    sampled = [protocol.joint_law for _, protocol, _ in sending(Declared, cases)]
    assert verdict.note.endswith(f"{len(sampled)} of {len(sampled)} cases")


def test_text_as_accountings_is_refused():
    from shuffledp.protocols.registry import _load_file

    broken = _load_file(PLUGINS / "broken.py").BareText
    with pytest.raises(AssertionError, match="tuple of texts"):
        conformance.check_declarations(broken)


def _with_cases(name):
    protocol = get("frequency", name)
    return protocol, conformance.default_cases(protocol)


def test_tasks_without_default_cases_say_so():
    class Ranking(get("frequency", "local")):
        task_kind = "ranking"

    with pytest.raises(ValueError, match="No default cases for 'ranking'"):
        conformance.default_cases(Ranking)


def test_cases_can_bring_their_own_participants():
    """These tasks are not described by users per value."""
    protocol, cases = _with_cases("amplified")
    own = replace(cases[0], participating=cases[0].participants, counts=())
    conformance.check_protocol(protocol, [own])
    assert np.array_equal(own.participants(2).counts, cases[0].participants(2).counts)


def test_baseline_of_the_readme_conforms(tmp_path):
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    code = readme[readme.index("## Add your own baseline") :].split("```python\n")[1].split("```")[0]
    (tmp_path / "half_budget.py").write_text(code)
    found = get("frequency", f"{tmp_path}/half_budget.py:HalfBudget")
    conformance.check_protocol(found, conformance.default_cases(found))
