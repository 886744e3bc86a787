"""Sets of items with privacy levels: sizes, probabilities of items, padding and configuration."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from shuffledp.pipeline.datasets import Dataset
from shuffledp.pipeline.experiments.participants import participants, typical
from shuffledp.pipeline.experiments.sources import source_from
from shuffledp.pipeline.experiments.sources.item_sets import level_sizes, source as set_source
from shuffledp.populations import Fixed
from shuffledp.tasks import Sets

UNIFORM = {"name": "uniform", "split": "25-50-25"}
MSNBC = {"name": "msnbc", "column": "sets", "split": "25-50-25"}
# Set sizes 1, 2, 5 and 17, so that sets are filled and cut.
MASKS = np.array([0b1, 0b110, 0b11111, 2**17 - 1], np.int32)
COUNTS = np.array([40, 30, 20, 10])


def pages(config=MSNBC, size=4, tokens=0):
    about = SimpleNamespace(source="stand_in", note="A toy.")
    dataset = Dataset("msnbc", pd.DataFrame({"mask": MASKS, "first": 1, "count": COUNTS}), {}, about)
    return set_source(config, Sets(17 + tokens, size, 3, tokens), dataset)


@pytest.mark.parametrize("split", ["", "25-25", "50-60", "-50-150", "a-b", 25])
def test_invalid_split_is_refused(split):
    with pytest.raises(ValueError, match="percentages of the privacy levels that sum to 100"):
        level_sizes(split, 10)


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_page_sets_have_stated_marginals(size):
    source, rng, n = pages(size=size), np.random.default_rng(2), 4000
    drawn = np.concatenate([source.draw(100, rng) for _ in range(n // 100)])
    assert drawn.shape == (n, size)
    assert all(len(set(row)) == size for row in drawn.tolist())
    share = np.bincount(drawn.ravel(), minlength=17) / n
    error = np.sqrt(source.marginals * (1 - source.marginals) / n)
    assert (np.abs(share - source.marginals) < 5.5 * error + 1e-12).all()  # false alarm below 1e-6
    assert source.marginals.sum() == pytest.approx(size)


def test_tokens_fill_only_small_sets():
    source = pages({**MSNBC, "padding": "tokens"}, tokens=4)
    drawn = source.draw(100, np.random.default_rng(3))
    own = (drawn < 17).sum(axis=1)
    assert np.bincount(own, minlength=5).tolist() == [0, 40, 30, 0, 30]
    assert source.marginals[17:] == pytest.approx(np.full(4, (40 * 3 + 30 * 2) / 100 / 4))
    who = source.gathered(np.array([100]), [drawn], "participants")
    assert who.counts.shape == (1, 3, 21) and who.truth.shape == (1, 17)


def test_counts_levels_and_users_agree():
    task = Sets(9, 3, 3)
    source, law = source_from(UNIFORM, task, Path()), Fixed(100)
    who = participants(task, source, law, repeats=3, seed=4)
    assert who.public.level_counts.tolist() == [[25, 51, 25]] * 3
    for repeat in range(3):
        (users,) = who.users(repeat)
        for level in range(3):
            held = users.values[users.levels == level]
            assert np.bincount(held.ravel(), minlength=9).tolist() == who.counts[repeat, level].tolist()
    assert who.truth == pytest.approx(who.counts.sum(axis=1) / 101)
    support = typical(task, source, law)
    assert support.participants.counts[0].sum() == pytest.approx(303)
    assert not support.sampling_variance.any()
    wide = typical(task, source, law, truth="population")
    assert wide.sampling_variance == pytest.approx(np.full((1, 9), (1 / 3) * (2 / 3) / 101))
