import jax
import jax.numpy as jnp
import numpy as np
import pytest
from learning_problem import CHUNK, COUNT, ROWS, case
from numpy.testing import assert_allclose

from shuffledp.pipeline.learning import Network
from shuffledp.pipeline.learning.clipping import clipped_sum, plain_clipped_sum

# -- clipped sums ------------------------------------------------------------------------------------------------


def relative(got, want):
    return float(np.linalg.norm(np.asarray(got) - np.asarray(want)) / np.linalg.norm(np.asarray(want)))


@pytest.mark.parametrize(
    "network",
    [
        Network("disjoint", "tanh", (18, 21, 2), 3),
    ],
)
def test_clipped_sum_is_of_all_gradients(network):
    parameters, images, labels = case(network)
    rows = slice(0, COUNT)
    first = clipped_sum(network, parameters, images, labels, 1, 1e9, chunk=CHUNK)
    typical = float(jnp.linalg.norm(first))
    for clip in (0.01 * typical, typical, 1e9):  # all shortened, some, none
        got = clipped_sum(network, parameters, images, labels, COUNT, clip, chunk=CHUNK)
        want = plain_clipped_sum(network, parameters, images[rows], labels[rows], clip)
        assert relative(got, want) < 1e-6


@pytest.fixture(scope="module")
def tanh_case():
    network = Network("disjoint", "tanh")
    return network, *case(network)


def test_gradients_keep_direction_and_are_clipped(tanh_case):
    network, parameters, images, labels = tanh_case

    def one(i, clip):
        order = np.roll(np.arange(ROWS), -i)
        with jax.enable_x64(True):  # scaled factors of sums round differently from scaled sums
            exact = parameters.astype(float), images[order].astype(float)
            return np.asarray(clipped_sum(network, *exact, labels[order], 1, clip, chunk=CHUNK))

    whole = [one(i, 1e9) for i in range(8)]
    clip = float(np.median([np.linalg.norm(g) for g in whole]))
    shortened = 0
    for i, gradient in enumerate(whole):
        clipped = one(i, clip)
        assert np.linalg.norm(clipped) <= clip * (1 + 1e-6)
        assert_allclose(clipped, gradient * min(1, clip / np.linalg.norm(gradient)), rtol=1e-9, atol=1e-14)
        shortened += np.linalg.norm(gradient) > clip
    assert 0 < shortened < 8


def test_nobody_gives_zero(tanh_case):
    network, parameters, images, labels = tanh_case
    assert not np.any(clipped_sum(network, parameters, images, labels, 0, 0.5, chunk=CHUNK))
