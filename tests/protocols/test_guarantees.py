"""The claimed guarantees against the exact law of what the analyzer sees, for a handful of users.

User 1 holds 0 or 1, all others hold the same bit, N is known. This is one pair of neighbouring inputs, so the exact
delta is a lower bound for the protocol's, and must not exceed the claimed one.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from shuffledp.accounting import hockey_stick
from shuffledp.populations import Binomial
from shuffledp.protocols import get
from shuffledp.protocols.frequency.random_checkin import RandomCheckin
from shuffledp.tasks import Budget, Frequency

POPULATION = Binomial(24, 0.5)


def ones_law(response, zeros, ones, length):
    """Law of the number of ones reported by holders of 0 and of 1, padded to a length."""
    law = np.convolve(
        binom.pmf(np.arange(zeros + 1), zeros, response.lie),
        binom.pmf(np.arange(ones + 1), ones, response.keep),
    )
    return np.pad(law, (0, length - len(law)))


def filled_law(users, slots):
    """Law of the number of filled slots, by adding users one by one."""
    law = np.zeros(slots + 1)
    law[0] = 1.0
    for _ in range(users):
        stay = law * np.arange(slots + 1) / slots
        law = stay + np.append(0, (law * (1 - np.arange(slots + 1) / slots))[:-1])
    return law


def analyzer_view(protocol, n, first, other):
    """Probabilities of all outcomes when user 1 holds `first` and the n - 1 others hold `other`."""
    response = protocol.response
    if isinstance(protocol, RandomCheckin):
        m, rows = protocol.slots, []
        for filled, weight in enumerate(filled_law(n, m)):
            kept = hypergeom.pmf(1, n, 1, filled)  # user 1 is one of the kept
            row = np.zeros(m + 1)
            for chance, own in ((kept, 1), (1 - kept, 0)):
                if chance > 0:
                    ones = own * first + (filled - own) * other
                    row += chance * ones_law(response, m - ones, ones, m + 1)
            rows.append(weight * row)
        return np.concatenate(rows)
    added = int(protocol.dummies_added(np.array([n]))[0])
    ones = first + (n - 1) * other
    return ones_law(response, n + added - ones, ones, n + added + 1)


def exact_delta(protocol, eps):
    """Worst over the others' bit and the direction, for each eps; N is seen, so its law mixes."""
    eps = np.asarray(eps, float)
    window = POPULATION.window(1e-15)
    worst = np.zeros_like(eps)
    for other in (0, 1):
        for one_way in (0, 1):
            total = np.zeros_like(eps)
            for others, weight in zip(window.support, window.pmf, strict=True):
                views = [
                    analyzer_view(protocol, int(others) + 1, bit, other) for bit in (one_way, 1 - one_way)
                ]
                assert views[0].sum() == pytest.approx(1)
                with np.errstate(divide="ignore"):
                    total += weight * hockey_stick(np.log(views[0]), np.log(views[1]), eps)
            worst = np.maximum(worst, total)
    return worst


CLAIMS = [
    (name, options, accounting)
    for name, options in (
        ("local", {}),
        ("amplified", {}),
        ("non_adaptive", {}),
        ("non_adaptive", {"dummies": 200}),
        ("adaptive", {}),
        ("adaptive", {"dummies": 200}),
        ("random_checkin", {}),
    )
    for accounting in ("printed", "corrected", "exact")
    if accounting in get("frequency", name).accountings
]


@pytest.mark.parametrize(("name", "options", "accounting"), CLAIMS)
@pytest.mark.parametrize(("eps", "delta"), [(0.3, 5e-2), (1.0, 1e-2), (1.0, 1e-3)])
def test_no_claim_is_below_the_truth(name, options, accounting, eps, delta):
    protocol_class = get("frequency", name)
    protocol = protocol_class.calibrate(
        Budget(eps, delta), POPULATION, Frequency(2), accounting=accounting, **options
    )
    points = np.array([0.5 * eps, eps])
    truth, bound = exact_delta(protocol, points), protocol.privacy_profile().delta(points)
    assert np.all(truth <= bound * (1 + 1e-9) + 1e-15)
    assert truth[1] <= delta


@pytest.mark.parametrize("name", ["amplified", "random_checkin"])
def test_an_exact_claim_is_not_idle(name):
    """A local budget far above the calibrated one breaks the promise, so the test above can fail."""
    protocol = get("frequency", name).calibrate(
        Budget(0.3, 5e-2), POPULATION, Frequency(2), accounting="exact"
    )
    assert protocol.eps_local > 0.45
    assert exact_delta(replace(protocol, eps_local=3 * protocol.eps_local), 0.3) > 5e-2
