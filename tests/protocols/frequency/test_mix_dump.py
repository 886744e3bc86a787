"""Local budget of mixDUMP with the least error."""

import numpy as np
import pytest

from shuffledp.accounting import blanket_local_budget, mix_dummy_count
from shuffledp.accounting.dump.errors import dump_mse
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.frequency.mix_dump import best_mix_plan
from shuffledp.tasks import Budget, Frequency

DELTA = 1e-6


@pytest.mark.parametrize(
    "n, k, eps, accounting",
    [
        (10**4, 5000, 1.0, "exact"),
        (10**4, 50, 1.0, "exact"),
        (10**4, 50, 1.0, "printed"),
        (60, 2, 6.0, "exact"),
    ],
)
def test_no_other_budget_is_much_better(n, k, eps, accounting):
    plan = best_mix_plan(n, k, eps, DELTA, accounting=accounting)
    assert plan[1] == mix_dummy_count(n, k, eps, DELTA, plan[0], accounting=accounting)
    found = dump_mse(n, k, plan[1], eps_local=plan[0])
    for eps_local in (eps, 8.0, blanket_local_budget(n, k, eps, DELTA), 7.7, 12.0, 25.0):
        count = mix_dummy_count(n, k, eps, DELTA, eps_local, accounting=accounting)
        assert found < 1.002 * dump_mse(n, k, count, eps_local=eps_local)


def test_best_plan_is_an_option():
    """By default, the protocol has the budget of the paper."""
    protocol = get("frequency", "mix_dump")
    best, usual = (
        protocol.calibrate(Budget(1.0, DELTA), Fixed(9_999), Frequency(50), accounting="exact", **options)
        for options in ({"eps_local": "best"}, {})
    )
    plan = best_mix_plan(10_000, 50, 1.0, DELTA)
    assert (best.eps_local, best.dummies_in_all) == (plan[0], plan[1])
    assert usual.eps_local == 8
    for counts in (np.full(50, 200), np.append(10_000, np.zeros(49, int))):
        assert best.expected_mse(counts) == pytest.approx(
            dump_mse(10_000, 50, plan[1], eps_local=plan[0]), rel=1e-12
        )
        assert best.expected_mse(counts) <= usual.expected_mse(counts)
    with pytest.raises(ValueError, match="eps_local must be"):
        protocol.calibrate(Budget(1.0, DELTA), Fixed(99), Frequency(5), eps_local="most")
