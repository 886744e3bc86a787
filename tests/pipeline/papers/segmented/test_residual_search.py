import math

import numpy as np
import pytest

from shuffledp.pipeline.claims.message_multisets import hockey_stick, others_laws, replaced
from shuffledp.pipeline.claims.search_results import LIMIT, largest
from shuffledp.pipeline.papers.segmented import residual_search


@pytest.mark.parametrize("eps", [0.1, 0.6, 1.1])
def test_two_counts_are_sufficient(eps):
    others, k, eps_local = 3, 4, 1.2
    rows = residual_search.response_rows(k, eps_local)
    law = dict(others_laws(rows, others))[others, 0, 0, 0]
    wanted = hockey_stick(*replaced(law, rows), eps)
    pair = residual_search.same_value_laws(others, k, eps_local)
    assert [float(np.sum(each)) for each in pair] == pytest.approx([1.0, 1.0], rel=1e-12)
    assert hockey_stick(*pair, eps) == pytest.approx(wanted, rel=1e-11)


def test_search_finds_only_the_erratum():
    """The search finds nothing without a residual component."""
    found = largest(residual_search.few_users((1,), (5,), (1.0,), "stated"), LIMIT)
    assert found.beyond > 0 and found.extreme == pytest.approx(math.e, rel=1e-9)
    assert largest(residual_search.few_users((1, 2), (2,), (0.5, 2.0), "stated"), LIMIT).beyond == 0
    many = largest(residual_search.many_users((10, 100), (3,), (2.0,), (1e-2, 1e-4)), LIMIT)
    assert many.beyond > 0 and "all with the victim's value" in many.where


def test_too_small_replacement_is_violated(monkeypatch):
    search = ((1, 2), (3,), (1.0, 3.0), "replacement")
    sound = largest(residual_search.few_users(*search), LIMIT)  # type: ignore[arg-type]
    assert sound.beyond == 0 and 0.5 < sound.extreme <= 1
    bound = residual_search.bound
    monkeypatch.setattr(residual_search, "bound", lambda *arguments: 0.4 * bound(*arguments))
    assert largest(residual_search.few_users(*search), LIMIT).beyond > 0  # type: ignore[arg-type]
