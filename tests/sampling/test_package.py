"""Samplers for deployments have their exact laws, and use integers only."""

import ast
import math
import subprocess
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, repeat
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import shuffledp.sampling
from drawn_numbers import follow
from exact_laws import SeededBits, agrees, by_bits, by_coins, exponential, paths, table
from shuffledp.numerics import discrete_gaussian_pmf
from shuffledp.sampling import (
    Exponential,
    FixedBits,
    OutOfBits,
    bernoulli,
    binomial,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    laws,
    logarithmic,
    negative_binomial,
    negative_binomial_clusters,
    poisson,
    shuffled,
    uniform_below,
)

F = Fraction
SOURCE = Path(shuffledp.sampling.__file__).parent

# -- coins and uniform numbers, by all of their bits ---------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9])
def test_uniform_numbers(count):
    found = by_bits(lambda source: uniform_below(count, source), 12)
    assert set(found[0]) == set(range(count))
    assert agrees(found, lambda value: F(1, count), 0.1)


@pytest.mark.parametrize("heads", [F(0), F(1), F(1, 2), F(3, 8), F(1, 3), F(22, 23), F(1, 1000)])
def test_coins_of_rational_probability(heads):
    found = by_bits(lambda source: bernoulli(heads, source), 14)
    # Each bit leaves half of what was undecided; of a probability with finitely many digits nothing is left.
    assert found[1] == (0 if 2**14 % heads.denominator == 0 else F(1, 2**14))
    assert agrees(found, table({True: heads, False: 1 - heads}), 0.001)


@pytest.mark.parametrize("exponent", [F(0), F(1, 2), F(1), F(2, 7), F(5, 2), F(7, 3)])
def test_coins_of_exponential_probability(exponent):
    found = by_bits(lambda source: bernoulli(Exponential(exponent), source), 12)
    low, high = exponential(exponent)
    assert agrees(found, lambda shown: (low, high) if shown else (1 - high, 1 - low), 0.06)


@pytest.mark.parametrize(
    "trials, heads", [(0, F(1, 3)), (3, F(1, 3)), (4, F(5, 8)), (2, F(9, 10)), (3, F(1))]
)
def test_binomial_numbers(trials, heads):
    found = by_bits(lambda source: binomial(trials, heads, source), 14)
    assert agrees(found, lambda j: math.comb(trials, j) * heads**j * (1 - heads) ** (trials - j), 0.08)


def test_binomial_numbers_of_exponential_coins():
    found = by_bits(lambda source: binomial(2, Exponential(1), source), 13)
    low, high = exponential(F(1))
    assert agrees(
        found,
        lambda j: (
            math.comb(2, j) * low**j * (1 - high) ** (2 - j),
            math.comb(2, j) * high**j * (1 - low) ** (2 - j),
        ),
        0.1,
    )


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_orders(count):
    found = by_bits(lambda source: tuple(shuffled("abc"[:count], source)), 12)
    assert set(found[0]) == set(permutations("abc"[:count]))
    assert agrees(found, lambda order: F(1, math.factorial(count)), 0.02)


# -- laws of rational coins, by all paths of coins -----------------------------------------------------------------


@pytest.mark.parametrize("ratio", [F(0), F(1, 2), F(2, 3)])
def test_geometric_numbers(ratio):
    found = by_coins(lambda source: geometric(ratio, source), F(1, 1000))
    assert agrees(found, lambda j: (1 - ratio) * ratio**j, 0.003)


@pytest.mark.parametrize("mean", [F(0), F(1, 3), F(1, 2), F(1)])
def test_poisson_numbers(mean):
    found = by_coins(lambda source: poisson(mean, source), F(1, 4000))
    low, high = exponential(mean)
    assert agrees(
        found, lambda j: (low * mean**j / math.factorial(j), high * mean**j / math.factorial(j)), 0.15
    )


def choose(top, j):
    """Return C(top, j) for a fraction."""
    return math.prod((top - i) / F(i + 1) for i in range(j)) if j else F(1)


@pytest.mark.parametrize(
    "shape, ratio, nothing",  # `nothing` is (1 - ratio)^shape, a rational number in these cases
    [
        (F(1, 2), F(3, 4), F(1, 2)),
        (F(3, 2), F(5, 9), F(8, 27)),
        (F(2), F(1, 3), F(4, 9)),
        (F(0), F(1, 3), F(1)),
    ],
)
def test_negative_binomial_numbers(shape, ratio, nothing):
    found = by_coins(lambda source: negative_binomial(shape, ratio, source), F(1, 4000))
    assert agrees(found, lambda j: choose(j + shape - 1, j) * ratio**j * nothing, 0.1)


@pytest.mark.parametrize(
    "shape, ratio, nothing",
    [(F(1, 2), F(3, 4), F(1, 2)), (F(1), F(1, 2), F(1, 2)), (F(2), F(1, 3), F(4, 9))],
)
def test_clusters_are_independent_poisson_numbers(shape, ratio, nothing):
    """exp(-sum of the means) is (1 - ratio)^shape; c clusters of a size with mean m have weight m^c / c!."""
    found = by_coins(
        lambda source: tuple(sorted(negative_binomial_clusters(shape, ratio, source))), F(1, 2500)
    )
    assert {(), (1,), (2,), (1, 1), (1, 2)} <= set(found[0])

    def law(sizes):
        means = {size: (shape * ratio**size / size, times) for size, times in Counter(sizes).items()}
        return nothing * math.prod(mean**times / F(math.factorial(times)) for mean, times in means.values())

    assert agrees(found, law, 0.2)


def test_logarithmic_numbers():
    found, undecided = by_coins(lambda source: logarithmic(F(1, 2), source), F(1, 10000))
    # ln 2 = sum of 2^-j / j, which up to 40 terms lacks less than 2^-40
    low = sum(F(1, j * 2**j) for j in range(1, 41))
    high = low + F(1, 2**40)
    assert agrees((found, undecided), lambda j: (F(1, j * 2**j) / high, F(1, j * 2**j) / low), 0.05)


# -- laws of exponential coins: weights of one round of rejection, as exponents ------------------------------------


class Rejected(Exception):  # noqa: N818  (an outcome, not an error)
    """Signal that a sampler requests a second proposal."""


def one_round(draw, asked, values, monkeypatch):
    """Return the accepted results of one round of rejection, with the paths of coins, for each proposed value."""
    accepted = defaultdict(list)
    for value in values:

        def round_of(source, value=value):
            proposals = iter([value])

            def propose(parameter, source):
                for proposal in proposals:
                    return proposal
                raise Rejected

            monkeypatch.setattr(laws, asked, propose)
            try:
                return draw(source)
            except Rejected:
                return Rejected

        for drawn, path in paths(round_of, F(1, 10**6)):
            if drawn is not Rejected:
                accepted[drawn].append((path.probability, path.exponent, path.tails))
    return accepted


@pytest.mark.parametrize("square", [F(1, 10), F(1), F(7, 3), F(40), F(10**30, 7)])
def test_accepted_gaussian_proposals(square, monkeypatch):
    """The proposal's weight times the acceptance's weight is exp(-y^2 / (2 sigma^2)), up to a constant."""
    scale = math.isqrt(int(square)) + 1
    found = one_round(
        lambda source: discrete_gaussian(square, source), "discrete_laplace", range(-9, 10), monkeypatch
    )
    assert set(found) == set(range(-9, 10))
    weights = {y: abs(y) / F(scale) + exponent for y, ((_, exponent, _),) in found.items()}
    assert all(weights[y] - weights[0] == F(y * y) / (2 * square) for y in weights)
    assert all(one == 1 and not tails for ((one, _, tails),) in found.values())


def test_accepted_laplace_proposals(monkeypatch):
    """Both signs of every size are accepted, but only one sign of zero; weights are as for the geometric number."""
    found = one_round(lambda source: discrete_laplace(F(7, 3), source), "geometric", range(9), monkeypatch)
    assert set(found) == set(range(-8, 9))
    assert all(ways == [(F(1, 2), 0, ())] for ways in found.values())


@pytest.mark.parametrize("speed, length", [(1, 1), (1, 4), (3, 7), (5, 2)])
def test_geometric_numbers_of_exponential_ratio(speed, length):
    """Every whole number x is proposed in one way, with weight exp(-x / t); the result is x / s, rounded down."""
    found = defaultdict(list)
    law = Exponential(F(speed, length))
    # A second round is less probable than 1 / length, and left undecided.
    for drawn, path in paths(lambda source: geometric(law, source), F(1, length), longest=14):
        if drawn is not None:
            assert path.tails == (1,)
            found[drawn].append(path.exponent * length)
    for j in range(8 // speed):
        assert sorted(found[j]) == list(range(j * speed, (j + 1) * speed))


# -- many draws with bits of a seed --------------------------------------------------------------------------------


GAUSSIAN = discrete_gaussian_pmf(2.0)
DRAWS = 2500
#: Sampler, probability of a value, range of counted values, and the stated bound on the expected bits.
DRAWN = {
    "exponential coin": (
        lambda s: int(bernoulli(Exponential(F(3, 2)), s)),
        stats.bernoulli(math.exp(-1.5)).pmf,
        (0, 1),
        11,
    ),
    "binomial": (lambda s: binomial(20, F(2, 7), s), stats.binom(20, 2 / 7).pmf, (0, 20), 40),
    "geometric": (lambda s: geometric(F(3, 4), s), stats.geom(0.25, -1).pmf, (0, 60), 8),
    "exponential": (
        lambda s: geometric(Exponential(F(2, 9)), s),
        stats.planck(2 / 9).pmf,
        (0, 90),
        3.2 * 4 + 15,
    ),
    "laplace": (lambda s: discrete_laplace(F(5, 2), s), stats.dlaplace(0.4).pmf, (-50, 50), 7 * 3 + 32),
    "gaussian": (
        lambda s: discrete_gaussian(4, s),
        lambda y: GAUSSIAN[y + GAUSSIAN.size // 2],
        (-20, 20),
        3 * (7 * 2 + 43),
    ),
    "poisson": (lambda s: poisson(F(7, 3), s), stats.poisson(7 / 3).pmf, (0, 30), 8 * 5),
    "polya": (
        lambda s: negative_binomial(F(7, 5), Exponential(F(1, 3)), s),
        stats.nbinom(1.4, -math.expm1(-1 / 3)).pmf,
        (0, 70),
        None,
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_many_draws(name):
    """The chi-square test has a false-alarm rate of 1e-6; the seed's bits are fixed."""
    draw, probability, (low, high), most_bits = DRAWN[name]
    source = SeededBits(1)
    drawn = [draw(source) for _ in range(DRAWS)]
    values = np.arange(low, high + 1)
    assert follow(drawn, values, [probability(value) for value in values], 8)
    assert {type(value) for value in drawn} == {int}
    if most_bits is not None:
        # Where the bound is attained, the standard error of the mean is about 1 % of it.
        assert source.used / DRAWS <= 1.04 * most_bits


# -- where bits come from ------------------------------------------------------------------------------------------


def test_fixed_bits_are_ordered_and_end():
    source = FixedBits([1, 0, 1])
    assert (source.bits(0), source.bits(2), source.used) == (0, 2, 2)
    with pytest.raises(OutOfBits, match="All 3 bits"):
        source.bits(2)
    with pytest.raises(ValueError, match="must be 0 or 1, got 2"):
        FixedBits([2]).bits(1)
    assert FixedBits(repeat(1)).bits(5) == 31


# -- integers alone ------------------------------------------------------------------------------------------------


def test_modules_avoid_floats_and_other_sources():
    for path in SOURCE.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        constants = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        assert not [c for c in constants if isinstance(c, float | complex)], path.name
        # `float` is named in one place, to be refused
        called = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        assert not called & {"float", "round", "exp", "log", "sqrt", "math.exp", "math.log", "math.sqrt"}
        modules = {
            name.partition(".")[0]
            for n in ast.walk(tree)
            if isinstance(n, ast.Import | ast.ImportFrom)
            for name in ([n.module] if isinstance(n, ast.ImportFrom) else [a.name for a in n.names])
        }
        assert modules <= {*sys.stdlib_module_names, "shuffledp"} - {"random", "numpy"}, path.name


def test_parameters_may_exceed_all_floats():
    source = SeededBits(2)
    large = 10**400
    drawn = [
        discrete_laplace(F(large, 3), source),
        discrete_gaussian(F(large**2, 7), source),
        uniform_below(large, source),
        negative_binomial(2, Exponential(F(1, large)), source),
    ]
    assert all(abs(value) > 10**390 for value in drawn)
    assert binomial(3, F(1, large), source) == 0
    assert poisson(F(1, large), source) == 0
    assert discrete_gaussian(F(1, large), source) == 0
    assert not bernoulli(Exponential(large), source)


def test_the_standard_library_is_enough():
    program = (
        f"import sys; sys.path.insert(0, {str(SOURCE.parents[1])!r})\n"
        "from shuffledp.sampling import *\n"
        "assert 0 <= uniform_below(9) < 9 and isinstance(discrete_laplace(3), int)\n"
        "print({m.partition('.')[0] for m in sys.modules} - set(sys.stdlib_module_names) - {'__main__'})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "{'shuffledp'}"), done.stderr


# -- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: uniform_below(0), r"uniform_below: count must be an integer >= 1, got 0"),
        (lambda: uniform_below(2.0), r"count must be an integer >= 1, got 2.0"),
        (lambda: uniform_below(True), r"count must be an integer"),
        (
            lambda: bernoulli(0.1),
            r"got 0.1. Fraction\(0.1\) is that number to the last bit, Fraction\('0.1'\)",
        ),
        (lambda: bernoulli(F(3, 2)), r">= 0 and <= 1, got Fraction\(3, 2\)"),
        (lambda: bernoulli("1"), r"bernoulli: heads must be an integer or a Fraction"),
        (lambda: binomial(-1, F(1, 2)), r"trials must be an integer >= 0, got -1"),
        (lambda: Exponential(-1), r"Exponential: exponent must be .* >= 0, got -1"),
        (lambda: Exponential(float("nan")), r"exponent must be an integer or a Fraction"),
        (lambda: geometric(1), r"geometric: ratio must be .* >= 0 and < 1, got 1"),
        (lambda: geometric(Exponential(0)), r"geometric: ratio must be below 1"),
        (lambda: logarithmic(-1), r"logarithmic: ratio must be"),
        (lambda: discrete_laplace(0), r"discrete_laplace: scale must be .* > 0, got 0"),
        (lambda: discrete_gaussian(-1), r"sigma_squared must be .* > 0"),
        (lambda: poisson(-1), r"poisson: mean must be .* >= 0"),
        (lambda: negative_binomial(-1, F(1, 2)), r"negative_binomial: shape must be"),
        (lambda: negative_binomial(1, 1), r"negative_binomial: ratio must be"),
        (
            lambda: negative_binomial_clusters(None, F(1, 2)),
            r"negative_binomial_clusters: shape must be .* got None",
        ),
    ],
)
def test_bad_parameters_are_one_sentence(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_integers_of_numpy_are_integers():
    assert uniform_below(np.int64(1)) == 0
    assert type(binomial(np.int64(3), np.int64(1))) is int
