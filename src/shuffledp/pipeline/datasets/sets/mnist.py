"""MNIST: images and labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.datasets.registry import Contents, Description, Prepared, PublishedDataset, Substitute

_FILES = {
    "train_images": "train-images-idx3-ubyte",
    "train_labels": "train-labels-idx1-ubyte",
    "test_images": "t10k-images-idx3-ubyte",
    "test_labels": "t10k-labels-idx1-ubyte",
}


def array_of(content: bytes) -> NDArray[np.uint8]:
    """Read an idx file of unsigned bytes."""
    header = 4 + 4 * content[3]
    shape = [int.from_bytes(content[i : i + 4], "big") for i in range(4, header, 4)]
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


class Mnist(PublishedDataset):
    """Images of handwritten digits."""

    title = "MNIST"
    citation = (
        "LeCun, Y., Cortes, C. and Burges, C. J. C. (1998). The MNIST database of handwritten digits. "
        "http://yann.lecun.com/exdb/mnist/"
    )
    description = Description(
        content="MNIST",
        records="70,000 images",
        used="training",
        transfer="12 MB",
        prepared=(
            "arrays `train_images`, `train_labels`, `test_images`, `test_labels` (unsigned bytes), in "
            "`data/prepared/mnist.npz`"
        ),
        substituted=(
            "1,797 digits of 8 x 8 pixels that come with scikit-learn, gray values stretched to 0..255, last fifth as "
            "test set"
        ),
        exact="none",
        lost="all properties of MNIST; never drawn on the paper's axes",
    )
    extension = "npz"
    columns = ("train_labels", "test_labels")

    def parse(self, files: Mapping[str, Path]) -> Contents:
        """Return images and labels."""
        return Contents(
            None, 70_000, {name: array_of(files[file].read_bytes()) for name, file in _FILES.items()}
        )

    def counts(self, data: Prepared, column: str) -> NDArray[np.int64]:
        """Return the images per label."""
        return np.bincount(data.arrays[column].astype(np.int64), minlength=10).astype(np.int64)

    def substitute(self, folder: Path) -> Substitute:
        """Return scikit-learn's 8 x 8 digits, gray values scaled from 0..16 to 0..255; the last fifth is for tests."""
        from sklearn.datasets import load_digits

        digits = load_digits()
        images = np.rint(digits.images * (255 / 16)).astype(np.uint8)
        labels = digits.target.astype(np.uint8)
        split = len(images) * 4 // 5
        arrays = (images[:split], labels[:split], images[split:], labels[split:])
        return Substitute(
            Contents(None, len(images), dict(zip(_FILES, arrays, strict=True))),
            "stand_in",
            "scikit-learn load_digits (UCI Optical Recognition of Handwritten Digits, test part)",
            "Not MNIST: stand-in of 1,797 digits of 8 x 8 pixels bundled with scikit-learn.",
        )


DATASET = Mnist()
