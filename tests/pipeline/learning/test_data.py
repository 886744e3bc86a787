from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from shuffledp.pipeline.learning import (
    learning_data,
)
from shuffledp.pipeline.learning.data import fitted

# -- data --------------------------------------------------------------------------------------------------------


def test_small_images_are_enlarged_and_centered():
    small = np.arange(1, 65, dtype=np.uint8).reshape(1, 8, 8)
    grown = fitted(small)
    assert grown.shape == (1, 28, 28, 1)
    assert_array_equal(grown[0, 2:26:3, 2:26:3, 0], small[0])
    assert_array_equal(grown[0, 4:26:3, 3:26:3, 0], small[0])
    assert not grown[0, :2].any() and not grown[0, 26:].any()
    assert not grown[0, :, :2].any() and not grown[0, :, 26:].any()
    full = np.random.default_rng(0).integers(0, 256, (3, 28, 28)).astype(np.uint8)
    assert_array_equal(fitted(full)[..., 0], full)


@pytest.mark.parametrize("shape", [(2, 29, 28), (2, 28, 40), (2, 0, 8), (28, 28)])
def test_unfitting_images_are_refused(shape):
    with pytest.raises(ValueError, match=r"do not fit into 28 x 28|must be \(n, height, width\)"):
        fitted(np.zeros(shape, np.uint8))


def test_prepared_digits_become_learning_data():
    rng = np.random.default_rng(0)

    def drawn(high, *shape):
        return rng.integers(0, high, shape, np.uint8)

    arrays = {"train_images": drawn(256, 12, 8, 8), "train_labels": drawn(10, 12)}
    arrays |= {"test_images": drawn(256, 5, 8, 8), "test_labels": drawn(10, 5)}
    data = learning_data(arrays)
    assert (data.users, data.image) == (12, (28, 28, 1))
    assert data.digest == learning_data(arrays).digest
    changed = arrays | {"test_labels": (arrays["test_labels"] + 1) % 10}
    assert data.digest != learning_data(changed).digest
    assert data.digest != replace(data, mean=0.2).digest
    with pytest.raises(ValueError, match="lack test_labels"):
        learning_data({key: value for key, value in arrays.items() if key != "test_labels"})
    with pytest.raises(ValueError, match="train_labels must be 12 int32"):
        learning_data(arrays | {"train_labels": arrays["train_labels"][:3]})
    with pytest.raises(ValueError, match="for testing"):
        replace(data, test_images=data.test_images[:, :20])
