"""Labeled images for training, all of one size, stored as bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import Positive, Unit, check_fields

#: Mean of the pixels of the training images, gray values over 255.
MNIST_MEAN = 0.1307
#: Standard deviation of the pixels of the training images, gray values over 255.
MNIST_SPREAD = 0.3081
#: Height and width of the images.
MNIST_SIZE = 28


@dataclass(frozen=True, eq=False)
class LearningData:
    """Images and labels for training and for testing; one user per training image.

    Images are (n, height, width, channels) of uint8, and labels (n,) of int32 from 0. The network's input is (value /
    255 - mean) / spread per pixel. Raises ``ValueError`` if shapes or types do not match, or without images.
    """

    train_images: NDArray[np.uint8]
    train_labels: NDArray[np.int32]
    test_images: NDArray[np.uint8]
    test_labels: NDArray[np.int32]
    mean: Unit = MNIST_MEAN
    spread: Positive = MNIST_SPREAD

    def __post_init__(self) -> None:
        check_fields(self)
        for part in ("train", "test"):
            images, labels = getattr(self, f"{part}_images"), getattr(self, f"{part}_labels")
            if images.ndim != 4 or images.dtype != np.uint8 or not len(images):
                raise ValueError(
                    f"{part}_images must be (n, height, width, channels) of uint8 with n >= 1, got "
                    f"{images.shape} of {images.dtype}."
                )
            if labels.shape != (len(images),) or labels.dtype != np.int32 or labels.min() < 0:
                raise ValueError(
                    f"{part}_labels must be {len(images)} int32 values >= 0, got {labels.shape} of {labels.dtype}."
                )
        if self.train_images.shape[1:] != self.test_images.shape[1:]:
            raise ValueError(
                f"Images for training are {self.train_images.shape[1:]}, for testing {self.test_images.shape[1:]}."
            )

    @property
    def users(self) -> int:
        """Number of training images."""
        return len(self.train_images)

    @property
    def image(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        height, width, channels = self.train_images.shape[1:]
        return int(height), int(width), int(channels)

    @cached_property
    def digest(self) -> str:
        """Hex sha256 of arrays, mean and spread."""
        sha = hashlib.sha256(repr((self.mean, self.spread)).encode())
        for values in (self.train_images, self.train_labels, self.test_images, self.test_labels):
            sha.update(repr((values.shape, values.dtype.str)).encode())
            sha.update(np.ascontiguousarray(values).data)
        return sha.hexdigest()


def fitted(images: NDArray[np.uint8], size: int = MNIST_SIZE) -> NDArray[np.uint8]:
    """Return images as size x size: enlarged by the largest possible integer, then centered in zeros.

    Images are (n, height, width) or (n, height, width, channels) of uint8, with neither side above `size`; the result
    has the channels as last axis. A digit of 8 x 8 pixels becomes one of 24 x 24, about the size of digits of MNIST.
    Raises ``ValueError`` for images of another form, empty or too large.
    """
    images = np.asarray(images)
    if images.ndim == 3:
        images = images[..., None]
    if images.ndim != 4 or images.dtype != np.uint8:
        raise ValueError(f"images must be (n, height, width) of uint8, got {images.shape} of {images.dtype}.")
    height, width = images.shape[1:3]
    if not 1 <= min(height, width) <= max(height, width) <= size:
        raise ValueError(f"Images of {height} x {width} pixels do not fit into {size} x {size}.")
    times = size // max(height, width)
    grown = images.repeat(times, axis=1).repeat(times, axis=2) if times > 1 else images
    above, beside = ((size - full) // 2 for full in grown.shape[1:3])
    below, right = size - grown.shape[1] - above, size - grown.shape[2] - beside
    return np.pad(grown, ((0, 0), (above, below), (beside, right), (0, 0)))


def learning_data(arrays: Mapping[str, NDArray[np.generic]]) -> LearningData:
    """Return digits for training from `train_images`, `train_labels`, `test_images` and `test_labels`.

    The stand-in's images of 8 x 8 pixels are enlarged to 28 x 28 (see `fitted`), so that both data sets have one
    network; its accuracy is no estimate for MNIST. Raises ``ValueError`` if an array is missing or images and labels do
    not match.
    """
    names = ("train_images", "train_labels", "test_images", "test_labels")
    if missing := [name for name in names if name not in arrays]:
        raise ValueError(f"Data for training lack {', '.join(missing)}.")
    images = [fitted(np.asarray(arrays[name], np.uint8)) for name in names[::2]]
    labels = [np.asarray(arrays[name]).astype(np.int32) for name in names[1::2]]
    return LearningData(images[0], labels[0], images[1], labels[1])
