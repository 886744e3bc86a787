"""Plans of training runs: the network and the settings, without code for training."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from shuffledp.numerics.argument_ranges import (
    FromOne,
    FromTwo,
    NonNegative,
    OpenUnit,
    Positive,
    Unit,
    check_count,
    check_fields,
    one_of,
)

POOLINGS = ("disjoint", "overlapping")
ACTIVATIONS = ("tanh", "relu")
KINDS = ("shuffle_sgd", "checkin")
DECAYS = ("none", "linear")


@dataclass(frozen=True)
class Layer:
    """Affine layer with a (inputs, outputs) matrix and a bias; a convolution applies it to `positions` patches."""

    inputs: int
    outputs: int
    positions: int

    @property
    def size(self) -> int:
        """Number of weights and biases."""
        return (self.inputs + 1) * self.outputs


@dataclass(frozen=True)
class Network:
    """The small convolutional network that experiments with private gradient descent usually have.

    Convolution to 16 channels (8 x 8, stride 2, padding 3), 2 x 2 max-pooling, convolution to 32 channels (4 x 4,
    stride 2), dense layer of 32, dense layer of one output per class. The activation follows every layer but the last.
    The shuffle Gaussian paper does not name the network that it trained; this is an assumption.

    `pooling` "overlapping" has stride 1 after both convolutions, and 26,010 parameters for images of MNIST. "disjoint"
    has stride 2 after the first convolution only, whose 7 x 7 results are padded to 8 x 8; it has 18,842 parameters and
    is faster. `image` is (height, width, channels), and `classes` is at least 2. Raises ``ValueError`` for an argument
    out of range or images too small for the second convolution.
    """

    pooling: Annotated[str, one_of(POOLINGS)] = "disjoint"
    activation: Annotated[str, one_of(ACTIVATIONS)] = "tanh"
    image: tuple[int, int, int] = (28, 28, 1)
    classes: FromTwo = 10

    def __post_init__(self) -> None:
        if len(self.image) != 3:
            raise ValueError(f"image must be (height, width, channels), got {self.image!r}.")
        check_fields(self)
        names = ("height", "width", "channels")
        image = tuple(check_count(name, value, 1) for name, value in zip(names, self.image, strict=True))
        object.__setattr__(self, "image", image)  # a list of a configuration file becomes a tuple
        if min(self.second) < 1 or min(self.features[:2]) < 1:
            raise ValueError(
                f"Images of {self.image[0]} x {self.image[1]} pixels are too small for the network."
            )

    @property
    def first(self) -> tuple[int, int]:
        """Height and width after the first convolution."""
        return _after(self.image[0] + 6, 8, 2), _after(self.image[1] + 6, 8, 2)

    @property
    def pooled(self) -> tuple[int, int]:
        """Height and width after the first pooling; "disjoint" pooling pads them to an even size."""
        height, width = self.first
        if self.pooling == "overlapping":
            return height - 1, width - 1
        return height // 2 + height // 2 % 2, width // 2 + width // 2 % 2

    @property
    def second(self) -> tuple[int, int]:
        """Height and width after the second convolution."""
        height, width = self.pooled
        return _after(height, 4, 2), _after(width, 4, 2)

    @property
    def features(self) -> tuple[int, int, int]:
        """Height, width and channels of the input of the dense layers."""
        lost_pixels = int(self.pooling == "overlapping")
        return self.second[0] - lost_pixels, self.second[1] - lost_pixels, 32

    @property
    def layers(self) -> tuple[Layer, Layer, Layer, Layer]:
        """Affine layers from input to output."""
        return (
            Layer(8 * 8 * self.image[2], 16, math.prod(self.first)),
            Layer(4 * 4 * 16, 32, math.prod(self.second)),
            Layer(math.prod(self.features), 32, 1),
            Layer(32, self.classes, 1),
        )

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(layer.size for layer in self.layers)


def _after(size: int, kernel: int, stride: int) -> int:
    """Return the number of positions of a kernel along `size` pixels; 0 if the kernel does not fit."""
    return max((size - kernel) // stride + 1, 0)


@dataclass(frozen=True)
class TrainingPlan:
    """Settings of one training run.

    In every round each participant clips the gradient of the user's loss to l2 norm C and adds N(0, C^2 sigma^2 I); the
    server sees the shuffled reports and steps along their mean. The model depends only on the sum of the reports, so
    that a round draws one N(0, k C^2 sigma^2 I) for its k participants.

    `kind` "shuffle_sgd" has exactly `batch` participants, drawn without replacement and anew in every round (not from a
    permutation, which the bound for subsampled shuffling does not cover). Central DP-SGD, where the server adds N(0,
    C^2 sigma_central^2 I) to the sum, is the same run with sigma_central = sqrt(batch) sigma: the total noise is equal,
    and only the accounting differs. In "checkin" every user joins each round with probability `rate` in (0, 1), so that
    Bin(n, rate) take part; a round without participants changes nothing.

    `clip` is C, and `noise_multiplier` is sigma, the noise of one report over C, at least 0. Replacing a record changes
    a clipped gradient by up to 2C: formulas whose sigma is per unit of replacement distance take half of it. The curve
    has round 0, every `evaluate_every` rounds and the last round. `seed` is at least 0, of any length; initial
    parameters, participants and noise of each round have separate streams.

    With `decay` "linear" the step in round t of T is `learning_rate` (T - t + 1) / T. With `averaging` 0 the curve has
    the accuracy of each iterate. With `averaging` in (0, 1) the curve has the accuracy of an exponential average: (1 -
    averaging) times the newest iterate plus averaging times the older average, with weights scaled to sum to 1. The
    average is post-processing of released iterates, so that training and privacy do not depend on it. `sampled` is a
    shortcut of the simulation, not a protocol. The sum of clipped gradients is estimated from the gradients of
    `sampled` random participants, scaled to all participants; noise and participants are unchanged. None computes every
    gradient.

    Raises ``ValueError`` if a setting is out of range, or missing or superfluous for its kind.
    """

    kind: Annotated[str, one_of(KINDS)]
    learning_rate: Positive
    clip: Positive
    noise_multiplier: NonNegative
    rounds: FromOne
    evaluate_every: FromOne
    seed: int
    batch: FromOne | None = None
    rate: OpenUnit | None = None
    network: Network = field(default_factory=Network)
    decay: Annotated[str, one_of(DECAYS)] = "none"
    averaging: Unit = 0.0
    sampled: FromOne | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ValueError(f"seed must be an integer >= 0, got {self.seed!r}.")
        needed, other = ("batch", "rate") if self.kind == "shuffle_sgd" else ("rate", "batch")
        if getattr(self, needed) is None:
            raise ValueError(f"{needed} must be given for kind {self.kind!r}.")
        if getattr(self, other) is not None:
            raise ValueError(f"{other} has no meaning for kind {self.kind!r}, got {getattr(self, other)!r}.")
        if self.averaging == 1:
            raise ValueError("averaging must be in [0, 1), got 1: no iterate would count.")

    def step(self, number: int) -> float:
        """Return the learning rate of a round in 1..rounds."""
        if self.decay == "none":
            return self.learning_rate
        return self.learning_rate * (self.rounds - number + 1) / self.rounds

    def evaluated(self, number: int) -> bool:
        """Return whether the curve has a point after a round in 0..rounds."""
        return number % self.evaluate_every == 0 or number == self.rounds

    def described(self) -> dict[str, Any]:
        """Return all settings as plain values for JSON; equal plans give equal values."""
        return asdict(self)
