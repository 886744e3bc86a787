"""Plans of training runs: the network and the settings, without training code."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from shuffledp.numerics.argument_ranges import (
    check_choice,
    check_count,
    check_nonnegative,
    check_open_unit,
    check_positive,
    check_unit,
)

__all__ = ["ACTIVATIONS", "DECAYS", "KINDS", "POOLINGS", "Layer", "Network", "TrainingPlan"]

POOLINGS = ("disjoint", "overlapping")
ACTIVATIONS = ("tanh", "relu")
KINDS = ("shuffle_sgd", "checkin")
DECAYS = ("none", "linear")


@dataclass(frozen=True)
class Layer:
    """One affine layer; a convolution is a dense layer that is applied to every patch.

    Attributes
    ----------
    inputs, outputs : int
        Shape of the matrix of weights; `inputs` is the fan-in. The bias has `outputs` numbers.
    positions : int
        Number of patches that share the weights; 1 for a dense layer.
    """

    inputs: int
    outputs: int
    positions: int

    @property
    def size(self) -> int:
        """Number of weights and biases."""
        return (self.inputs + 1) * self.outputs


@dataclass(frozen=True)
class Network:
    """The small convolutional network that is usual in experiments with private gradient descent.

    Convolution to 16 channels (8 x 8, stride 2, padding 3), 2 x 2 max-pooling, convolution to 32 channels (4 x 4,
    stride 2), dense layer of 32, dense layer of one output per class.

    Parameters
    ----------
    pooling : {"disjoint", "overlapping"}
        "overlapping": stride 1 after both convolutions, 26,010 parameters for images of MNIST. "disjoint": stride
        2 after the first convolution only, whose 7 x 7 results are padded to 8 x 8; 18,842 parameters, and faster.
    activation : {"tanh", "relu"}
        After every layer but the last.
    image : (height, width, channels)
        Shape of an image.
    classes : int
        Number of labels, at least 2.

    Raises
    ------
    ValueError
        If an argument is out of range or images are too small for the second convolution.

    Notes
    -----
    The shuffle Gaussian paper does not name the network that it trained; this is an assumption.
    """

    pooling: str = "disjoint"
    activation: str = "tanh"
    image: tuple[int, int, int] = (28, 28, 1)
    classes: int = 10

    def __post_init__(self) -> None:
        check_choice("pooling", self.pooling, POOLINGS)
        check_choice("activation", self.activation, ACTIVATIONS)
        object.__setattr__(self, "classes", check_count("classes", self.classes, 2))
        if len(self.image) != 3:
            raise ValueError(f"image must be (height, width, channels), got {self.image!r}.")
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
        """Height and width after the first pooling, with the padding to an even size of "disjoint"."""
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
        less = int(self.pooling == "overlapping")
        return self.second[0] - less, self.second[1] - less, 32

    @property
    def layers(self) -> tuple[Layer, Layer, Layer, Layer]:
        """The affine layers from input to output."""
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
    """Return the number of positions of a kernel that moves over `size` pixels; 0 if it does not fit."""
    return max((size - kernel) // stride + 1, 0)


@dataclass(frozen=True)
class TrainingPlan:
    """Settings of one training run.

    In every round each participant clips the gradient of the user's loss to l2 norm C and adds N(0, C^2 sigma^2 I); the
    server sees the shuffled reports and steps along their mean. Only the sum of the reports matters to the
    model, so that a round draws one N(0, k C^2 sigma^2 I) for its k participants.

    Parameters
    ----------
    kind : {"shuffle_sgd", "checkin"}
        "shuffle_sgd": exactly `batch` participants, drawn without replacement and afresh in every round (not by
        cutting a permutation, which the bound for subsampled shuffling does not cover). Central DP-SGD, where the
        server adds N(0, C^2 sigma_central^2 I) to the sum, is the same run with sigma_central = sqrt(batch) sigma:
        the total noise is equal, and only the accounting differs. "checkin": every user joins each round with
        probability `rate`, so that Bin(n, rate) take part; a round without participants changes nothing.
    learning_rate : float
        Step along the mean of the reports, positive.
    clip : float
        C, largest l2 norm of a gradient, positive.
    noise_multiplier : float
        sigma, the noise of one report over C, at least 0. Replacing a record moves a clipped gradient by up to
        2C: formulas whose sigma is per unit of replacement distance take half of it.
    rounds : int
        Number of rounds, at least 1.
    evaluate_every : int
        Rounds between two points of the curve, which always has round 0 and the last.
    seed : int
        At least 0, of any length. Initial parameters, participants and noise have streams of their own, and each
        round has its own part of them.
    batch : int, optional
        Participants per round of "shuffle_sgd".
    rate : float, optional
        Check-in probability of "checkin", in (0, 1).
    network : Network
        Network to train.
    decay : {"none", "linear"}
        "linear": in round t of T the step is `learning_rate` (T - t + 1) / T.
    averaging : float
        In [0, 1). The curve shows the accuracy of an exponential average of all iterates, (1 - averaging) times the
        newest plus averaging times the older ones, with their weights scaled to sum to 1; 0 shows the
        iterates themselves. This is post-processing of released iterates: training and privacy do
        not depend on it.
    sampled : int, optional
        Shortcut of a simulation, not a protocol: the sum of clipped gradients is estimated from `sampled`
        participants, drawn afresh, times participants over `sampled`. Noise and participants stay as they are.
        None computes every gradient.

    Raises
    ------
    ValueError
        If a setting is out of range, or missing or superfluous for this kind.
    """

    kind: str
    learning_rate: float
    clip: float
    noise_multiplier: float
    rounds: int
    evaluate_every: int
    seed: int
    batch: int | None = None
    rate: float | None = None
    network: Network = field(default_factory=Network)
    decay: str = "none"
    averaging: float = 0.0
    sampled: int | None = None

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_positive("learning_rate", self.learning_rate)
        check_positive("clip", self.clip)
        check_nonnegative("noise_multiplier", self.noise_multiplier)
        for name in ("rounds", "evaluate_every", "batch", "sampled"):
            if getattr(self, name) is not None or name in ("rounds", "evaluate_every"):
                object.__setattr__(self, name, check_count(name, getattr(self, name), 1))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ValueError(f"seed must be an integer >= 0, got {self.seed!r}.")
        wanted, other = ("batch", "rate") if self.kind == "shuffle_sgd" else ("rate", "batch")
        if getattr(self, wanted) is None:
            raise ValueError(f"{wanted} must be given for kind {self.kind!r}.")
        if getattr(self, other) is not None:
            raise ValueError(f"{other} has no meaning for kind {self.kind!r}, got {getattr(self, other)!r}.")
        if self.rate is not None:
            check_open_unit("rate", self.rate)
        check_choice("decay", self.decay, DECAYS)
        check_unit("averaging", self.averaging)
        if self.averaging == 1:
            raise ValueError("averaging must be in [0, 1), got 1: no iterate would count.")

    def step(self, number: int) -> float:
        """Return the learning rate of a round, 1..rounds."""
        if self.decay == "none":
            return self.learning_rate
        return self.learning_rate * (self.rounds - number + 1) / self.rounds

    def evaluated(self, number: int) -> bool:
        """Return whether the curve has a point after a round, 0..rounds."""
        return number % self.evaluate_every == 0 or number == self.rounds

    def described(self) -> dict[str, Any]:
        """Return all settings as plain values, fit for JSON; equal plans give equal values."""
        return asdict(self)
