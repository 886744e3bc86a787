"""The table of the audit: it has every registered protocol, flags planted faults, and flags no built-in protocol."""

import csv
import io
import math
from collections import Counter
from dataclasses import replace
from importlib import import_module
from itertools import chain
from pathlib import Path

import mpmath
import numpy as np
import pytest
import scipy.stats

from demo_job import demo_job
from references.laws import binomial, moved, two_counts
from shuffledp.accounting import Infeasible
from shuffledp.pipeline.audit import frequency, scale, scale_reports, set_views, summation, table, vectors
from shuffledp.pipeline.audit.auditor import (
    AS_LABELED,
    EXCEEDS,
    HOLDS,
    NOT_ENUMERATED,
    AuditSetting,
    audited,
    compared,
)
from shuffledp.pipeline.audit.combined_table import VIOLATION, ViolatedClaimError, join_tables
from shuffledp.pipeline.audit.finite_laws import Bounds, TooLargeError, largest
from shuffledp.pipeline.audit.measured import MissingProfileError
from shuffledp.pipeline.audit.random_settings import protocols, random_setting
from shuffledp.pipeline.audit.scale import at_scale
from shuffledp.pipeline.experiments.audited import audit_jobs, audit_shares, plan
from shuffledp.populations import Fixed
from shuffledp.protocols import Messages, get
from shuffledp.protocols.frequency.amplified import Amplified
from shuffledp.protocols.frequency.central_gaussian import CentralGaussian
from shuffledp.protocols.frequency.one_sided_noise import OneSidedCounts
from shuffledp.protocols.frequency.pure_dump import PureDump
from shuffledp.protocols.frequency.truncation import Truncation
from shuffledp.storage import publish
from shuffledp.tasks import Budget, Frequency, Sets

PLUGINS = Path(__file__).resolve().parents[2] / "protocols/plugins"
PROTOCOLS = protocols()
IDS = [f"{p.task_kind}-{p.name}" for p in PROTOCOLS]
SEED, RUNS = 3, 60


#: Other seeds for protocols whose first setting has thousands of outcomes for 700 pairs of data sets.
OTHER_SEED = {"sparse_sum": 9}


def test_points_are_spread_and_slack_computed():
    assert table._spread(10, 3) == [1, 5, 8]
    assert table._spread(3, 10) == [0, 1, 2]
    assert (table._slack(2e-6, 1e-6), table._slack(1e-6, 0.0)) == (2.0, math.inf)


@pytest.mark.parametrize(
    "kind, name",
    [
        *(
            ("frequency", name)
            for name in ("amplified", "multi_expected", "pure_dump", "random_checkin", "jump_counts")
        ),
        *(("summation", "sparse_sum"), ("summation", "skellam"), ("vectors", "amplified")),
        *(("sets", "segmented"), ("sets", "subset_shuffled")),
    ],
)
def test_protocol_is_audited_and_not_flagged(kind, name):
    """The settings of all protocols are enumerated in `test_auditor`."""
    protocol = get(kind, name)
    found = table.small_lines(protocol, OTHER_SEED.get(name, SEED), 1, RUNS)
    assert {line.accounting for line in found} == set(protocol.accountings)
    assert [line for line in found if line.status == VIOLATION] == []
    assert {line.part for line in found if line.status == table.HOLDS} >= {"enumerated"}
    assert all(line.note for line in found if line.status == table.NOT_AUDITED)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=IDS)
def test_scaled_delta_is_below_full_law(protocol):
    """Both deltas follow from the messages, and are equal if both are exact. Views that merge outcomes are omitted."""
    for number in range(2):
        setting = random_setting(protocol, np.random.default_rng([SEED, number]))
        if setting.population.mean > 60:
            continue
        try:
            calibrated = setting.calibrated()
            found = at_scale(calibrated, setting.population, setting.budget.levels)
        except (Infeasible, MissingProfileError, TooLargeError):
            continue
        row = compared(setting, calibrated)
        if row.status not in (HOLDS, EXCEEDS, AS_LABELED) or row.note.startswith(("two", "some", "reports")):
            continue
        both = largest(one.found for one in found)
        assert both.low <= row.found + row.error, setting
        if all(one.side == "exact" for one in found) and not row.note:
            assert both.high >= row.found, setting
            assert both.low == pytest.approx(row.found, rel=1e-6, abs=1e-11), setting


@pytest.mark.parametrize("n, eps, delta", [(10_000, 2.0, 1e-12), (10_000, 0.5, 1e-12), (20_000, 0.2, 1e-10)])
def test_rounding_is_no_excess(n, eps, delta):
    """The audit once found 1.0006e-12, which is 6e-4 above the claim, and reported that the claim holds exactly."""
    population, task = Fixed(n - 1), Frequency(50)
    balls = get("frequency", "balls_into_bins")
    setting = AuditSetting(balls, "exact", task, population, Budget(eps, delta))
    protocol = setting.calibrated()
    (found,) = at_scale(protocol, population, [eps])
    with mpmath.workdps(40):
        law = binomial(n, protocol.rate)
        true = two_counts(moved(law), law, eps)
    assert found.found.low <= true <= found.found.high <= delta
    assert found.found.high - found.found.low < 1e-10 * delta
    assert table.grid_line(table.Point(setting, "here")).status == table.HOLDS


@pytest.mark.parametrize(
    "low, high, status",
    [
        (0.9, 1.0, table.HOLDS),
        (0.9, 1.0 + 1e-15, "undecided"),
        (1.0, 1.1, "undecided"),
        (1.0 + 1e-15, 1.1, VIOLATION),
    ],
)
def test_a_claim_holds_without_any_tolerance(low, high, status):
    assert table.judged("exact", Bounds(low, high), 1.0) == status


def test_bounds_are_rounded_to_their_side():
    line = table.Line("p", "t", "exact", "grid", claimed_delta=1 / 3, found_delta=2 / 3, error=2 / 3e9)
    row = next(csv.DictReader(io.StringIO(table.text_of([line]))))
    assert (row["claimed_delta"], row["found_delta"]) == ("0.3333333333", "0.6666666666")
    assert row["error"] == "6.666666667e-10"
    assert float(row["found_delta"]) <= 2 / 3 <= float(row["found_delta"]) + float(row["error"])


# -- planted bugs --------------------------------------------------------------------------------------------------

FEW = (Fixed(7), Frequency(3), Budget(0.8, 0.02))
SOME = (Fixed(49), Frequency(3), Budget(0.8, 0.02))
MANY = (Fixed(99_999), Frequency(50), Budget(0.5, 1e-6))


def at(protocol, where, accounting="exact"):
    population, task, budget = where
    return AuditSetting(protocol, accounting, task, population, budget)


def looked_at(setting, runs=600):
    """Return the lines of a setting with few users."""
    row = audited(setting)
    assert row.status != NOT_ENUMERATED, row.note
    return [table.enumerated_line(row), *table.message_lines(row, np.random.default_rng(5), runs)]


def flagged(setting, runs=600):
    """Return the parts that flag a setting: at scale, enumerated, simulated."""
    return {line.part for line in looked_at(setting, runs) if line.status == VIOLATION}


def flagged_at_scale(protocol):
    line = table.grid_line(table.Point(at(protocol, MANY), "planted"))
    assert line.confidence == 1
    return line.status == VIOLATION


def changed(protocol, change):
    """Return the protocol with other calibrated parameters."""

    class Changed(protocol):
        @classmethod
        def calibrate(cls, *args, **options):
            right = super().calibrate(*args, **options)
            return replace(right, **change(right))

    return Changed


class ForgetsTheSplit(Truncation):
    """Both of two parts use all of delta instead of half."""

    @classmethod
    def calibrate(cls, budget, *args, **options):
        return super().calibrate(replace(budget, delta=2 * budget.delta), *args, **options)


class HonestLooking(PureDump):
    """Calibration to 1.5 times the budget, with the profile of the correct calibration."""

    @classmethod
    def calibrate(cls, budget, *args, **options):
        honest = PureDump.calibrate(budget, *args, **options)
        made = super().calibrate(replace(budget, eps=1.5 * budget.largest_eps), *args, **options)
        object.__setattr__(made, "honest", honest)
        return made

    def privacy_profile(self):
        return self.honest.privacy_profile()


WRONG = {
    "small noise": changed(CentralGaussian, lambda right: {"sigma": 0.9 * right.sigma}),
    "forgotten split": ForgetsTheSplit,
    "one dummy less": changed(PureDump, lambda right: {"dummies_in_all": right.dummies_in_all - 1}),
    "swapped noise": changed(OneSidedCounts, lambda right: {"shape": right.decay, "decay": right.shape}),
    "honest looking": HonestLooking,
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_calibrations_are_flagged(wrong):
    right, where = wrong.__mro__[1], SOME if wrong is ForgetsTheSplit else FEW
    assert audited(at(wrong, where)).status == EXCEEDS
    assert audited(at(right, where)).status == HOLDS
    assert flagged_at_scale(wrong)
    assert not flagged_at_scale(right)


class QuietNoise(OneSidedCounts):
    """Correct calibration, but users exchange both parameters of the noise."""

    def draw_noise(self, users, rng):
        swapped = OneSidedCounts(
            n_users=self.n_users, domain_size=self.domain_size, shape=self.decay, decay=self.shape
        )
        return swapped.draw_noise(users, rng)


class SendsOneDummyLess(PureDump):
    def shuffle(self, messages, public, rng):
        return super().shuffle(Messages(messages.payload[:-1]), public, rng)


@pytest.mark.parametrize(
    "wrong, where",
    [
        (QuietNoise, FEW),
        (SendsOneDummyLess, (Fixed(2), Frequency(3), Budget(3.0, 0.1))),
    ],
)
def test_wrong_runs_are_flagged(wrong, where):
    assert flagged(at(wrong, where), runs=1500) == {"messages"}  # the parameters are right
    assert flagged(at(wrong.__mro__[1], where), runs=1500) == set()
    for line in looked_at(at(wrong, where), runs=60):
        assert line.confidence >= 1 - 1e-6 or line.status == table.NOT_AUDITED


def test_failing_run_is_flagged(monkeypatch):
    """The table once listed such a protocol as not audited, so that its failure was easy to overlook."""

    def broken(*args, **options):
        raise ArithmeticError("no messages")

    monkeypatch.setattr(table, "messages_fit", broken)
    found = [line for line in table.small_lines(PureDump, SEED, 1, RUNS) if line.part == "messages"]
    assert VIOLATION in {line.status for line in found}
    assert any(line.note == "ArithmeticError: no messages" for line in found)


# -- the table -----------------------------------------------------------------------------------------------------


def test_protocol_without_view_has_a_reason():
    coin = get("frequency", "four_methods.py:Coin", root=PLUGINS)
    found = table.small_lines(coin, SEED, 1, RUNS)
    enumerated = [line for line in found if line.part == "enumerated"]
    assert [line.status for line in enumerated] == [table.NOT_AUDITED] * len(coin.accountings)
    assert all("not written down" in line.note for line in enumerated)
    where = (Fixed(7), Frequency(2), Budget(3.0, 0.5))
    line = table.grid_line(table.Point(at(coin, where, coin.accountings[0]), "planted"))
    assert line.status == table.NOT_AUDITED
    assert "not written down" in line.note


def test_messages_of_many_users_are_skipped():
    many = at(get("frequency", "balls_into_bins"), (Fixed(300), Frequency(2), Budget(1.0, 0.03)))
    assert table.message_lines(audited(many), np.random.default_rng(5), RUNS) == []


def test_known_excess_is_an_erratum():
    listed = type("Listed", (ForgetsTheSplit,), {"guarantee": "violated"})
    line = table.grid_line(table.Point(at(listed, MANY), "planted"))
    assert line.status == table.ERRATUM
    assert line.found_delta > line.claimed_delta


def job_of(**changes):
    job = {
        "method": "m",
        "protocol": "pure_dump",
        "grid": {"eps": [0.2, 0.4, 0.8], "repeat": [1, 2]},
        "data": {"name": "uniform"},
        "task": {"kind": "frequency", "domain_size": 50, "metrics": ["mse"]},
        "population": {"users": 10_000},
        "budget": {"eps": "$eps", "delta": 1e-6},
    }
    return demo_job(**job | changes)


def test_experiment_claims_are_rows_once():
    jobs = audit_jobs(
        [job_of(), job_of(method="again"), job_of(protocol=None), job_of(protocol="x.py:X")], "full"
    )
    methods = jobs["frequency_dummy_points"]["methods"]
    points = table.points_of(methods)
    assert [point.where for point in points][::2] == [f"demo.coins.m: eps = {eps}" for eps in (0.2, 0.4, 0.8)]
    assert len(points) == 6
    assert len(table.points_of(methods, 1)) == 2
    assert [name for name, job in jobs.items() if job["methods"]] == ["frequency_dummy_points"]
    again = audit_jobs([job_of(task={"kind": "frequency", "domain_size": 50, "metrics": ["sse"]})], "full")
    assert again == audit_jobs([job_of()], "full")


@pytest.mark.parametrize("effort", ["full", "quick"])
def test_every_protocol_has_one_job(effort):
    shares = audit_shares(effort)
    assert Counter(chain(*shares.values())) == Counter((p.task_kind, p.name) for p in PROTOCOLS)


@pytest.mark.parametrize(
    "known",
    [
        *(frequency.VIEWS, frequency._NOISES, frequency._SHARES, frequency._OF_A_COUNT, summation.VIEWS),
        *(summation._NOISES, set_views.VIEWS, vectors.VIEWS, scale.PROFILES, scale.PRESENCES),
    ],
)
def test_families_have_their_modules_names(known):
    for name in known:
        module, _, cls = name.rpartition(".")
        assert getattr(import_module(f"shuffledp.protocols.{module}"), cls).__module__.endswith(module)


@pytest.mark.parametrize(
    "effort, looked_at", [("quick", {"pure_dump"}), ("full", {"pure_dump", "amplified"})]
)
def test_quick_run_audits_its_experiments(effort, looked_at):
    """An omitted protocol has a row with the reason."""
    job = next(iter(audit_jobs([job_of(protocol="pure_dump")], effort).values())) | {
        "protocols": [["frequency", "amplified"], ["frequency", "pure_dump"]],
        "methods": [plan(job_of(protocol="pure_dump"))],
        "points": 1,
        "settings": 1,
        "runs": 60,
    }
    rows = list(table.lines_of(job))
    assert {row.protocol for row in rows if row.status == table.HOLDS} == looked_at
    assert {row.protocol for row in rows} == {"amplified", "pure_dump"}
    left = [
        (row.accounting, row.part)
        for row in rows
        if row.note.startswith("left out: no experiment of this quick run")
    ]
    assert len(left) == (2 * len(Amplified.accountings) if effort == "quick" else 0)
    assert [row for row in rows if row.status == VIOLATION] == []


def test_rows_join_unless_claims_fail(tmp_path):
    line = table.grid_line(table.Point(at(PureDump, MANY), "here"))
    made = []
    for name, rows in (
        ("one", [line]),
        ("two", [line, table.Line("new", "sets", "exact", "grid", note="why")]),
    ):
        path = tmp_path / f"{name}.csv"
        publish(path.with_suffix(".sha256"), {path: table.text_of(rows).encode()})
        made.append(path)
    rows = list(csv.DictReader(io.StringIO(join_tables(made))))
    assert [row["protocol"] for row in rows] == ["pure_dump", "pure_dump", "new"]
    assert join_tables(made[::-1]) == join_tables(made)  # by task and protocol, whatever job a protocol is in
    assert rows[0]["status"] == "holds"
    assert float(rows[0]["slack"]) == pytest.approx(1, abs=0.01)
    assert rows[2]["slack"] == ""
    wrong = table.grid_line(table.Point(at(ForgetsTheSplit, MANY), "there"))
    publish(made[0].with_suffix(".sha256"), {made[0]: table.text_of([wrong]).encode()})
    with pytest.raises(ViolatedClaimError, match="1 sound claims do not hold:\n  frequency truncation"):
        join_tables(made)


@pytest.mark.parametrize(
    "name, task, why",
    [
        ("subset_selection", Frequency(2), "no third value"),
        ("solh", Frequency(2), "no third value"),
        ("balls_into_bins", Sets(3, 2), "too few items for a third set"),
        ("subset_shuffled", Sets(5, 2), "no three disjoint sets"),
    ],
)
def test_too_few_values_are_refused(name, task, why):
    protocol = get(task.kind, name)
    setting = AuditSetting(protocol, protocol.accountings[-1], task, Fixed(9999), Budget(1.0, 1e-6))
    with pytest.raises(MissingProfileError, match=why):
        at_scale(setting.calibrated(), Fixed(9999), [1.0])


def test_subsets_of_one_are_responses():
    """Subset selection with subsets of one value is randomized response: both audits find the same delta."""
    one = get("frequency", "subset_selection").calibrate(
        Budget(1.0, 1e-6), Fixed(99), Frequency(5), accounting="exact", size=1
    )
    response = get("frequency", "grr_blanket")(100, 5, one.report.eps_local, 0)
    found, expected = (at_scale(protocol, Fixed(99), [0.5])[0].found for protocol in (one, response))
    assert found.low == pytest.approx(expected.low, rel=1e-9)


def test_removed_user_of_noisy_counts():
    protocol = get("frequency", "skellam").calibrate(
        Budget(1.0, 1e-6, neighbours="add_remove"), Fixed(99), Frequency(5), accounting="exact"
    )
    (found,) = at_scale(protocol, Fixed(99), [1.0], "add_remove")
    assert 0 < found.found.low <= found.found.high <= 1e-6
    with pytest.raises(MissingProfileError, match="added or removed"):
        at_scale(get("frequency", "grr_blanket")(100, 5, 1.0, 0), Fixed(99), [1.0], "add_remove")


def test_laplace_reports_beyond_the_norm():
    """Three tails of Laplace noise of scale 2 / eps, from SciPy."""
    noise = scipy.stats.laplace(scale=2 / 1.4)
    expected = [noise.sf(1 - x) for x in (1, -1, 0)]
    assert scale_reports._laplace_kinds(1.4) == pytest.approx(expected, rel=1e-12)
