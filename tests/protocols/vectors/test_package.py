"""Means of vectors with Laplace noise: closed forms against formulas of Wang et al. 2023 and against messages."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ks_2samp

from shuffledp.accounting import Infeasible
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import conformance, get
from shuffledp.protocols.vectors._laplace import clipped
from shuffledp.protocols.vectors._participants import spread_of, sums_of_some
from shuffledp.tasks import Budget, Participants, Public, Users, Vectors

GRADIENT = Vectors(7850, 5.0)
SMALL = Vectors(3, 5.0)
SINGLE = ("local", "amplified", "non_adaptive", "adaptive")


def calibrated(name, eps, rate=0.05, task=GRADIENT, accounting="printed", **options):
    population = Binomial(59999, rate)
    return get("vectors", name).calibrate(
        Budget(eps, 1e-5), population, task, accounting=accounting, **options
    )


def numbers_of(n, task):
    """Return participants with known numbers only."""
    unknown = np.full((len(n), task.dimension), np.nan)
    return Participants(Public(np.asarray(n, np.int64)), unknown, unknown)


def vectors(n, task=SMALL, seed=1):
    """Return raw vectors, most of them longer than the clip, and participants with these vectors."""
    raw = np.random.default_rng(seed).normal(2.0, 3.0, (n, task.dimension))
    held = conformance.SameVectors(task, tuple(map(tuple, raw.tolist())))
    return raw, held


# -- the local randomizer ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_clipping_shortens_only_long_vectors(norm):
    task = Vectors(3, 5.0, norm)
    raw = np.array([[3.0, -4.0, 12.0], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0], [1e100, 1e100, 1e100]])
    got = clipped(raw, task)
    norms = np.linalg.norm(got, ord=1 if norm == "l1" else 2, axis=1)
    assert_allclose(norms, [5, 3 if norm == "l1" else math.sqrt(3), 0, 5], rtol=1e-12)
    assert_allclose(got[0] / got[0, 0], raw[0] / raw[0, 0], rtol=1e-12)
    assert np.array_equal(got[1:3], raw[1:3])


def test_other_dimensions_or_norms_are_refused():
    with pytest.raises(ValueError, match=r"shape \(n, 3\), got \(4, 2\)"):
        clipped(np.zeros((4, 2)), SMALL)
    protocol = calibrated("amplified", 0.5, task=SMALL)
    with pytest.raises(ValueError, match=r"must have shape \(2, 3\), got \(2, 2\)"):
        protocol.sample_aggregate(numbers_of([5, 6], Vectors(2, 5.0)), np.random.default_rng(0))
    for name in (*SINGLE, "random_checkin"):
        with pytest.raises(Infeasible, match="l1 norm, not in the l2 norm"):
            calibrated(name, 0.5, task=Vectors(3, 5.0, "l2"))


# -- messages against the fast law ---------------------------------------------------------------------------------


def test_random_checkin_reads_users_in_chunks():
    raw, held = vectors(12)
    whole = held(2)

    def chunks(repeat):
        for start in range(0, 12, 5):
            yield Users(raw[start : start + 5], offset=start)

    parts = Participants(whole.public, whole.counts, whole.truth, chunks)
    sizes = np.array([4, 12])
    one, other = (sums_of_some(who, SMALL, sizes, np.random.default_rng(0)) for who in (whole, parts))
    assert_allclose(one, other, rtol=1e-12)
    assert_allclose(one[1], whole.counts[1], rtol=1e-12)  # all twelve
    assert_allclose(spread_of(parts, SMALL)[0], clipped(raw, SMALL).var(axis=0, ddof=1), rtol=1e-12)
    nobody = Participants(whole.public, whole.counts, whole.truth)
    assert spread_of(nobody, SMALL) is None
    with pytest.raises(ValueError, match="raw inputs"):
        sums_of_some(nobody, SMALL, sizes, np.random.default_rng(0))


# -- caps of the sphere ----------------------------------------------------------------------------------------------


def unit_reports(d=4, n=10**4, clip=2.0, **options):
    task = Vectors(d, clip, "l2")
    return get("vectors", "privunit").calibrate(Budget(1.0, 1e-6), Fixed(n - 1), task, **options)


@pytest.mark.parametrize("d, cap_mass", [(2, 0.3), (4, 0.1), (1000, 0.01)])
def test_reports_are_uniform_in_caps(d, cap_mass):
    protocol = unit_reports(d, cap_mass=cap_mass)
    draws = 20_000 if d < 10 else 1000
    direction = np.random.default_rng(1).standard_normal(d)
    direction /= np.linalg.norm(direction)
    sent = protocol.encode(Users(np.tile(5 * direction, (draws, 1))), np.random.default_rng(2)).payload
    assert_allclose(np.linalg.norm(sent, axis=1), 1.0, rtol=1e-9)
    inner = sent @ direction
    inside = inner >= protocol.report.height
    p = protocol.in_cap
    assert abs(inside.mean() - p) < 5 * math.sqrt(p * (1 - p) / draws)
    assert abs(inner.mean() - protocol.report.mean) < 5 * inner.std() / math.sqrt(draws)
    # Uniform vectors, by rejection from the whole sphere.
    other = np.random.default_rng(3).standard_normal((20 * draws if d < 10 else 10_000, d))
    other = other @ direction / np.linalg.norm(other, axis=1)
    assert ks_2samp(inner[~inside], other[other < protocol.report.height]).pvalue > 1e-4
    assert ks_2samp(inner[inside], other[other >= protocol.report.height]).pvalue > 1e-4


def test_error_needs_the_vectors():
    protocol = unit_reports(10)
    assert protocol.expected_variance(numbers_of([7], protocol.task)) is None


def test_a_line_has_no_caps():
    with pytest.raises(Infeasible, match="two dimensions"):
        unit_reports(1)
    with pytest.raises(ValueError, match="cap_mass"):
        unit_reports(cap_mass=0.7)
