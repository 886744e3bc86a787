"""Silent users: sums over both counts, numbers of the specification, and the search for the best rate."""

import math

import numpy as np
import pytest
from scipy.stats import poisson

from shuffledp.accounting.general.count_pairs import settled_count_delta
from shuffledp.protocols.frequency.silent_users import SilentReport, silent_report


@pytest.mark.parametrize(("dummies", "rate", "eps"), [(2.0, 0.4, 0.3), (5.0, 1.0, 0.7), (0.0, 0.3, 0.5)])
def test_delta_is_the_sum_over_both_counts(dummies, rate, eps):
    law = poisson.pmf(np.arange(60), dummies)
    held = (1 - rate) * law + rate * np.append(0.0, law[:-1])
    wanted = np.maximum(np.outer(held, law) - math.exp(eps) * np.outer(law, held), 0).sum()
    got = settled_count_delta(SilentReport(rate, dummies).count_at, eps)
    assert got == pytest.approx(wanted, rel=1e-11)


def test_so_rare_reports_need_no_dummies():
    assert (
        silent_report(10, 3, 1.0, 0.1, rate=0.1).dummies
        == 0
        < silent_report(10, 3, 1.0, 0.1, rate=0.101).dummies
    )


@pytest.mark.parametrize("rate", [0.0, 1.1, -1.0])
def test_bad_input_is_refused(rate):
    with pytest.raises(ValueError, match="rate must be"):
        silent_report(10, 3, 1.0, 0.1, rate=rate)
