"""Points of designs as reports: sets, counts by transforms, calibration, and reference numbers."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import design_delta, design_local_budget
from shuffledp.populations import Fixed
from shuffledp.protocols import Messages, get
from shuffledp.protocols.frequency.hadamard_response import HadamardResponse
from shuffledp.protocols.frequency.pgr import Pgr
from shuffledp.protocols.frequency.pi_rappor import PiRappor
from shuffledp.protocols.frequency.recursive_hadamard import RecursiveHadamard
from shuffledp.tasks import Budget, Frequency, Participants, Public, Users

N, EPS, DELTA = 10**5, 1.0, 1e-8
SMALL = [
    *(Pgr(50, k, 1.3, q) for k, q in [(2, 2), (7, 2), (13, 3), (10, 3), (30, 5), (40, 3), (57, 7)]),
    *(PiRappor(50, k, 1.3, q) for k, q in [(2, 2), (6, 7), (7, 7), (20, 5), (30, 2)]),
    *(HadamardResponse(50, k, 1.3, b) for k, b in [(2, 1), (2, 2), (10, 1), (10, 2), (6, 2), (10, 16)]),
    *(RecursiveHadamard(50, k, 1.3, b) for k, b in [(2, 1), (10, 1), (10, 4), (16, 8), (5, 2)]),
]
NAMES = [f"{type(protocol).__name__}-{protocol.domain_size}-{i}" for i, protocol in enumerate(SMALL)]


def sets(protocol):
    """Return whether values favor points, for all points and values."""
    return protocol.favors(np.arange(protocol.alphabet_size), np.arange(protocol.domain_size))


@pytest.mark.parametrize("protocol", SMALL, ids=NAMES)
def test_sets_have_stated_share_and_overlap(protocol):
    found = sets(protocol).astype(float)
    both = found.T @ found / protocol.alphabet_size
    assert_allclose(np.diag(both), protocol.share, rtol=1e-13)
    pairs = both[~np.eye(len(both), dtype=bool)]
    assert pairs.min() >= protocol.overlap - 1e-13
    if isinstance(protocol, Pgr | PiRappor):
        assert_allclose(pairs, protocol.overlap, rtol=1e-13)
    elif protocol.blocks == 1 or protocol.domain_size > protocol.order - protocol.first_row:
        assert pairs.min() == pytest.approx(protocol.overlap, abs=1e-13)


@pytest.mark.parametrize("protocol", SMALL, ids=NAMES)
def test_transforms_equal_incidence_matrix(protocol):
    points = np.random.default_rng(3).integers(0, protocol.alphabet_size, 500)
    favored = protocol.favors(points, np.arange(protocol.domain_size))
    expected = favored.sum(axis=0)
    if isinstance(protocol, HadamardResponse | RecursiveHadamard):
        block, _ = protocol.places(np.arange(protocol.domain_size))
        expected = 2 * expected - np.sum(points[:, None] // protocol.order == block, axis=0)
    np.testing.assert_array_equal(protocol.aggregate(Messages(points)), expected)


@pytest.mark.parametrize("protocol", SMALL, ids=NAMES)
def test_reports_have_law_of_design(protocol):
    """Every point of a value's set is e^1.3 times as likely as any other; 6 standard deviations."""
    value, draws = protocol.domain_size - 1, 20_000
    points = protocol.encode(Users(np.full(draws, value)), np.random.default_rng(7)).payload
    weights = np.where(sets(protocol)[:, value], np.exp(1.3), 1.0)
    mean = draws * weights / weights.sum()
    found = np.bincount(points, minlength=protocol.alphabet_size)
    assert np.all(np.abs(found - mean) < 6 * np.sqrt(mean) + 3)


@pytest.mark.parametrize("protocol", SMALL, ids=NAMES)
def test_variance_is_of_all_reports(protocol):
    """Enumeration of every user's report, for skewed data."""
    k = protocol.domain_size
    held = np.arange(1, k + 1) ** 2
    weights = np.where(sets(protocol), np.exp(protocol.eps_local), 1.0)
    laws = weights / weights.sum(axis=0)
    one = [protocol.aggregate(Messages(np.array([point]))) for point in range(protocol.alphabet_size)]
    ends = protocol.estimate(np.array(one), Public(np.ones(len(one), int)))
    mean, square = laws.T @ ends, laws.T @ ends**2
    who = Participants.from_counts(held)
    assert_allclose(held @ mean / held.sum(), held / held.sum(), atol=1e-12)
    expected = held @ (square - mean**2) / held.sum() ** 2
    assert_allclose(protocol.expected_variance(who)[0], expected, rtol=1e-10)


# -- the blanket ---------------------------------------------------------------------------------------------------


def test_impossible_overlaps_are_refused():
    for overlap in (0.21, -0.1):
        with pytest.raises(ValueError, match="overlap"):
            design_delta(10, 1.0, 0.2, overlap, 0.3)
    with pytest.raises(ValueError, match="overlap"):
        design_local_budget(10, 0.3, 1e-3, 0.7, 0.3)


# -- reference numbers ----------------------------------------------------------------------------------------------


def errors(protocol, n):
    """Return the count variance averaged over the values, and of a value with a tenth of the users."""
    k = protocol.domain_size
    found = []
    for share in (1 / k, 0.1):
        held = np.full((1, k), n * (1 - share) / (k - 1))
        held[0, 0] = n * share
        found.append(protocol.expected_variance(Participants(Public(np.array([n])), held, held / n)) * n * n)
    return found[0].mean(), found[1][0, 0]


@pytest.mark.parametrize(
    "name, k, options, eps_local, mse, heavy, bits",
    [
        ("grr_blanket", 100, {}, 7.45286, 118.19, 629.9, 7),
        ("grr_blanket", 1_000, {}, 7.81096, 97.43, 4_103.2, 10),
        ("grr_blanket", 10_000, {}, 8.70727, 60.43, 16_581, 14),
        ("subset_selection", 100, {"size": 2}, 7.42779, 1_130.96, 1_298.7, 13),
        ("subset_selection", 1_000, {"size": 2}, 7.64886, 206.83, 2_550.1, 19),
        ("subset_selection", 1_000, {"size": 8}, 7.47322, 823.4, 1_450.6, 65),
        ("subset_selection", 10_000, {"size": 78}, 7.47563, 894.41, 1_537.4, 654),
        ("hadamard_response", 100, {}, 7.54019, 256.87, 1_481.6, 8),
        ("hadamard_response", 100, {"blocks": 1}, 7.86208, 99_154, 90_154, 7),
        ("hadamard_response", 1_000, {}, 8.03690, 173.76, 6_731.0, 11),
        ("recursive_hadamard", 1_000, {}, 7.81750, 296.27, None, 11),
        ("pi_rappor", 100, {}, 7.65760, 542.55, 2_737.3, 19),
        ("pi_rappor", 1_000, {"prime": 1009}, 7.81402, 237.27, 4_261.0, 20),
        ("pi_rappor", 10_000, {"prime": 2003}, 8.02933, 142.96, 6_655.4, 33),
        ("pgr", 100, {}, 7.45803, 9_126.8, 8_360.1, 8),
        ("pgr", 1_000, {}, 7.43118, 2_823.6, 2_767.2, 11),
        ("pgr", 10_000, {"target": "frequent"}, 7.46060, 1_109.7, 1_585.8, 14),
    ],
)
def test_reference_errors_of_shuffled_reports(name, k, options, eps_local, mse, heavy, bits):
    """Specification; 90,154 is its formula for one block, which enumeration confirms above, and not its 114,719."""
    budget = Budget(EPS, DELTA)
    protocol = get("frequency", name).calibrate(budget, Fixed(N - 1), Frequency(k), **options)
    assert protocol.parameters()["eps_local"] == pytest.approx(eps_local, abs=6e-6)
    average, frequent = errors(protocol, N)
    assert average == pytest.approx(mse, rel=1e-4)
    assert heavy is None or frequent == pytest.approx(heavy, rel=1e-4)
    assert np.ceil(protocol.cost().bits_per_message) == bits


@pytest.mark.parametrize("name", ["pgr", "pi_rappor", "hadamard_response", "recursive_hadamard"])
def test_the_target_decides(name):
    """The protocol of each target has no larger error than the other, and one pair differs."""
    made = {
        target: get("frequency", name).calibrate(
            Budget(EPS, DELTA), Fixed(N - 1), Frequency(1_000), target=target
        )
        for target in ("average", "frequent")
    }
    average, frequent = (errors(made[target], N) for target in ("average", "frequent"))
    assert average[0] <= frequent[0] and frequent[1] <= average[1]
    assert name == "pgr" or made["average"] != replace(made["frequent"], eps_local=made["average"].eps_local)


def test_too_large_alphabets_are_refused():
    with pytest.raises(ValueError, match="at most 2\\^26"):
        get("frequency", "pgr").calibrate(Budget(1.0, 1e-3), Fixed(99), Frequency(10), prime=1009)
