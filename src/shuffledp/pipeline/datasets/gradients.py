"""Gradients of softmax regression at zero weights, one per image, without a matrix of all gradients.

The gradient of an image is the outer product of ``p - e_label`` and ``[pixels, 1]``. At zero weights every ``p`` is the
uniform distribution, so that the first factor depends on the label alone. Sums of gradients therefore follow from one
weighted sum of ``[pixels, 1]`` per label.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

#: Number of images that are scaled together, so that they stay in the processor's cache.
_ROWS = 64


class SoftmaxGradients:
    """Clipped gradients of the cross-entropy loss of softmax regression with bias, at zero weights.

    Coordinate ``c * (pixels + 1) + j`` belongs to class c and pixel j; the largest j of each class is the bias. Pixels
    are stored as bytes and converted one label at a time, which needs a tenth of the memory.
    """

    def __init__(
        self, images: NDArray[np.generic], labels: NDArray[np.generic], clip: float, *, classes: int = 10
    ) -> None:
        flat = np.asarray(images, np.uint8).reshape(len(images), -1) if len(images) else np.empty((0, 0))
        checked_labels = np.asarray(labels, np.int64)
        if (
            not len(flat)
            or checked_labels.shape != (len(flat),)
            or checked_labels.min() < 0
            or checked_labels.max() >= classes
        ):
            raise ValueError(
                f"{len(flat)} images need as many labels in 0..{classes - 1}, got {checked_labels.shape[0]} labels."
            )
        order = np.argsort(checked_labels, kind="stable")  # images of a label stand together
        self._pixels = flat[order].astype(np.uint8)
        self._labels = checked_labels[order]
        self._starts = np.searchsorted(self._labels, np.arange(classes + 1))
        self._pattern = np.full((classes, classes), 1 / classes) - np.eye(classes)  # p - e_label, by label
        residual = 2 * (1 - 1 / classes)  # its l1 norm
        norms = residual * (self._pixels.sum(axis=1, dtype=np.int64) / 255 + 1)
        self._factors = np.minimum(1.0, clip / norms)

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def dimension(self) -> int:
        """Length of a gradient, the number of classes times (number of pixels + 1)."""
        return int(len(self._pattern) * (self._pixels.shape[1] + 1))

    def vectors(self, which: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the gradients of a few images, (len(which), dimension)."""
        outer = self._pattern[self._labels[which]][:, :, None] * self._scaled(which)[:, None, :]
        return np.asarray(outer.reshape(len(which), self.dimension))

    def sums(self, times: NDArray[np.generic]) -> NDArray[np.float64]:
        """Return sums of gradients in which each image counts `times` times."""
        result = np.zeros((len(times), len(self._pattern), self._pixels.shape[1] + 1))
        # One for all labels: fresh memory takes longer than the products.
        room = np.empty((int(np.diff(self._starts).max()), self._pixels.shape[1] + 1))
        for pattern, rows in self._by_label():
            used = rows.start + np.flatnonzero(times[:, rows].any(axis=0))
            sums = times[:, used].astype(float) @ self._scaled(used, room[: used.size])
            result += pattern[:, None] * sums[:, None, :]
        return result.reshape(len(times), self.dimension)

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """Mean gradient of all images, (dimension,)."""
        return np.asarray(self.sums(np.ones((1, len(self)), dtype=bool))[0] / len(self))

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """Variance of each coordinate over all images, (dimension,), divisor n - 1."""
        squares = np.zeros((len(self._pattern), self._pixels.shape[1] + 1))
        for pattern, rows in self._by_label():
            indices = np.arange(rows.start, rows.stop)
            squares += pattern[:, None] ** 2 * (self._scaled(indices) ** 2).sum(axis=0)
        centered = squares.reshape(-1) - len(self) * self.mean**2
        return np.asarray(np.maximum(centered, 0) / max(len(self) - 1, 1))

    def _by_label(self) -> Iterator[tuple[NDArray[np.float64], slice]]:
        for label, pattern in enumerate(self._pattern):
            yield pattern, slice(int(self._starts[label]), int(self._starts[label + 1]))

    def _scaled(
        self, which: NDArray[np.integer], table: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return ``[pixels, 1]`` times the clipping factor, (len(which), pixels + 1), written into `table` if given."""
        table = np.empty((len(which), self._pixels.shape[1] + 1)) if table is None else table
        table[:, -1] = 1
        for begin in range(0, len(which), _ROWS):
            rows, part = which[begin : begin + _ROWS], table[begin : begin + _ROWS]
            np.divide(self._pixels[rows], 255, out=part[:, :-1])
            part *= self._factors[rows][:, None]
        return table
