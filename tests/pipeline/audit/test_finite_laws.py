"""Finite laws of the audit against direct sums, and their divergences against brute force."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import binom, multinomial, nbinom

from references.laws import log_binomial, log_negative_binomial, log_poisson
from shuffledp.pipeline.audit import finite_laws
from shuffledp.pipeline.audit.finite_laws import (
    Block,
    Error,
    Pair,
    PairNoise,
    added,
    binomial_counts,
    binomial_share,
    hockey_stick,
    in_cells,
    mixed,
    multinomial_counts,
    negative_binomial_counts,
    negative_binomials,
    outcomes,
    plus,
    point,
    poisson_counts,
    pooled,
)
from shuffledp.pipeline.audit.frequency import gaussian_counts, laplace_counts, polya_modulo
from shuffledp.populations import Binomial, Empirical, Poisson


def brute_force(pairs, eps):
    """Return the hockey-stick divergence with 40 digits."""
    with mpmath.workdps(40):
        total, grow = mpmath.mpf(0), mpmath.exp(eps)
        for cells in product(*(range(pair.p.size) for pair in pairs)):
            p = mpmath.fprod(pair.p[i] for pair, i in zip(pairs, cells, strict=True))
            q = mpmath.fprod(pair.q[i] for pair, i in zip(pairs, cells, strict=True))
            total += max(0, p - grow * q)
        return total


def random_pairs(rng, sizes):
    pairs = []
    for size in sizes:
        p, q = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))
        p[0], q[-1] = 0.0, 0.0  # outcomes that only one of them has
        pairs.append(Pair(p / p.sum(), q / q.sum()))
    return pairs


@pytest.mark.parametrize("sizes", [(4,), (3, 5), (4, 3, 5), (3, 3, 3, 4)])
@pytest.mark.parametrize("eps", [0.0, 0.4, 2.0])
def test_hockey_stick_of_products(sizes, eps):
    pairs = random_pairs(np.random.default_rng([len(sizes), int(10 * eps)]), sizes)
    found, exact = hockey_stick(pairs, eps), brute_force(pairs, eps)
    assert found.low <= exact <= found.high
    assert found.low == pytest.approx(found.high, rel=1e-12)


def test_grid_rounds_to_both_sides(monkeypatch):
    pairs = random_pairs(np.random.default_rng(1), (5, 6, 7))
    exact = brute_force(pairs, 0.7)
    monkeypatch.setattr(finite_laws, "_MULTIPLIED", 1)
    on_grid = hockey_stick(pairs, 0.7)
    assert exact * (1 - 1e-3) <= on_grid.low < exact < on_grid.high <= exact * (1 + 1e-3)
    assert hockey_stick(pairs, 0.7, below=True).high < exact


def test_omitted_mass_is_no_loss():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    whole = hockey_stick([Pair(p, q)], 0.1)
    for cut in range(3):
        kept = np.delete(np.arange(3), cut)
        part = Pair(p[kept], q[kept], Error(beyond=p[cut]), Error(beyond=q[cut]))
        assert hockey_stick([part], 0.1).low <= whole.low
        assert hockey_stick([part], 0.1).high >= whole.high


def test_outcomes_are_matched_by_their_counts():
    first, second = Block(np.array([0.4, 0.6]), (0,)), Block(np.array([0.4, 0.6]), (1,))
    p, q, *_ = outcomes(first, second)
    assert p.tolist() == [0.4, 0.6, 0.0]
    assert q.tolist() == [0.0, 0.4, 0.6]


def test_adding_users_convolves():
    block = point(1)
    for _ in range(7):
        block = plus(block, {(0,): 0.7, (1,): 0.3})
    assert block.mass == pytest.approx(binom.pmf(np.arange(8), 7, 0.3))
    moved = plus(block, {(-2,): 1.0})
    assert moved.start == (-2,)
    assert moved.mass == pytest.approx(block.mass)


def test_mixtures_weigh_their_parts():
    found = mixed([(0.25, binomial_counts(1, 0.5)), (0.75, Block(np.ones(1), (2,)))])
    assert found.start == (0,)
    assert found.mass.tolist() == pytest.approx([0.125, 0.125, 0.75])


@pytest.mark.parametrize("total, chances", [(5, [0.2, 0.3]), (90, [0.1, 0.25]), (7, [0.5, 0.5]), (4, [1.0])])
def test_multinomial_counts(total, chances):
    block = multinomial_counts(total, chances)
    rest = max(0.0, 1 - sum(chances))
    for place in product(*(range(s, s + n) for s, n in zip(block.start, block.mass.shape, strict=True))):
        left = total - sum(place)
        expected = multinomial.pmf([*place, left], total, [*chances, rest]) if left >= 0 else 0.0
        at = tuple(x - s for x, s in zip(place, block.start, strict=True))
        assert block.mass[at] == pytest.approx(expected, rel=1e-10, abs=1e-300)
    assert block.mass.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("step", [(0, 0), (1, 0), (2, 3), (-1, 2), (3, 0)])
def test_pair_noise_is_two_counts(step):
    ratio, common, band, top = 0.4, ((0.7, 0.5), (1.3, 0.8)), 3, 60
    both = negative_binomials(common).mass
    alone = nbinom.pmf(np.arange(top), 1, 1 - ratio)
    table = np.zeros((top + both.size, top + both.size))
    for times, chance in enumerate(both):
        table[times : times + top, times : times + top] += chance * np.outer(alone, alone)
    pair = PairNoise(ratio, common, band)
    block = pair.move_counts(step)
    assert block.mass.sum() == pytest.approx(1, abs=1e-13)
    expected = np.zeros(block.mass.shape)
    for i, j in product(range(len(table)), repeat=2):
        place = pair.tallied(i + step[0], j + step[1])
        at = tuple(x - s for x, s in zip(place, block.start, strict=True))
        if all(0 <= x < n for x, n in zip(at, expected.shape, strict=True)):
            expected[at] += table[i, j]
    assert block.mass == pytest.approx(expected, abs=1e-12)


def test_pooled_tables_keep_the_mass():
    block = multinomial_counts(30, [0.2, 0.5])
    ends, table = pooled(block, 4)
    assert table.sum() == pytest.approx(block.mass.sum())
    assert [len(end) + 1 for end in ends] == list(table.shape)
    x = np.arange(block.mass.shape[0]) + block.start[0]
    inside = np.searchsorted(ends[0], x, side="right") == 1
    assert table[1].sum() == pytest.approx(block.mass[inside].sum())


# -- bounds on errors ----------------------------------------------------------------------------------------------


def log_failures(k, shape, stop):
    return log_negative_binomial(k, shape, 1 - mpmath.mpf(stop))


def log_laplace(k, ratio):
    ratio = mpmath.mpf(ratio)
    return mpmath.log((1 - ratio) / (1 + ratio)) + abs(k) * mpmath.log(ratio)


def log_gaussian(k, sigma):
    weights = [-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(sigma) ** 2) for x in (k, *range(-400, 401))]
    return weights[0] - mpmath.log(mpmath.fsum(map(mpmath.exp, weights[1:])))


@pytest.mark.parametrize(
    "law, log_pmf, parameters",
    [
        (binomial_counts, log_binomial, (40, 0.3)),
        (binomial_counts, log_binomial, (10**4, 0.5)),
        (binomial_counts, log_binomial, (10**6, 1e-5)),
        (binomial_counts, log_binomial, (10**8, 0.9)),
        (poisson_counts, log_poisson, (1e-3,)),
        (poisson_counts, log_poisson, (5e5,)),
        (negative_binomial_counts, log_failures, (0.01, 0.2)),
        (negative_binomial_counts, log_failures, (700.0, 0.02)),
        (laplace_counts, log_laplace, (0.9,)),
        (gaussian_counts, log_gaussian, (20.5,)),
    ],
)
def test_probabilities_are_within_their_error(law, log_pmf, parameters):
    block = law(*parameters)
    cells = np.unique(np.linspace(0, block.mass.size - 1, 40).astype(int))
    with mpmath.workdps(40):
        for cell in cells.tolist():
            true = mpmath.exp(log_pmf(block.start[0] + cell, *parameters))
            assert abs(block.mass[cell] - true) <= block.error.share * true + finite_laws._TINY
        least = -math.inf if log_pmf in (log_laplace, log_gaussian) else 0
        most = parameters[0] if log_pmf is log_binomial else math.inf
        for outside in (block.start[0] - 1, block.start[0] + block.mass.size):
            if least <= outside <= most:
                assert mpmath.exp(log_pmf(outside, *parameters)) <= block.error.beyond
    assert block.error.share < 1e-11 and block.error.beyond < 1e-22


@pytest.mark.parametrize("trials", [30, 1000, 10**4, 10**6])
def test_binomial_tails_are_within_error(trials):
    rng = np.random.default_rng(trials)
    with mpmath.workdps(40):
        for z in rng.uniform(0.5, 9.0, 12):
            k = min(int(trials / 2 + z * math.sqrt(trials) / 2), trials)
            own = mpmath.exp(log_binomial(k, trials, 0.5))
            term, tail, j = own, own, k
            while j < trials and term > tail * mpmath.mpf(10) ** -25:
                term, j = term * (trials - j) / (j + 1), j + 1
                tail += term
            assert abs(betainc(k, trials - k + 1, 0.5) / tail - 1) <= binomial_share(trials) / 1.2
            assert abs(binom.pmf(k, trials, 0.5) / own - 1) <= binomial_share(trials) / 2


@pytest.mark.parametrize("law", [Binomial(10**4, 0.3), Binomial(10**6, 0.01), Poisson(1e5)], ids=str)
def test_population_windows_are_within_error(law):
    window = law.window()
    with mpmath.workdps(40):
        for cell in np.linspace(0, window.pmf.size - 1, 30).astype(int).tolist():
            at = window.start + cell
            log_pmf = (
                log_poisson(at, law.mean)
                if isinstance(law, Poisson)
                else log_binomial(at, law.trials, law.rate)
            )
            assert abs(window.pmf[cell] / mpmath.exp(log_pmf) - 1) <= finite_laws.WINDOW / 2
    thinned = Empirical(tuple((window.pmf / window.pmf.sum()).tolist()), window.start).thinned(0.2).window()
    whole = law.thinned(0.2).window(1e-12)
    start = whole.start - thinned.start
    assert thinned.pmf[start : start + whole.pmf.size] == pytest.approx(whole.pmf, rel=finite_laws.WINDOW)


def test_gaussian_cells_are_within_error():
    edges = np.linspace(-12, 12, 4001) - 0.3
    block = in_cells(edges)
    with mpmath.workdps(40):
        for cell in range(1, 4001, 97):
            true = mpmath.ncdf(edges[cell]) - mpmath.ncdf(edges[cell - 1])
            assert abs(block.mass[cell] - true) <= block.error.share * true / 8


def test_transforms_are_within_their_error(monkeypatch):
    one, two = binomial_counts(3000, 0.3), poisson_counts(400.0)
    direct = added(one, two)
    monkeypatch.setattr(finite_laws, "_DIRECT", 0)
    blurred = added(one, two)
    assert 0 < np.linalg.norm(direct.mass - blurred.mass) <= blurred.error.norm < 1e-13
    whole, near = polya_modulo(1000, 0.9, 1.0), polya_modulo(1000, 0.9, 1.0 + 2**-52)
    assert 0 < np.linalg.norm(whole.mass - near.mass) <= near.error.norm + 1e-15 < 1e-13


def test_poisson_count_without_mean_is_zero():
    nothing = poisson_counts(0.0)
    assert (nothing.mass.tolist(), nothing.start) == ([1.0], (0,))
