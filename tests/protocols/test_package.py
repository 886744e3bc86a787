"""Guarantees of the protocols: a label for every accounting, and witnesses of the violated ones."""

import math
import pickle
import re
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, nbinom

import shuffledp
from shuffledp.accounting import Infeasible
from shuffledp.guarantees import EXACT, GUARANTEES, UPPER, Standing, weakest
from shuffledp.pipeline.experiments import configurable_functions
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import conformance, get
from shuffledp.protocols.frequency._designs import PairwiseDesign
from shuffledp.protocols.frequency.local import Local
from shuffledp.protocols.registry import interface_faults
from shuffledp.tasks import Budget, Frequency, Sets, Summation, Vectors
from small_tasks import BUILT_INS

#: Stated labels of all built-ins, unchanged since the golden table; empty for a label that a class computes.
LABELS = {
    (kind, name): {how: standing.guarantee for how, standing in get(kind, name).guarantees.items()}
    for kind, name in BUILT_INS
}
TASKS = {"frequency": Frequency(2), "summation": Summation(3), "sets": Sets(7, 2), "vectors": Vectors(3, 5.0)}
OWN_TASKS = {"real_sum": Summation(4, real=True), "sparse_sum": Summation(2, coordinates=2)}
#: With two values, all other users would be in the two changing counts, and their sampling would hide the victim
#: slightly.
OWN_TASKS |= {"s1geo": Frequency(3), "silent_users": Frequency(3)}
#: The search for designs for larger numbers takes long.
OWN_TASKS |= {"coarse_correlated_sum": Summation(1)}
#: With these options some items are not sent, and designs are found immediately.
OPTIONS = {"segmented": {"blankets": 1.0}, "real_sum": {"levels": 2}}
#: Number of users for which the theorems hold.
USERS = 20_000


@cache  # several tests have the same protocols
def calibrated(kind, name, accounting, **options):
    population = Binomial(2 * USERS, 0.5) if name in ("random_checkin", "multi_union") else Fixed(USERS - 1)
    if kind == "sets" or name == "split_and_mix":
        population = Fixed(99)
    if name == "public_coin":
        population = Fixed(200_000)
    task = OWN_TASKS.get(name, TASKS[kind])
    return get(kind, name).calibrate(Budget(0.9, 1e-4), population, task, accounting=accounting, **options)


@pytest.mark.parametrize("kind, name", sorted(LABELS))
def test_calibrated_protocol_states_its_accounting(kind, name):
    for accounting, label in LABELS[kind, name].items():
        options = OPTIONS.get(name, {})
        protocol = calibrated(kind, name, accounting, **options)
        assert protocol.calibrated_under == accounting
        assert protocol.guarantee == label, accounting
        assert bool(protocol.guarantee_note) == (label in ("unproven", "violated")), accounting
        pair = protocol.privacy_profile()
        if label == "exact":  # the pair's delta is the truth, or there is nothing to lose
            assert pair.kind == "exact" or pair.delta(0.9) == 0, accounting
        elif label == "upper" and pair is not None:
            assert pair.kind in ("exact", "upper"), accounting
            assert float(pair.delta(0.9)) <= 1e-4 * (1 + 1e-9), accounting


def test_a_private_first_round_counts_too():
    first = {"protocol": "flexible_pure_dump", "eps": 0.2, "delta": 1e-5, "options": {"rate": 0.05}}
    task, budget = Sets(7, 2, levels=2), Budget((0.9, 1.2), 1e-4)

    def label(how):
        return get("sets", "segmented").calibrate(
            budget, Fixed(USERS - 1), task, accounting="corrected", first_round={**first, "accounting": how}
        )

    weak, sound = label("printed"), label("exact")
    assert (weak.guarantee, sound.guarantee) == ("violated", "upper")
    assert "DUMP-N4" in weak.guarantee_note


def test_options_that_matter():
    everybody = get("frequency", "flexible_pure_dump").calibrate(
        Budget(0.9, 1e-4), Fixed(999), Frequency(2), rate=1.0, accounting="printed"
    )
    assert everybody.guarantee == "upper"  # then the number of senders is certain
    for kind in ("frequency", "vectors"):
        own = calibrated(kind, "random_checkin", "printed", threat="own_coin")
        assert own.guarantee == "unproven"
        assert "coin" in own.guarantee_note
    withdrawn = calibrated("frequency", "correlated_noise", "printed", constants="conference")
    assert withdrawn.guarantee == "unproven"


@pytest.mark.parametrize("name", ["balls_into_bins", "separate"])
def test_divergence_labels_published_calibrations(name):
    calibrate, task = partial(get("sets", name).calibrate, accounting="printed"), Sets(17, 4)
    fine = calibrate(Budget(0.9, 1e-4), Fixed(4999), task, calibration="analytic")
    assert fine.guarantee == "upper"
    # 32 ln(2/delta) / eps^2 goes to 0 for large budgets: for one item at 12 nats less than two messages are expected.
    broken = calibrate(Budget(12.0, 1e-4), Fixed(4999), Sets(17, 1), calibration="analytic")
    plan = broken.plan if name == "balls_into_bins" else broken.plan.groups[0]
    assert plan.blankets_per_item < 20
    assert float(broken.privacy_profile().delta(12.0)) > 1e-4
    assert broken.guarantee == "unproven"


# -- plug-ins ---------------------------------------------------------------------------------------------------


def variant(**attributes):
    """Return a plug-in like LOCAL with other class variables."""
    return dataclass(frozen=True)(type("Mine", (Local,), {"__annotations__": {}, **attributes}))


@pytest.mark.parametrize("label", GUARANTEES)
def test_plugin_may_set_a_class_variable(label):
    mine = variant(guarantee=label)
    assert interface_faults(mine) == []
    protocol = mine.calibrate(Budget(1.0, 1e-3), Fixed(9), Frequency(2), accounting="printed")
    assert protocol.guarantee == label
    assert protocol.guarantee_note == ""


def test_silent_plugin_has_upper_bound():
    mine = variant(guarantees={})
    assert interface_faults(mine) == []
    assert (
        mine.calibrate(Budget(1.0, 1e-3), Fixed(9), Frequency(2), accounting="printed").guarantee == "upper"
    )


def test_missing_accounting_has_weakest_label():
    mine = variant(guarantees={"printed": Standing("unproven", "why"), "exact": EXACT})
    protocol = mine(Fixed(9), 1.0, 0, False, 2)
    assert (protocol.guarantee, protocol.guarantee_note) == ("unproven", "why")


@pytest.mark.parametrize(
    "attributes, message",
    [
        ({"guarantee": "best"}, "sets guarantee to 'best', expected one of exact, upper, approximate, unproven"),
        ({"guarantee": 3}, "sets guarantee to 3, expected a text or a property"),
        ({"guarantees": {"printed": UPPER}}, "states guarantees for printed, but its accountings are printed, exact"),
        ({"guarantees": {"printed": "upper", "exact": "exact"}}, "expected a Standing per accounting"),
    ],
)  # fmt: skip
def test_wrong_labels_are_faults(attributes, message):
    assert any(message in fault for fault in interface_faults(variant(**attributes)))


def test_a_doubt_needs_a_reason():
    for label in ("unproven", "violated"):
        with pytest.raises(ValueError, match=f"for the guarantee '{label}'"):
            Standing(label)
    with pytest.raises(ValueError, match="guarantee must be one of exact, upper"):
        Standing("best")
    with pytest.raises(ValueError, match="at least one Standing"):
        weakest([])
    assert weakest([EXACT, Standing("unproven", "a"), UPPER, Standing("unproven", "b")]).note == "a"


def test_errata_named_in_reasons_exist():
    package = Path(shuffledp.__file__).parent
    known = set()
    for path in package.glob("pipeline/papers/*/errata.yaml"):
        known |= set(re.findall(r"^\s*- id: (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    files = [*(package / "accounting").rglob("*.py"), Path(configurable_functions.__file__)]
    sources = "".join(path.read_text(encoding="utf-8") for path in files)
    noted = [s.note for k, n in LABELS for s in get(k, n).guarantees.values()]
    named = set(re.findall(r"\(([A-Z]+-[A-Z]?[\d.]+)\)", " ".join(noted) + sources))
    assert {"SEG-6.1", "SEG-6.2", "RP-E16", "RP-E4", "DUMP-N4", "DUMP-N8", "SUM-N2", "SG-4"} <= named
    assert named <= known


# -- witnesses: small cases by enumeration, without the accounting --------------------------------------------------


def times_in(note):
    """Return the factors in a note, in order."""
    return [float(x) for x in re.findall(r"([\d.]+) times", note)]


def test_witness_of_multi_union_as_printed():
    trials, rate, eps, delta = 48_841, 0.01, 8.0, 1e-8
    protocol = get("frequency", "multi_union").calibrate(
        Budget(eps, delta), Binomial(trials, rate), Frequency(2), accounting="printed"
    )
    assert protocol.precision == 1
    truth = 0.0
    z = np.arange(60)
    for n in range(200, 900):
        shape = n / protocol.base_users
        half = nbinom.pmf(z, shape, -math.expm1(-eps))
        law = np.convolve(half, half[::-1])  # of the difference, -59..59
        shifted = np.append(0.0, law[:-1])
        truth += binom.pmf(n - 1, trials, rate) * np.maximum(shifted - math.exp(eps) * law, 0).sum()
    assert [round(truth / delta, 1)] == times_in(protocol.guarantee_note)
    assert protocol.guarantee == "violated"


@pytest.mark.parametrize(
    "name, options", [("flexible_pure_dump", {}), ("flexible_mix_dump", {"eps_local": 600.0})]
)
def test_witness_of_flexible_dummies_as_printed(name, options):
    n, rate, eps, delta = 3000, 0.06, 1.0, 3e-81
    protocol = get("frequency", name).calibrate(
        Budget(eps, delta), Fixed(n - 1), Frequency(2), rate=rate, accounting="printed", **options
    )
    truth = 0.0  # the total of the messages shows how many users send
    for senders in range(100):
        dummies = protocol.per_sender * senders
        x = np.arange(dummies + 2)
        one, other = binom.pmf(x - 1, dummies, 0.5), binom.pmf(x, dummies, 0.5)
        truth += binom.pmf(senders, n, rate) * np.maximum(one - math.exp(eps) * other, 0).sum()
    # With a local budget of 600 the law differs by n e^-600 at most, far below 3e-81.
    assert [round(truth / delta, 1)] == times_in(protocol.guarantee_note)
    assert protocol.guarantee == "violated"


def test_witness_of_unproven_public_coin():
    n, eps, delta = 30_433, 1.0, 1e-3
    calibrate = partial(get("frequency", "public_coin").calibrate, accounting="printed")
    protocol = calibrate(Budget(eps, delta), Fixed(n - 1), Frequency(2), beyond_proof=True)
    x = np.arange(n - 40, n + 1)
    noise = binom.pmf(x, n, protocol.rate)
    one = np.outer(np.append(0.0, noise), np.append(noise, 0.0))  # (1 + X, Y) of one row, against (X, 1 + Y)
    other = np.outer(np.append(noise, 0.0), np.append(0.0, noise))
    truth = np.maximum(one - math.exp(eps) * other, 0).sum()
    assert truth > 400 * delta
    assert f"a delta of {truth:.2f}" in protocol.guarantee_note
    assert protocol.guarantee == "violated"
    inside = calibrate(Budget(eps, delta), Fixed(2 * n), Frequency(2), beyond_proof=True)
    assert inside.rate <= 0.5
    assert inside.guarantee == "upper"


# -- the profile that a calibrated protocol states, at random budgets: at most the delta that was asked for --

#: Number of tried calibrations, up to the first profile.
TRIES = 60


def random_budget(rng, like):
    """Return a budget with as many levels: eps from 0.05 to 8, and delta from 1e-9 to 0.5, or 0 if `like` has 0."""
    eps = sorted(np.exp(rng.uniform(math.log(0.05), math.log(8), len(like.levels))).tolist())
    delta = math.exp(rng.uniform(math.log(1e-9), math.log(0.5))) if like.delta > 0 else 0.0
    return Budget(tuple(eps) if isinstance(like.eps, tuple) else eps[0], delta, like.neighbours)


@pytest.mark.parametrize("kind, name", BUILT_INS)
def test_profile_keeps_calibrated_delta(kind, name):
    protocol_class = get(kind, name)
    rng = np.random.default_rng([5, *name.encode()])
    cases = conformance.default_cases(protocol_class)
    if issubclass(protocol_class, PairwiseDesign):  # which searches all sizes for every number of users
        cases = [case for case in cases if isinstance(case.population, Fixed)]
    feasible = 0
    for i in rng.permutation(TRIES):
        case = cases[i % len(cases)]
        case = replace(case, budget=random_budget(rng, case.budget))
        try:
            protocol = case.calibrate(protocol_class)
        except Infeasible:
            continue
        feasible += 1
        pair = protocol.privacy_profile()
        if pair is None:
            continue
        delta = float(pair.delta(case.budget.levels[0]))
        # 1e-8: a rate is found to 1e-9, and several levels add up.
        assert 0 <= delta <= case.budget.delta * (1 + 1e-8), f"{case}: {delta!r}"
        break
    assert feasible, "no budget was feasible: nothing was checked"


@pytest.mark.parametrize("kind, name", BUILT_INS)
def test_a_calibrated_protocol_can_be_stored(kind, name):
    protocol = calibrated(kind, name, get(kind, name).accountings[-1], **OPTIONS.get(name, {}))
    assert pickle.dumps(pickle.loads(pickle.dumps(protocol))) == pickle.dumps(protocol)
