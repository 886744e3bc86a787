import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from learning_problem import ROWS, case
from numpy.lib.stride_tricks import sliding_window_view
from numpy.testing import assert_allclose

from shuffledp.pipeline.learning import Network, available
from shuffledp.pipeline.learning.network import (
    forward,
    initial_parameters,
    losses,
    no_taps,
    unpacked,
)

SMALL = {"image": (16, 16, 1), "classes": 3}


# -- shapes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pooling, size, positions, features",
    [("overlapping", 26_010, 25, 512), ("disjoint", 18_842, 9, 288)],
)
def test_networks_have_the_stated_sizes(pooling, size, positions, features):
    network = Network(pooling)
    assert network.size == size
    assert [layer.positions for layer in network.layers] == [196, positions, 1, 1]
    assert network.layers[2].inputs == features
    assert len(initial_parameters(network, np.random.default_rng(0))) == size


def test_other_images_are_possible():
    colour = Network("overlapping", image=(32, 32, 3))
    assert colour.layers[0].inputs == 192
    assert colour.features == (5, 5, 32)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"pooling": "mean"}, "pooling must be one of disjoint, overlapping; got 'mean'"),
        ({"activation": "gelu"}, "activation must be one of tanh, relu"),
        ({"classes": 1}, "classes"),
        ({"image": (28, 28)}, "height, width, channels"),
        ({"image": (28, 0, 1)}, "width"),
        ({"image": (8, 8, 1)}, "8 x 8 pixels are too small"),
        ({"pooling": "overlapping", "image": (12, 12, 1)}, "12 x 12 pixels are too small"),
    ],
)
def test_impossible_networks_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Network(**arguments)


# -- forward pass ------------------------------------------------------------------------------------------------


def windows(images, kernel, stride):
    """Return windows (b, h', w', c, kernel, kernel) as numpy's views."""
    return sliding_window_view(images, (kernel, kernel), axis=(1, 2))[:, ::stride, ::stride]


def plain_logits(network, parameters, images):
    """Return logits in float64 by numpy: activation before pooling, and one einsum per convolution."""
    activation = np.tanh if network.activation == "tanh" else lambda x: np.maximum(x, 0)
    layers = [
        (np.asarray(weights, float), np.asarray(bias, float))
        for weights, bias in unpacked(network, np.asarray(parameters))
    ]

    def convolved(x, number, kernel):
        weights = layers[number][0].reshape(kernel, kernel, x.shape[-1], -1)  # column, row, channel
        return np.einsum("bhwcij,jico->bhwo", windows(x, kernel, 2), weights) + layers[number][1]

    x = np.pad(np.asarray(images, float), ((0, 0), (3, 3), (3, 3), (0, 0)))
    x = activation(convolved(x, 0, 8))
    if network.pooling == "overlapping":
        x = windows(x, 2, 1).max((-1, -2))
        x = windows(activation(convolved(x, 1, 4)), 2, 1).max((-1, -2))
    else:
        x = windows(x, 2, 2).max((-1, -2))
        x = np.pad(x, ((0, 0), (0, x.shape[1] % 2), (0, x.shape[2] % 2), (0, 0)))
        x = activation(convolved(x, 1, 4))
    x = activation(x.reshape(len(x), -1) @ layers[2][0] + layers[2][1])
    return x @ layers[3][0] + layers[3][1]


@pytest.mark.parametrize(
    "network",
    [
        Network("disjoint", "tanh"),
        Network("overlapping", "relu", **SMALL),
        *(
            Network(pooling, "tanh", (18, 21, 2), 3) for pooling in ("disjoint", "overlapping")
        ),  # 9 x 10 positions
    ],
)
def test_forward_pass_is_the_network(network):
    parameters, images, labels = case(network)
    taps = no_taps(network, ROWS, jnp.float32)
    logits, seen = jax.jit(forward, static_argnums=0)(network, parameters, images, taps)
    want = plain_logits(network, parameters, images)
    assert_allclose(logits, want, rtol=0, atol=2e-6 * abs(want).max())
    assert [a.shape for a in seen[1:]] == [
        (ROWS, layer.positions, layer.inputs) for layer in network.layers[1:]
    ]
    chosen = np.exp(want) / np.exp(want).sum(1, keepdims=True)
    assert_allclose(losses(logits, labels), -np.log(chosen[np.arange(ROWS), labels]), rtol=1e-4, atol=1e-6)


# -- without JAX -------------------------------------------------------------------------------------------------


def test_package_does_not_need_jax():
    assert available()
    code = """
import sys
sys.modules["jax"] = None  # what an import finds where it is not installed
from shuffledp.pipeline.learning import TrainingPlan, available
assert not available()
TrainingPlan("checkin", 1.0, 0.01, 5.0, 10, 5, 1, rate=0.1)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    code = "import sys, shuffledp.pipeline.learning; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
