"""Forward pass of the network: convolutions as products of patches and weights, parameters as one flat vector.

Patches are gathered by strided slices with static bounds, which the CPU code of XLA differentiates and maps over
examples several times faster than its own convolution. Every affine layer takes a *tap*, a number that is added to each
of its results: the derivative of the loss in the taps is what per-example clipping needs (see `clipping`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.learning.plan import Network

__all__ = ["forward", "initial_parameters", "losses", "no_taps", "patches", "pool", "unpacked"]


def initial_parameters(network: Network, rng: np.random.Generator) -> NDArray[np.float32]:
    """Parameters before training, (network.size,): uniform on +-1/sqrt(fan-in), layer by layer, biases too.

    Parameters
    ----------
    network : Network
        What is trained.
    rng : numpy.random.Generator
        Source of randomness.
    """
    parts = [
        rng.uniform(-1, 1, layer.size) / math.sqrt(layer.inputs) for layer in network.layers
    ]  # weights, row by row, then the bias
    return np.concatenate(parts).astype(np.float32)


def unpacked(network: Network, parameters: jax.Array) -> Iterator[tuple[jax.Array, jax.Array]]:
    """Weights (inputs, outputs) and bias (outputs,) of each layer of a flat vector of parameters."""
    start = 0
    for layer in network.layers:
        middle, end = start + layer.inputs * layer.outputs, start + layer.size
        yield parameters[start:middle].reshape(layer.inputs, layer.outputs), parameters[middle:end]
        start = end


def patches(images: jax.Array, kernel: int, stride: int) -> jax.Array:
    """All windows of images, (b, h, w, c) to (b, h', w', kernel kernel c).

    A window is listed column by column, each from top to bottom. Cutting rows first and columns then takes 2 kernel
    slices instead of kernel^2.
    """

    def cut(axis: int) -> list[slice]:
        count = (images.shape[axis] - kernel) // stride + 1
        return [slice(start, start + stride * (count - 1) + 1, stride) for start in range(kernel)]

    rows = jnp.concatenate([images[:, part] for part in cut(1)], axis=-1)
    return jnp.concatenate([rows[:, :, part] for part in cut(2)], axis=-1)


def pool(images: jax.Array, stride: int) -> jax.Array:
    """Largest value of each 2 x 2 window, (b, h, w, c) to (b, h', w', c); a last odd row or column is left out."""
    height, width = ((size - 2) // stride + 1 for size in images.shape[1:3])
    corners = [
        images[:, i : i + stride * (height - 1) + 1 : stride, j : j + stride * (width - 1) + 1 : stride]
        for i in range(2)
        for j in range(2)
    ]
    return jnp.maximum(jnp.maximum(corners[0], corners[1]), jnp.maximum(corners[2], corners[3]))


def no_taps(network: Network, examples: int, dtype: jnp.dtype) -> list[jax.Array]:
    """Zero taps, one (examples, positions, outputs) array per layer."""
    return [jnp.zeros((examples, layer.positions, layer.outputs), dtype) for layer in network.layers]


def forward(
    network: Network, parameters: jax.Array, images: jax.Array, taps: Sequence[jax.Array]
) -> tuple[jax.Array, list[jax.Array]]:
    """Outputs of the network and what its layers saw.

    Parameters
    ----------
    network : Network
        Shapes, static.
    parameters : (network.size,) array
        Flat vector.
    images : (b, height, width, channels) array
        Standardised.
    taps : sequence of (b, positions, outputs) arrays
        Added to the results of the layers, before pooling and activation.

    Returns
    -------
    logits : (b, classes) array
    inputs : list of (b, positions, inputs) arrays
        What each layer multiplied with its weights.

    Notes
    -----
    Activations are increasing, so they come after pooling, where fewer numbers are left.
    """
    activation = jnp.tanh if network.activation == "tanh" else jax.nn.relu
    affine = list(unpacked(network, parameters))
    seen: list[jax.Array] = []

    def apply(values: jax.Array) -> jax.Array:
        number = len(seen)
        weights, bias = affine[number]
        seen.append(values)
        return values @ weights + bias + taps[number]

    examples = len(images)
    edged = jnp.pad(images, ((0, 0), (3, 3), (3, 3), (0, 0)))
    windows = patches(edged, 8, 2).reshape(examples, -1, network.layers[0].inputs)
    hidden = apply(windows).reshape(examples, *network.first, 16)
    if network.pooling == "overlapping":
        hidden = activation(pool(hidden, 1))
    else:
        hidden = activation(pool(hidden, 2))
        rows, columns = (full - now for full, now in zip(network.pooled, hidden.shape[1:3], strict=True))
        hidden = jnp.pad(hidden, ((0, 0), (0, rows), (0, columns), (0, 0)))
    hidden = apply(patches(hidden, 4, 2).reshape(examples, -1, network.layers[1].inputs))
    hidden = hidden.reshape(examples, *network.second, 32)
    if network.pooling == "overlapping":
        hidden = pool(hidden, 1)
    hidden = activation(hidden).reshape(examples, 1, -1)
    hidden = activation(apply(hidden))
    return apply(hidden)[:, 0], seen


def losses(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Cross-entropy of each example, (b,), in nats."""
    rows = jnp.take_along_axis(logits, labels[:, None].astype(jnp.int32), axis=1)[:, 0]
    return jax.nn.logsumexp(logits, axis=1) - rows
