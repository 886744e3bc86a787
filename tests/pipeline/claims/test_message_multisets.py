import itertools
import math
from collections import Counter

import numpy as np
import pytest

from shuffledp.pipeline.claims.message_multisets import hockey_stick, others_laws, replaced

ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])


def listed(inputs):
    """Return the law of the multiset, from one term per sequence of messages."""
    law = Counter()
    for messages in itertools.product(range(3), repeat=len(inputs)):
        mass = math.prod(ROWS[x, m] for x, m in zip(inputs, messages, strict=True))
        law[tuple(messages.count(v) for v in range(3))] += mass
    return law


def test_laws_are_those_of_all_sequences():
    found = dict(others_laws(ROWS, 2))
    assert set(found) == {held for held in itertools.product(range(3), repeat=3) if sum(held) == 2}
    for held, law in found.items():
        inputs = tuple(v for v in range(3) for _ in range(held[v]))
        first, second = replaced(law, ROWS)
        one, two = listed((0, *inputs)), listed((1, *inputs))
        assert sorted(first) == pytest.approx(sorted(one.values()), rel=1e-13)
        wanted = sum(max(one[key] - math.exp(0.3) * two[key], 0.0) for key in one)
        reverse = sum(max(two[key] - math.exp(0.3) * one[key], 0.0) for key in one)
        assert hockey_stick(first, second, 0.3) == pytest.approx(max(wanted, reverse), rel=1e-12)
