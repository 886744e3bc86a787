"""Settings of published artifacts: values of another program, and enumeration of a small attained eps."""

import itertools
import math

import pytest

from shuffledp.pipeline.papers.deployments.artifacts import artifacts, attained_epsilon


def column(name, artifact):
    rows = artifacts()
    return [float(one.split()[0]) for one in rows[rows["artifact"].str.contains(artifact)][name] if one]


@pytest.mark.parametrize(
    "artifact, name, values",
    [
        ("ml-shuffling", "any randomizer, proven", [0.169770]),
        ("ml-shuffling", "randomized response, proven", [0.118153]),
        ("HPS", "randomized response, proven", [0.10435, 0.02740, 0.008022]),
        ("HPS", "randomized response, attained", [0.09476, 0.02453, 0.007134]),
        ("krr_para", "printed", [0.003418, 0.041540]),
    ],
)
def test_values_of_another_program(artifact, name, values):
    assert column(name, artifact) == pytest.approx(values, rel=3e-4)  # four digits


def test_attained_eps_is_of_all_outputs():
    others, victim, delta = [(2, 0.5), (1, 1.5)], 1.0, 0.05
    budgets = [0.5, 0.5, 1.5]

    def law(own):
        counts = dict.fromkeys(range(5), 0.0)
        for bits in itertools.product((0, 1), repeat=4):
            chance = 1.0
            for bit, eps, held in zip(bits, [victim, *budgets], [own, 0, 0, 0], strict=True):
                chance *= 1 / (1 + math.exp(eps)) if bit != held else 1 / (1 + math.exp(-eps))
            counts[sum(bits)] += chance
        return list(counts.values())

    def lost(eps):
        pair = law(0), law(1)
        return max(
            sum(max(p - math.exp(eps) * q, 0) for p, q in zip(*way, strict=True))
            for way in (pair, pair[::-1])
        )

    eps = attained_epsilon(others, victim, delta)
    assert lost(eps) >= delta > lost(eps + 1e-6)
