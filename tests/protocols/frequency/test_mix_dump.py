"""Local budget of mixDUMP with the least error."""

import pytest

from shuffledp.accounting import blanket_local_budget, mix_dummy_count
from shuffledp.accounting.dump.errors import dump_mse
from shuffledp.protocols.frequency.mix_dump import best_mix_plan

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
