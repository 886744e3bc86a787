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
