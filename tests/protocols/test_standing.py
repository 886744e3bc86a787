"""What stands behind the claims of the protocols: a label for every accounting, and witnesses of the violated ones."""

import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, nbinom

import shuffledp
from shuffledp.accounting.functions import NAMED_FUNCTIONS
from shuffledp.accounting.standing import EXACT, GUARANTEES, UPPER, Standing, weakest
from shuffledp.populations import Binomial, Fixed, Poisson
from shuffledp.protocols import available, get
from shuffledp.protocols.frequency.local import Local
from shuffledp.protocols.registry import interface_faults
from shuffledp.tasks import TASK_KINDS, Budget, Frequency, Sets, Summation, Vectors

CLONES = {"printed": "upper", "simplified": "unproven", "corrected": "upper", "exact": "upper"}
CHECKIN = {"printed": "upper", "exact": "upper"}
BOUNDS = {"printed": "upper", "exact": "upper"}
THREE = {"printed": "upper", "corrected": "upper", "exact": "upper"}
LABELS = {
    ("frequency", "adaptive"): CLONES,
    ("frequency", "amplified"): CLONES,
    ("frequency", "correlated_noise"): BOUNDS,
    ("frequency", "flexible_mix_dump"): {"printed": "violated", "corrected": "upper", "exact": "upper"},
    ("frequency", "flexible_pure_dump"): {"printed": "violated", "corrected": "upper", "exact": "exact"},
    ("frequency", "grr_blanket"): BOUNDS,
    ("frequency", "local"): {"printed": "exact", "exact": "exact"},
    ("frequency", "mix_dump"): BOUNDS,
    ("frequency", "multi_exact"): {"exact": "upper"},
    ("frequency", "multi_expected"): BOUNDS,
    ("frequency", "multi_union"): {"printed": "violated", "corrected": "upper", "exact": "upper"},
    ("frequency", "non_adaptive"): CLONES,
    ("frequency", "private_coin"): BOUNDS,
    ("frequency", "public_coin"): BOUNDS,
    ("frequency", "pure_dump"): {"printed": "upper", "exact": "exact"},
    ("frequency", "random_checkin"): CHECKIN,
    ("frequency", "solh"): BOUNDS,
    ("frequency", "truncation"): {"printed": "upper", "exact": "exact"},
    ("sets", "balls_into_bins"): THREE,
    ("sets", "segmented"): {"printed": "violated", "corrected": "upper", "exact": "upper"},
    ("sets", "separate"): THREE,
    ("sets", "separate_inverse_variance"): THREE,
    ("sets", "separate_weighted"): THREE,
    ("sets", "subset_local"): {"printed": "exact", "corrected": "exact", "exact": "exact"},
    ("sets", "subset_shuffled"): {"printed": "violated", "corrected": "upper"},
    ("summation", "central_laplace"): {"exact": "exact"},
    ("summation", "correlated_sum"): THREE,
    ("summation", "real_sum"): THREE,
    ("summation", "sparse_sum"): THREE,
    ("summation", "split_and_mix"): {"printed": "upper"},
    ("vectors", "adaptive"): CLONES,
    ("vectors", "amplified"): CLONES,
    ("vectors", "local"): {"printed": "exact", "exact": "exact"},
    ("vectors", "non_adaptive"): CLONES,
    ("vectors", "random_checkin"): CHECKIN,
}
#: Says it by a label of its own rather than by a table.
OTHERWISE = {("summation", "fragmented_rappor")}
TASKS = {"frequency": Frequency(2), "summation": Summation(3), "sets": Sets(7, 2), "vectors": Vectors(3, 5.0)}
OWN_TASKS = {"real_sum": Summation(4, real=True), "sparse_sum": Summation(2, coordinates=2)}
#: So that not all items are sent, and that designs are found at once.
OPTIONS = {"segmented": {"blankets": 1.0}, "real_sum": {"levels": 2}}
#: Many users, so that the theorems hold.
USERS = 20_000


def calibrated(kind, name, accounting, **options):
    population = Binomial(2 * USERS, 0.5) if name in ("random_checkin", "multi_union") else Fixed(USERS - 1)
    if kind == "sets" or name == "split_and_mix":
        population = Fixed(99)
    if name == "public_coin":
        population = Fixed(200_000)
    task = OWN_TASKS.get(name, TASKS[kind])
    return get(kind, name).calibrate(Budget(0.9, 1e-4), population, task, accounting=accounting, **options)


def test_every_built_in_states_a_label_for_each_of_its_accountings():
    registered = {(kind, name) for kind in TASK_KINDS for name in available(kind)}
    assert registered == set(LABELS) | OTHERWISE
    for (kind, name), expected in LABELS.items():
        stated = {a: standing.guarantee for a, standing in get(kind, name).guarantees.items()}
        assert stated == expected, (kind, name)
        assert set(stated) == set(get(kind, name).accountings), (kind, name)


@pytest.mark.parametrize(("kind", "name"), sorted(LABELS))
def test_what_was_calibrated_says_under_which_accounting(kind, name):
    for accounting, label in LABELS[kind, name].items():
        options = OPTIONS.get(name, {})
        protocol = calibrated(kind, name, accounting, **options)
        assert protocol.calibrated_under == accounting
        assert protocol.guarantee == label, accounting
        assert bool(protocol.guarantee_note) == (label in ("unproven", "violated")), accounting
        assert protocol == calibrated(kind, name, accounting, **options)
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
    flexible, ikos = get("frequency", "flexible_pure_dump"), get("summation", "split_and_mix")
    everybody = flexible.calibrate(
        Budget(0.9, 1e-4), Fixed(999), Frequency(2), rate=1.0, accounting="printed"
    )
    assert everybody.guarantee == "upper"  # then the number of senders is certain
    shares = {
        form: calibrated("summation", "split_and_mix", "printed", form=form).guarantee
        for form in ("figure", "average", "worst_case", "collision")
    }
    assert shares == {
        "figure": "unproven",
        "average": "unproven",
        "worst_case": "upper",
        "collision": "upper",
    }
    assert "SUM-N2" in calibrated("summation", "split_and_mix", "printed", form="figure").guarantee_note
    assert ikos.guarantees["printed"] == UPPER
    for kind in ("frequency", "vectors"):
        own = calibrated(kind, "random_checkin", "printed", threat="own_coin")
        assert own.guarantee == "unproven"
        assert "coin" in own.guarantee_note
    withdrawn = calibrated("frequency", "correlated_noise", "printed", constants="conference")
    assert withdrawn.guarantee == "unproven"
    exact = calibrated("frequency", "correlated_noise", "exact", constants="conference")
    assert exact.guarantee == "upper"  # which does not use them
    poisson = get("frequency", "multi_union").calibrate(
        Budget(0.5, 1e-4), Poisson(500.0), Frequency(2), accounting="printed"
    )
    assert poisson.guarantee == "upper"  # that row of Table II is a tail bound


def test_within_their_proven_range_printed_theorems_are_bounds():
    segmented = get("sets", "segmented")
    everything = segmented.calibrate(
        Budget(0.9, 1e-4), Fixed(USERS - 1), Sets(7, 2), blankets=50.0, accounting="printed"
    )
    assert set(everything.plan.rates) == {1.0}
    assert everything.guarantee == "upper"
    assert everything.privacy_profile() is not None
    two_values = get("sets", "subset_shuffled").calibrate(
        Budget(0.9, 1e-4), Fixed(99), Sets(2, 1), accounting="printed"
    )
    alone = get("sets", "subset_shuffled").calibrate(
        Budget(0.9, 1e-4), Fixed(0), Sets(5, 1), accounting="printed"
    )
    assert two_values.guarantee == alone.guarantee == "upper"  # no residual component; nobody else's messages


@pytest.mark.parametrize("name", ["balls_into_bins", "separate"])
def test_published_calibrations_are_labelled_by_the_divergence(name):
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
    """A plug-in made of LOCAL with other class variables."""
    return dataclass(frozen=True)(type("Mine", (Local,), {"__annotations__": {}, **attributes}))


@pytest.mark.parametrize("label", GUARANTEES)
def test_a_plug_in_may_set_a_plain_class_variable(label):
    mine = variant(guarantee=label)
    assert interface_faults(mine) == []
    protocol = mine.calibrate(Budget(1.0, 1e-3), Fixed(9), Frequency(2), accounting="printed")
    assert protocol.guarantee == label
    assert protocol.guarantee_note == ""


def test_a_plug_in_that_says_nothing_has_an_upper_bound():
    mine = variant(guarantees={})
    assert interface_faults(mine) == []
    assert (
        mine.calibrate(Budget(1.0, 1e-3), Fixed(9), Frequency(2), accounting="printed").guarantee == "upper"
    )


def test_who_does_not_say_the_accounting_has_the_weakest_label():
    mine = variant(guarantees={"printed": Standing("unproven", "why"), "exact": EXACT})
    protocol = mine(Fixed(9), 1.0, 0, False, 2)
    assert (protocol.guarantee, protocol.guarantee_note) == ("unproven", "why")


@pytest.mark.parametrize(
    ("attributes", "message"),
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
        with pytest.raises(ValueError, match=f"{label} needs a note"):
            Standing(label)
    with pytest.raises(ValueError, match="guarantee must be one of exact, upper"):
        Standing("best")
    with pytest.raises(ValueError, match="no weakest"):
        weakest([])
    assert weakest([EXACT, Standing("unproven", "a"), UPPER, Standing("unproven", "b")]).note == "a"


def test_errata_named_in_reasons_exist():
    claims = Path(shuffledp.__file__).parent / "claims"
    known = set()
    for path in claims.rglob("*.yaml"):
        known |= set(re.findall(r"^\s*- id: (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    sources = "".join(
        path.read_text(encoding="utf-8") for path in (claims.parent / "accounting").rrglob("*.py")
    )
    noted = [s.note for k, n in LABELS for s in get(k, n).guarantees.values()]
    named = set(re.findall(r"\(([A-Z]+-[A-Z]?[\d.]+)\)", " ".join(noted) + sources))
    assert {"SEG-6.1", "SEG-6.2", "RP-E16", "RP-E4", "DUMP-N4", "DUMP-N8", "SUM-N2", "SG-4"} <= named
    assert named <= known
    assert NAMED_FUNCTIONS  # their reasons stand in the same sources


# -- witnesses: small cases by enumeration, without the accounting --------------------------------------------------


def joined(*laws):
    """Law of a sum of independent vectors of counts."""
    total = {(0,) * len(next(iter(laws[0]))): 1.0}
    for law in laws:
        more = Counter()
        for (x, p), (y, q) in itertools.product(total.items(), law.items()):
            more[tuple(a + b for a, b in zip(x, y, strict=True))] += p * q
        total = more
    return total


def divergence(one, other, eps):
    return sum(max(p - math.exp(eps) * other.get(x, 0.0), 0.0) for x, p in one.items())


def unit(item, d):
    return tuple(int(i == item) for i in range(d))


def times_in(note):
    """The factors that a note names, in its order."""
    return [float(x) for x in re.findall(r"([\d.]+) times", note)]


def test_witness_of_segmented_as_printed():
    d, n, eps, delta = 3, 5, 0.45, 1e-3
    protocol = get("sets", "segmented").calibrate(
        Budget(eps, delta), Fixed(n - 1), Sets(d, 1), blankets=2.0, accounting="printed"
    )
    rate, slots = protocol.plan.rates[0], protocol.plan.slots
    assert (slots.count, slots.rate) == (2, 1.0)  # two blanket messages of each user for certain
    blankets = joined(*[{unit(i, d): 1 / d for i in range(d)}] * (2 * n))

    def report(item):
        return {(0,) * d: 1 - rate, unit(item, d): rate}

    known = divergence(joined(blankets, report(0)), joined(blankets, report(1)), eps)
    unknown = max(
        divergence(joined(rest, report(0)), joined(rest, report(1)), eps)
        for others in itertools.combinations_with_replacement(range(d), n - 1)
        for rest in [joined(blankets, *map(report, others))]
    )
    assert [float(f"{x / delta:.2g}") for x in (known, unknown)] == times_in(protocol.guarantee_note)
    assert protocol.guarantee == "violated"
    assert unknown > 5 * delta


def test_witness_of_the_shuffled_subset_mechanism_as_printed():
    d, n, eps, delta = 5, 4, 3.0, 1e-3
    protocol = get("sets", "subset_shuffled").calibrate(
        Budget(eps, delta), Fixed(n - 1), Sets(d, 1), accounting="printed"
    )
    assert protocol.mechanism.subset_size == 1  # randomized response
    weight = math.exp(protocol.mechanism.eps_local)

    def report(item):
        return {unit(i, d): (weight if i == item else 1) / (weight + d - 1) for i in range(d)}

    truth = max(
        divergence(joined(rest, report(0)), joined(rest, report(1)), eps)
        for others in itertools.combinations_with_replacement(range(d), n - 1)
        for rest in [joined(*map(report, others))]
    )
    assert [round(truth / delta)] == times_in(protocol.guarantee_note)
    assert protocol.guarantee == "violated"
    sound = get("sets", "subset_shuffled").calibrate(
        Budget(eps, delta), Fixed(n - 1), Sets(d, 1), accounting="corrected"
    )
    assert sound.mechanism.eps_local < protocol.mechanism.eps_local


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
    ("name", "options"), [("flexible_pure_dump", {}), ("flexible_mix_dump", {"eps_local": 600.0})]
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


def test_witness_of_public_coin_beyond_its_proof():
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
