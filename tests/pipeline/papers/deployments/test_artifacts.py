"""Settings of published artifacts: values of another program."""

import pytest

from shuffledp.pipeline.papers.deployments.artifacts import artifacts


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
