"""The classifier in tools/outside_auditors.py: certificates below the exact eps, and above the claim for a fault."""

from __future__ import annotations

import numpy as np
import pytest

from scripts_by_file import script

tool = script("tools/outside_auditors.py")
RUNS = 4_000


@pytest.fixture(scope="module")
def targets():
    return {(target.name, target.bug): target for target in tool.targets()}


@pytest.mark.parametrize("name", ["frequency/grr_blanket", "frequency/pure_dump"])
def test_no_certificate_exceeds_the_exact_eps(targets, name):
    target = targets[name, ""]
    at_delta, at_zero, *_ = tool.with_classifier(target, RUNS, np.random.default_rng(1))
    assert 0.3 < at_delta <= target.exact(target.claim.delta) <= target.claim.eps + 1e-3
    assert at_delta < at_zero <= target.exact(0.0)


def test_a_planted_bug_is_certified(targets):
    target = targets["frequency/grr_blanket", "local eps doubled"]
    at_delta, *_ = tool.with_classifier(target, RUNS, np.random.default_rng(2))
    assert target.claim.eps < at_delta <= target.exact(target.claim.delta)


def test_certificates_are_bounds_of_clopper_and_pearson():
    # No hit in n runs bounds the probability from above by 1 - (level / 2)^(1 / n); n hits in n runs from below.
    end = (tool.LEVEL / 2) ** (1 / 50)
    assert tool.certificate(50, 0, 50, 0.0) == pytest.approx(np.log(end / (1 - end)))
    assert tool.certificate(50, 0, 50, 0.1) == pytest.approx(np.log((end - 0.1) / (1 - end)))
    assert tool.certificate(0, 50, 50, 0.0) == 0.0
