"""Sums of clipped per-example gradients, mostly without a matrix of the gradients.

One backward pass gives the derivative d of an example's loss with respect to the result of each layer at each position.
For the input a of a layer, the gradient of the weights is the sum of the outer products of a and d over positions, and
the gradient of the bias is the sum of d. A dense layer has one position, so that the squared norm is |a|^2 |d|^2 +
|d|^2 without a per-example matrix. The matrices of convolutions are small.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp

from shuffledp.pipeline.learning.network import forward, gathered, losses, no_taps
from shuffledp.pipeline.learning.plan import Network

#: Examples per backward pass: larger chunks leave the processor's cache.
CHUNK = 12

Gradient = tuple[jax.Array, jax.Array]  # in weights, (outputs, inputs), and in the bias


@partial(jax.jit, static_argnames=("network", "chunk"))
def clipped_sum(
    network: Network,
    parameters: jax.Array,
    images: jax.Array,
    labels: jax.Array,
    count: int | jax.Array,
    clip: float | jax.Array,
    *,
    chunk: int = CHUNK,
) -> jax.Array:
    """Return the sum of the first `count` examples' gradients, each scaled to an l2 norm of at most `clip`.

    The norm of the sum is at most `count` times `clip`. `parameters` is the flat vector of size ``network.size``, and
    its type is the type of all arithmetic. `images` is (rows, height, width, channels), with centered and scaled
    pixels, and `labels` is (rows,) in 0..classes-1. `count` in 0..rows may change between calls without a new
    compilation, and whole chunks of rows beyond it cost nothing. `chunk` examples are computed at a time; `chunk` need
    not divide the number of rows.
    """
    rows = len(images)
    missing = -rows % chunk
    images = jnp.pad(images, ((0, missing), (0, 0), (0, 0), (0, 0)))
    labels = jnp.pad(labels, (0, missing))

    def add(number: jax.Array, total: list[Gradient]) -> list[Gradient]:
        start = number * chunk
        some = jax.lax.dynamic_slice_in_dim(images, start, chunk)
        chunk_labels = jax.lax.dynamic_slice_in_dim(labels, start, chunk)
        in_batch = start + jnp.arange(chunk) < count
        chunk_sum = _chunk_sum(network, parameters, some, chunk_labels, in_batch, clip)
        return [(a + c, b + d) for (a, b), (c, d) in zip(total, chunk_sum, strict=True)]

    # The number of passes follows the number of participants, which a scan over all rows would not.
    passes = (jnp.asarray(count) + chunk - 1) // chunk
    zero = [
        (
            jnp.zeros((layer.outputs, layer.inputs), parameters.dtype),
            jnp.zeros(layer.outputs, parameters.dtype),
        )
        for layer in network.layers
    ]
    total = jax.lax.fori_loop(0, passes, add, zero)
    # Turned once at the end: in every pass the transposed product is the quicker one.
    return jnp.concatenate([part for weights, bias in total for part in (weights.T.reshape(-1), bias)])


def _chunk_sum(
    network: Network,
    parameters: jax.Array,
    images: jax.Array,
    labels: jax.Array,
    in_batch: jax.Array,
    clip: float | jax.Array,
) -> list[Gradient]:
    images = images.astype(parameters.dtype)

    def total_loss(taps: list[jax.Array]) -> tuple[jax.Array, list[jax.Array]]:
        logits, activations = forward(network, parameters, images, taps)
        return losses(logits, labels).sum(), activations

    taps = no_taps(network, len(images), parameters.dtype)
    deltas, activations = jax.grad(total_loss, has_aux=True)(taps)
    examples = len(images)
    first = gathered(jnp.einsum("bpk,bpo->bko", activations[0], deltas[0])).reshape(examples, -1)
    bias = deltas[0].reshape(examples, -1, 16).sum(1)
    squares = jnp.einsum("bk,bk->b", first, first) + (bias**2).sum(1)
    for a, d in zip(activations[1:], deltas[1:], strict=True):
        squares += ((_products(a) + 1) * _products(d)).sum((1, 2))
    factors = _factors(squares, in_batch, clip)
    sums = [((factors @ first).reshape(-1, 16).T, factors @ bias)]
    for a, d in zip(activations[1:], deltas[1:], strict=True):
        scaled = (factors[:, None, None] * d).reshape(-1, d.shape[-1])
        sums.append((scaled.T @ a.reshape(-1, a.shape[-1]), scaled.sum(0)))
    return sums


def _products(rows: jax.Array) -> jax.Array:
    """Return inner products of the rows at any two positions: (b, positions, k) becomes (b, positions, positions)."""
    return jnp.einsum("bpk,bqk->bpq", rows, rows)


def _factors(squares: jax.Array, in_batch: jax.Array, clip: float | jax.Array) -> jax.Array:
    """Return min(1, clip / norm), which is 1 for a zero gradient, and 0 for examples that do not count."""
    norms = jnp.sqrt(squares)
    return jnp.where(in_batch, jnp.where(norms > clip, clip / norms, 1.0), 0.0)


@partial(jax.jit, static_argnames="network")
def plain_clipped_sum(
    network: Network, parameters: jax.Array, images: jax.Array, labels: jax.Array, clip: float | jax.Array
) -> jax.Array:
    """Return the sum over all rows with one clipped gradient per row, to test and measure `clipped_sum`."""

    def loss(parameters: jax.Array, image: jax.Array, label: jax.Array) -> jax.Array:
        taps = no_taps(network, 1, parameters.dtype)
        logits, _ = forward(network, parameters, image[None].astype(parameters.dtype), taps)
        return losses(logits, label[None])[0]

    gradients = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(parameters, images, labels)
    total: jax.Array = _factors((gradients**2).sum(1), jnp.ones(len(images), bool), clip) @ gradients
    return total
