"""Forward pass of the network: convolutions as products of patches and weights, parameters as one flat vector.

Patches are gathered by strided slices with static bounds, which XLA differentiates and maps over examples on CPUs
several times faster than its own convolution. Every affine layer has a *tap*, a number that is added to each of its
results. Per-example clipping needs the derivative of the loss with respect to the taps (see `clipping`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.learning.plan import Network


def initial_parameters(network: Network, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return parameters before training, (network.size,): uniform on +-1/sqrt(fan-in), also for biases."""
    parts = [
        rng.uniform(-1, 1, layer.size) / math.sqrt(layer.inputs) for layer in network.layers
    ]  # weights, row by row, then the bias
    return np.concatenate(parts).astype(np.float32)


def unpacked(network: Network, parameters: jax.Array) -> Iterator[tuple[jax.Array, jax.Array]]:
    """Yield the weights (inputs, outputs) and the bias (outputs,) of each layer in a flat vector of parameters."""
    start = 0
    for layer in network.layers:
        middle, end = start + layer.inputs * layer.outputs, start + layer.size
        yield parameters[start:middle].reshape(layer.inputs, layer.outputs), parameters[middle:end]
        start = end


def patches(images: jax.Array, kernel: int, stride: int) -> jax.Array:
    """Return all windows of images, column by column: (b, h, w, c) becomes (b, h', w', kernel kernel c)."""
    examples, height, width, channels = images.shape
    turned = images.swapaxes(1, 2)
    rows = jnp.stack([turned[:, :, i : i + kernel] for i in range(0, height - kernel + 1, stride)], axis=1)
    rows = rows.reshape(examples, rows.shape[1], -1)
    starts = [j * kernel * channels for j in range(0, width - kernel + 1, stride)]
    windows = [rows[:, :, start : start + kernel * kernel * channels] for start in starts]
    return jnp.concatenate(windows, axis=-1).reshape(*rows.shape[:2], len(starts), -1)


def spread(weights: jax.Array) -> jax.Array:
    """Return weights of the first convolution for blocks of 2 x 2 positions: (64 c, 16) becomes (100 c, 64).

    The 8 x 8 windows at these positions, 2 pixels apart, lie in a window of 10 x 10, where all other weights are 0.
    Products of these larger matrices are faster, although they have more terms, and fewer patches are copied.
    """
    square = weights.reshape(8, 8, -1, 16)
    places = [
        jnp.pad(square, ((2 * j, 2 - 2 * j), (2 * i, 2 - 2 * i), (0, 0), (0, 0)))
        for i in range(2)
        for j in range(2)
    ]
    return jnp.concatenate(places, axis=-1).reshape(-1, 64)


def gathered(gradients: jax.Array) -> jax.Array:
    """Return the first convolution's gradients, (b, 64 c, 16), from gradients of `spread` weights, (b, 100 c, 64)."""
    small = jnp.zeros((gradients.shape[1] * 64 // 100, 16), gradients.dtype)
    turned: jax.Array = jax.vmap(jax.linear_transpose(spread, small))(gradients)[0]
    return turned


def pool(images: jax.Array) -> jax.Array:
    """Return the largest value of each 2 x 2 window: (b, h, w, c) becomes (b, h - 1, w - 1, c)."""
    rows = jnp.maximum(images[:, :-1], images[:, 1:])
    return jnp.maximum(rows[:, :, :-1], rows[:, :, 1:])


@jax.custom_vjp
def _largest(groups: jax.Array) -> jax.Array:
    """Return the largest of 4 values: (.., 4, c) becomes (.., c). The first of equal values has the derivative."""
    first, second, third, last = (groups[..., corner, :] for corner in range(4))
    return jnp.maximum(jnp.maximum(first, second), jnp.maximum(third, last))


def _largest_and_groups(groups: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    largest = _largest(groups)
    return largest, (groups, largest)


def _spread_derivative(saved: tuple[jax.Array, jax.Array], derivative: jax.Array) -> tuple[jax.Array]:
    groups, largest = saved
    parts, free = [], jnp.ones(largest.shape, bool)
    for corner in range(4):
        hit = (groups[..., corner, :] == largest) & free
        free &= ~hit
        parts.append(jnp.where(hit, derivative, 0))
    return (jnp.stack(parts, axis=-2),)


_largest.defvjp(_largest_and_groups, _spread_derivative)  # that of XLA takes four times as long


def no_taps(network: Network, examples: int, dtype: jnp.dtype) -> list[jax.Array]:
    """Return zero taps, an array (examples, positions, outputs) per layer; the first layer has 2 x 2 blocks."""
    shapes = [(layer.positions, layer.outputs) for layer in network.layers]
    shapes[0] = math.prod(_blocks(network)), 4 * 16
    return [jnp.zeros((examples, *shape), dtype) for shape in shapes]


def _blocks(network: Network) -> tuple[int, int]:
    """Return the numbers of 2 x 2 blocks of positions in the first convolution; blocks at odd edges are partial."""
    return (network.first[0] + 1) // 2, (network.first[1] + 1) // 2


def forward(
    network: Network, parameters: jax.Array, images: jax.Array, taps: Sequence[jax.Array]
) -> tuple[jax.Array, list[jax.Array]]:
    """Return the logits (b, classes), and the input (b, positions, inputs) of each layer.

    `images` are (b, height, width, channels), with centered and scaled pixels. `taps` are added to the results of the
    layers, before pooling and activation. Activations are increasing, so that pooling first gives the same values with
    fewer computations.
    """
    activation = jnp.tanh if network.activation == "tanh" else jax.nn.relu
    affine = list(unpacked(network, parameters))
    affine[0] = spread(affine[0][0]), jnp.tile(affine[0][1], 4)
    activations: list[jax.Array] = []

    def apply(values: jax.Array) -> jax.Array:
        number = len(activations)
        weights, bias = affine[number]
        activations.append(values)
        return values @ weights + bias + taps[number]

    examples = len(images)
    blocks = _blocks(network)
    edges = [(3, 4 * count + 3 - size) for count, size in zip(blocks, images.shape[1:3], strict=True)]
    windows = patches(jnp.pad(images, ((0, 0), *edges, (0, 0))), 10, 4)
    hidden = apply(windows.reshape(examples, -1, windows.shape[-1])).reshape(examples, *blocks, 64)
    if network.pooling == "overlapping":
        hidden = hidden.reshape(examples, *blocks, 2, 2, 16).swapaxes(2, 3)
        hidden = hidden.reshape(examples, 2 * blocks[0], 2 * blocks[1], 16)
        hidden = activation(pool(hidden[:, : network.first[0], : network.first[1]]))
    else:
        hidden = activation(_largest(hidden.reshape(examples, *blocks, 4, 16)))
        hidden = hidden[:, : network.first[0] // 2, : network.first[1] // 2]
        rows, columns = (full - now for full, now in zip(network.pooled, hidden.shape[1:3], strict=True))
        hidden = jnp.pad(hidden, ((0, 0), (0, rows), (0, columns), (0, 0)))
    hidden = apply(patches(hidden, 4, 2).reshape(examples, -1, network.layers[1].inputs))
    hidden = hidden.reshape(examples, *network.second, 32)
    if network.pooling == "overlapping":
        hidden = pool(hidden)
    hidden = activation(hidden).reshape(examples, 1, -1)
    hidden = activation(apply(hidden))
    return apply(hidden)[:, 0], activations


def losses(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the cross-entropy of each example, (b,), in nats."""
    rows = jnp.take_along_axis(logits, labels[:, None].astype(jnp.int32), axis=1)[:, 0]
    return jax.nn.logsumexp(logits, axis=1) - rows
