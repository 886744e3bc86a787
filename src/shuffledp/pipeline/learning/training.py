"""Private gradient descent: sums of the participants' clipped gradients, noise, and one step per round.

Random numbers of a round are from streams named by (seed, purpose, round). A resumed run therefore draws the same
numbers as an uninterrupted one, two plans that differ only in noise have the same participants, and states of
generators are not stored.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.learning import checkpoint as checkpoints
from shuffledp.pipeline.learning.checkpoint import State
from shuffledp.pipeline.learning.clipping import clipped_sum
from shuffledp.pipeline.learning.curve import Point, Progress, TrainingCurve
from shuffledp.pipeline.learning.data import LearningData
from shuffledp.pipeline.learning.network import forward, initial_parameters, losses, no_taps
from shuffledp.pipeline.learning.plan import Network, TrainingPlan

_INITIAL, _PARTICIPANTS, _NOISE, _SAMPLE = range(4)
_TEST_CHUNK = 100


def train(
    plan: TrainingPlan,
    data: LearningData,
    *,
    checkpoint: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    every_seconds: float = 5.0,
) -> TrainingCurve:
    """Run a plan, or its remaining rounds if the checkpoint exists.

    The checkpoint remains after the last round, so that the same call then returns without training. `every_seconds` is
    the least time between two checkpoints, and between two calls of `progress`; 0 means after every round. The state is
    saved before `progress` is called, and after the last round.

    The curve has points at round 0, every `plan.evaluate_every` rounds and the last round. With the same versions,
    machine and number of threads, it is the same to the last bit after any interruptions. Raises `CheckpointError` if
    the checkpoint is damaged or of another run, and ``ValueError`` if the plan does not fit the data.
    """
    _check_fit(plan, data)
    digest = data.digest if checkpoint else ""
    state = checkpoints.load(checkpoint, plan, digest, _machine()) if checkpoint else None
    run = _Run(plan, data, state)
    saved = mark = time.monotonic()
    marked = None  # the first round compiles, so the clock starts after it
    while run.round < plan.rounds:
        run.advance()
        now = time.monotonic()
        if marked is None:
            mark, marked = now, run.round
        if now - saved < every_seconds and run.round < plan.rounds:
            continue
        saved = now
        if checkpoint:
            checkpoints.save(checkpoint, plan, digest, run.state(), _machine())
        if progress:
            rounds_since_mark = run.round - marked
            seconds_left = (
                (now - mark) / rounds_since_mark * (plan.rounds - run.round) if rounds_since_mark else None
            )
            progress(Progress(run.round, plan.rounds, run.points[-1].accuracy, seconds_left))
    return TrainingCurve(tuple(run.points))


def participants(plan: TrainingPlan, users: int, number: int) -> NDArray[np.int64]:
    """Draw the users who take part in a round (counted from 1), in any order, each at most once."""
    rng = _stream(plan, _PARTICIPANTS, number)
    if plan.batch is not None:
        return rng.choice(users, plan.batch, replace=False)
    assert plan.rate is not None
    return np.flatnonzero(rng.random(users) < plan.rate)


def noise(plan: TrainingPlan, count: int, number: int) -> NDArray[np.float32]:
    """Draw the noise of all reports in a round (from 1): N(0, count C^2 sigma^2 I), (plan.network.size,) float32."""
    scale = math.sqrt(count) * plan.clip * plan.noise_multiplier
    return _stream(plan, _NOISE, number).standard_normal(plan.network.size, np.float32) * np.float32(scale)


def accuracy(network: Network, parameters: NDArray[np.float32], data: LearningData) -> tuple[float, float]:
    """Return the accuracy in [0, 1] and the mean cross-entropy in nats on the test images."""
    right, lost = _tested(
        network, parameters, data.test_images, data.test_labels, data.mean, data.spread
    )  # per image, padded
    count = len(data.test_images)
    return (
        float(np.count_nonzero(np.asarray(right)[:count]) / count),
        float(np.asarray(lost)[:count].mean(dtype=np.float64)),
    )


def _stream(plan: TrainingPlan, purpose: int, number: int = 0) -> np.random.Generator:
    return np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(plan.seed, spawn_key=(purpose, number)))
    )


def _machine() -> dict[str, Any]:
    """Return the versions and settings that affect the last digits of sums."""
    return {
        "jax": jax.__version__,
        "device": jax.devices()[0].device_kind,
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "flags": os.environ.get("XLA_FLAGS", ""),
    }


def _check_fit(plan: TrainingPlan, data: LearningData) -> None:
    if data.image != plan.network.image:
        raise ValueError(f"The network is for images {plan.network.image}, the data have {data.image}.")
    if plan.batch is not None and plan.batch > data.users:
        raise ValueError(
            f"batch must be at most {data.users}, the number of users of the data, got {plan.batch}."
        )
    most = max(int(data.train_labels.max()), int(data.test_labels.max()))
    if most >= plan.network.classes:
        raise ValueError(
            f"Labels go up to {most}, but the network has {plan.network.classes} outputs from 0."
        )


class _Run:
    """State of a run at some round, initial or from a saved state."""

    def __init__(self, plan: TrainingPlan, data: LearningData, state: State | None) -> None:
        self._plan, self._data = plan, data
        if state is None:
            start = initial_parameters(plan.network, _stream(plan, _INITIAL))
            state = State(0, start, np.zeros(start.shape), ())
        self.round = state.round
        self._parameters = state.parameters
        self._average = state.average.copy()
        self.points = list(state.points)
        if not self.points:
            self._evaluate(0)

    def state(self) -> State:
        return State(self.round, self._parameters, self._average, tuple(self.points))

    def advance(self) -> None:
        plan, self.round = self._plan, self.round + 1
        chosen = participants(plan, self._data.users, self.round)
        if len(chosen):
            self._step(chosen)
        if plan.averaging:
            self._average += (1 - plan.averaging) * (self._parameters - self._average)
        if plan.evaluated(self.round):
            self._evaluate(len(chosen))

    def _step(self, chosen: NDArray[np.int64]) -> None:
        plan, count = self._plan, len(chosen)
        if plan.sampled is not None and plan.sampled < count:
            chosen = _stream(plan, _SAMPLE, self.round).choice(chosen, plan.sampled, replace=False)
        rows = _capacity(plan, self._data.users, len(chosen))
        images = np.zeros((rows, *self._data.image), np.uint8)
        labels = np.zeros(rows, np.int32)
        images[: len(chosen)] = self._data.train_images[chosen]
        labels[: len(chosen)] = self._data.train_labels[chosen]
        batch = _Batch(
            jnp.asarray(images), jnp.asarray(labels), len(chosen), self._data.mean, self._data.spread
        )
        step = _Step(plan.step(self.round) / count, count / len(chosen), plan.clip)
        parameters = _moved(plan.network, self._parameters, batch, noise(plan, count, self.round), step)
        self._parameters = np.asarray(parameters)

    def _evaluate(self, count: int) -> None:
        parameters = self._parameters
        if self._plan.averaging and self.round:
            parameters = (self._average / (1 - self._plan.averaging**self.round)).astype(np.float32)
        self.points.append(Point(self.round, *accuracy(self._plan.network, parameters, self._data), count))


def _capacity(plan: TrainingPlan, users: int, needed: int) -> int:
    """Return the number of rows of a batch; it rarely changes, because each new shape is compiled."""
    if plan.batch is not None:
        return needed
    assert plan.rate is not None
    mean = users * plan.rate
    rows = math.ceil(mean + 6 * math.sqrt(mean))
    if plan.sampled is not None:
        rows = min(rows, plan.sampled)
    while rows < needed:
        rows *= 2
    return rows


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class _Batch:
    """Images and labels, whose rows from `count` on are padding, with the moments of all images."""

    images: jax.Array
    labels: jax.Array
    count: int
    mean: float
    spread: float


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class _Step:
    """Length of a step along noise plus `weight` times the sum of the gradients, clipped to the norm `clip`."""

    length: float
    weight: float
    clip: float


@partial(jax.jit, static_argnames="network")
def _moved(
    network: Network, parameters: jax.Array, batch: _Batch, noise: jax.Array, step: _Step
) -> jax.Array:
    """Return the parameters after one step."""
    images = _standardized(batch.images, batch.mean, batch.spread)
    total = clipped_sum(network, parameters, images, batch.labels, batch.count, step.clip)
    updated: jax.Array = parameters - step.length * (step.weight * total + noise)
    return updated


def _standardized(images: jax.Array, mean: float, spread: float) -> jax.Array:
    return (images.astype(jnp.float32) / 255 - mean) / spread


@partial(jax.jit, static_argnames="network")
def _tested(
    network: Network, parameters: jax.Array, images: jax.Array, labels: jax.Array, mean: float, spread: float
) -> tuple[jax.Array, jax.Array]:
    """Return, for each image, whether it is classified correctly, and its loss; rows beyond the images are padding."""
    missing = -len(images) % _TEST_CHUNK
    images = jnp.pad(images, ((0, missing), (0, 0), (0, 0), (0, 0)))
    labels = jnp.pad(labels, (0, missing))

    def chunk(some: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        taps = no_taps(network, _TEST_CHUNK, parameters.dtype)
        logits, _ = forward(network, parameters, _standardized(some[0], mean, spread), taps)
        return logits.argmax(1) == some[1], losses(logits, some[1])

    parts = (images.reshape(-1, _TEST_CHUNK, *images.shape[1:]), labels.reshape(-1, _TEST_CHUNK))
    right, lost = jax.lax.map(chunk, parts)
    return right.reshape(-1), lost.reshape(-1)
