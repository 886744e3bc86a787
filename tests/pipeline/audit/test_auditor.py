"""Random calibrations of every protocol against enumeration, and planted faults that the audit must find."""

import ast
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from shuffledp.accounting import Infeasible
from shuffledp.pipeline import audit
from shuffledp.pipeline.audit import FINDINGS, AuditSetting, audited, true_delta, view_of
from shuffledp.pipeline.audit.auditor import (
    AS_LABELED,
    EXCEEDS,
    FAILED,
    GROUP,
    HOLDS,
    INFEASIBLE,
    NOT_ENUMERATED,
)
from shuffledp.pipeline.audit.finite_laws import Bounds
from shuffledp.pipeline.audit.message_tests import _same, messages_fit
from shuffledp.pipeline.audit.random_settings import option_names, protocols, random_setting
from shuffledp.populations import Fixed
from shuffledp.protocols import Messages, get
from shuffledp.protocols.frequency.amplified import Amplified
from shuffledp.protocols.frequency.non_adaptive import NonAdaptive
from shuffledp.protocols.frequency.pure_dump import PureDump
from shuffledp.tasks import TASK_KINDS, Budget, Frequency, Sets, Summation

PROTOCOLS = protocols()
IDS = [f"{p.task_kind}-{p.name}" for p in PROTOCOLS]
#: Per protocol: calibrations of the sample, draws until a setting is enumerated, and runs of its messages.
SAMPLE, DRAWS, RUNS = 2, 60, 300
VIEWS_OF = {kind: "set_views.py" if kind == "sets" else f"{kind}.py" for kind in TASK_KINDS}
#: First sampled setting of protocols whose earlier settings have hundreds of pairs of data sets, or large laws.
FIRST = {
    "real_sum": 3,
    "sparse_sum": 14,
    "separate": 2,
    "mix_dump": 6,
    "coarse_correlated_sum": 10,
    "random_checkin": 4,
}


#: Level of a test that rejects a right law once in ten thousand times.
LEVEL = 5e-5


def fits(found):
    return found.counts >= LEVEL and found.order >= LEVEL


def checked(setting, rng, runs):
    """Return the test of a setting's messages against its view; None for an infeasible setting."""
    try:
        return messages_fit(setting, runs, rng)
    except Infeasible:
        return None


def test_letter_samples_have_chi_square_test():
    counts = np.array([[30, 20, 50], [20, 40, 35]])
    samples = (np.repeat(np.arange(3), row) for row in counts)
    assert _same(*samples) == pytest.approx(chi2_contingency(counts).pvalue, rel=1e-9)


def drawn(protocol, number):
    """Return the setting with this number for a protocol; numbers of different protocols are independent."""
    place = IDS.index(f"{protocol.task_kind}-{protocol.name}")
    number += FIRST.get(protocol.name, 0)
    return random_setting(protocol, np.random.default_rng([20, place, number]))


@cache
def sample(protocol):
    """Return the outcomes of a protocol's first settings."""
    return [audited(drawn(protocol, number)) for number in range(SAMPLE)]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=IDS)
def test_no_sound_claim_is_exceeded(protocol):
    rows = sample(protocol)
    findings = [
        f"{row.status} {row.found} ({row.label}): {row.note}\n{row.setting}"
        for row in rows
        if row.status in FINDINGS
    ]
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=IDS)
def test_messages_follow_the_audited_law(protocol):
    """Two of 10,000 runs of one protocol fail by chance; the seed is fixed."""
    place = IDS.index(f"{protocol.task_kind}-{protocol.name}")
    if any("not written down" in row.note for row in sample(protocol)):
        pytest.fail(
            f"Write the messages of {protocol.name} into {VIEWS_OF[protocol.task_kind]} of "
            "src/shuffledp/pipeline/audit, as a function that returns a View and is named in VIEWS."
        )
    for number in range(4 * DRAWS):
        setting = drawn(protocol, number)
        found = checked(setting, np.random.default_rng([21, place, number]), RUNS)
        if found is not None:
            assert fits(found), f"{found}\n{setting}"
            return
    pytest.fail(f"none of {4 * DRAWS} calibrations could be compared")


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=IDS)
def test_no_profile_is_below_the_truth(protocol):
    """The privacy profile, if any, bounds delta also at other eps than the claimed eps.

    One setting suffices: the sample above covers delta at the claimed eps, which the same enumeration gives.
    """
    for row in sample(protocol):
        setting = row.setting
        if row.status not in (HOLDS, AS_LABELED, EXCEEDS) or len(setting.budget.levels) > 1:
            continue
        calibrated = setting.calibrated()
        pair = calibrated.privacy_profile()
        if pair is None:
            continue
        for part in (0.4, 1.6):
            eps = part * setting.budget.largest_eps
            found = true_delta(view_of(calibrated, Budget(eps, 0.5)), setting.population)[0][1].bounds.low
            assert found <= float(pair.delta(np.array([eps]))[0]) * (1 + 1e-9) + 1e-12, (part, setting)
        return


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=IDS)
def test_all_options_and_accountings_are_drawn(protocol):
    settings = [drawn(protocol, number) for number in range(5 * DRAWS)]
    assert {s.accounting for s in settings} == set(protocol.accountings)
    given = {name for s in settings for name, _ in s.options}
    assert given == set(option_names(protocol))


def test_row_has_level_of_largest_delta(monkeypatch):
    setting = AuditSetting(get("frequency", "pure_dump"), "exact", BITS, CROWD, BUDGET, ())
    ((_, worst),) = true_delta(view_of(setting.calibrated(), BUDGET), CROWD)
    levels = [(0.5, replace(worst, bounds=Bounds(0.5, 0.6))), (1.0, worst)]
    monkeypatch.setattr("shuffledp.pipeline.audit.auditor.true_delta", lambda view, law: levels)
    row = audited(setting)
    assert (row.status, row.eps, row.found, row.delta) == (EXCEEDS, 0.5, 0.5, BUDGET.delta)


def test_audit_uses_parameters_without_bounds():
    """The audit uses parameters of the accounting, and none of its bounds."""
    allowed = {"Infeasible", "SegmentedPlan", "atom_messages"}
    used = set()
    for path in Path(audit.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shuffledp.accounting"):
                used |= {alias.name for alias in node.names}
            assert not (isinstance(node, ast.Attribute) and node.attr == "privacy_profile")
    assert used <= allowed


@pytest.mark.parametrize(
    "setting, least",
    [
        (("summation", "real_sum", "exact", Summation(2, real=True), Fixed(3), {"levels": 2}), 0.999),
        (("sets", "subset_shuffled", "corrected", Sets(2, 1), Fixed(4), {}), 0.999),
        (("sets", "balls_into_bins", "exact", Sets(3, 1), Fixed(4), {}), 0.999),
        (("frequency", "pure_dump", "exact", Frequency(3), Fixed(4), {}), 0.9),
        (("frequency", "private_coin", "exact", Frequency(2), Fixed(2), {"entries": 2}), 0.8),
        (("frequency", "balls_into_bins", "exact", Frequency(2), Fixed(300), {}), 0.999),
        (("frequency", "correlated_noise", "exact", Frequency(2), Fixed(2), {}), 0.999),
        (("frequency", "one_sided_noise", "exact", Frequency(2), Fixed(2), {}), 0.999),
        (("frequency", "silent_users", "exact", Frequency(3), Fixed(2), {"report_rate": 0.6}), 0.999),
        (("frequency", "sbin", "exact", Frequency(3), Fixed(2), {"beta": 0.7}), 0.8),
        (("frequency", "sageo", "exact", Frequency(3), Fixed(2), {"beta": 0.9}), 0.5),
        (("frequency", "grr_blanket", "exact", Frequency(2), Fixed(12), {}), 0.05),
    ],
)
def test_tight_claims_have_true_deltas(setting, least):
    """An audit that found too little would accept everything."""
    kind, name, accounting, task, population, options = setting
    row = audited(
        AuditSetting(get(kind, name), accounting, task, population, Budget(1.0, 0.03), tuple(options.items()))
    )
    assert row.status == HOLDS
    assert least <= row.ratio <= 1 + 1e-9


# -- planted bugs --------------------------------------------------------------------------------------------------

BITS, CROWD, BUDGET = Frequency(2), Fixed(9), Budget(0.8, 0.02)


class SendsHalf(PureDump):
    """Correct calibration, but the clients send half of the dummies."""

    def dummies_sent(self, users, rng):
        return super().dummies_sent(users, rng) // 2


class TooTruthful(Amplified):
    """Local budget of 1.5 times the permitted one."""

    @classmethod
    def calibrate(cls, *args, **options):
        right = super().calibrate(*args, **options)
        return replace(right, eps_local=1.5 * right.eps_local)


class AnswersTooTruthfully(Amplified):
    """Correct calibration, but the clients use 1.5 times the budget."""

    def encode(self, users, rng):
        return Amplified.encode(
            Amplified(self.population, self.domain_size, 1.5 * self.eps_local), users, rng
        )


class DoesNotShuffle(Amplified):
    """Messages in the order of the users."""

    def shuffle(self, messages, public, rng):
        return messages


class DummiesAtTheEnd(NonAdaptive):
    """Shuffler that permutes only the users' messages."""

    def shuffle(self, messages, public, rng):
        mixed = Messages(rng.permutation(messages.payload))
        return Messages.joined(mixed, self.dummies(public, rng))


class ForgetsOneDummy(NonAdaptive):
    """Server that adds one dummy fewer than calibrated."""

    def dummies_added(self, n_users):
        return super().dummies_added(n_users) - 1


class Breaks(Amplified):
    """Protocol with an error that is not Infeasible."""

    @classmethod
    def calibrate(cls, *args, **options):
        raise ZeroDivisionError("planted")


def of(protocol, **options):
    return AuditSetting(protocol, "exact", BITS, CROWD, BUDGET, tuple(options.items()))


@pytest.mark.parametrize(
    "protocol, options",
    [
        (SendsHalf, {}),
        (AnswersTooTruthfully, {}),
        (DoesNotShuffle, {}),
        (DummiesAtTheEnd, {"dummies": 4}),
        (ForgetsOneDummy, {"dummies": 4}),
    ],
)
def test_wrong_messages_are_found(protocol, options):
    assert audited(of(protocol, **options)).status == HOLDS  # the parameters are right
    wrong = checked(of(protocol, **options), np.random.default_rng(22), 3000)
    assert wrong is not None
    assert not fits(wrong), wrong
    right = checked(of(protocol.__mro__[1], **options), np.random.default_rng(22), 3000)
    assert right is not None
    assert fits(right)


def test_errors_are_findings_unlike_refusals():
    broken = audited(of(Breaks))
    assert broken.status == FAILED
    assert "planted" in broken.note
    refused = audited(AuditSetting(PureDump, "exact", BITS, CROWD, Budget(1.0, 0.0)))
    assert refused.status == INFEASIBLE
    assert FAILED in FINDINGS
    assert EXCEEDS in FINDINGS


@pytest.mark.parametrize("label", ["approximate", "unproven", "violated"])
def test_an_excess_may_be_labeled(label):
    labeled = type("Labeled", (TooTruthful,), {"guarantee": label})
    assert audited(of(labeled)).status == AS_LABELED


def test_too_large_laws_are_reported():
    row = audited(AuditSetting(PureDump, "exact", Frequency(4), CROWD, Budget(0.001, 1e-9)))
    assert row.status == NOT_ENUMERATED
    assert "outcomes" in row.note


def test_large_laws_are_not_kept(monkeypatch):
    """Large laws are computed again, and only equal inputs of other users are tried."""
    protocol = get("frequency", "grr_blanket").calibrate(BUDGET, Fixed(4), Frequency(3))
    whole = view_of(protocol, BUDGET)
    law = whole.law((0, 1, 1, 2))
    assert set(whole.crowds(4)) > {(0, 0, 0)}
    monkeypatch.setattr("shuffledp.pipeline.audit.views._KEPT", 0)
    monkeypatch.setattr("shuffledp.pipeline.audit.views._WORK", 0)
    small = view_of(protocol, BUDGET)
    assert small.crowds(4) == ((0, 0, 0), (1, 1, 1), (2, 2, 2))
    np.testing.assert_array_equal(small.law((0, 1, 1, 2)).mass, law.mass)


def test_every_design_has_a_registered_view():
    designs = {
        f"{protocol.__module__}.{protocol.__qualname__}": protocol
        for protocol in protocols()
        if protocol.__module__.startswith("shuffledp.designs.")
    }
    views = {entry.name: entry.load() for entry in entry_points(group=GROUP)}
    assert len(designs) == 2
    assert views.keys() == designs.keys()
    assert all(callable(view) for view in views.values())
