"""Coverage of the intervals of exported analyzers, by exact enumeration of a count and by messages.

The laws of counts are computed here by convolution, independently of the analyzer. A coverage is a sum of
probabilities, so that no test has a false alarm.
"""

import json

import numpy as np
import pytest
from scipy import stats

from exported_programs import parameters_of, run
from noise_of_counts import noise_of
from printed_tables import best
from shuffledp.protocols.client import analyzing, export
from shuffledp.tasks import Budget, Frequency

#: Mass that the tested distributions may omit.
RARE = 1e-6


def calibrated(name, users, eps, values=2):
    return best(Frequency(values), name, users - 1, Budget(eps, 1e-6))


def coverage(protocol, users, holders):
    """Return the probability that the interval of a value with this number of holders contains its frequency."""
    content = export.parameters(protocol.client(), {"if_shuffler_fails": ""})
    analyzer = content["analyzer"]
    own, other = analyzer["own"], analyzer["other"]
    start, law = noise_of(protocol, users)
    law = np.convolve(law, stats.binom.pmf(np.arange(holders + 1), holders, own))
    law = np.convolve(law, stats.binom.pmf(np.arange(users - holders + 1), users - holders, other))
    places = np.flatnonzero(law > RARE / len(law))
    counts = (start + places).tolist()
    estimates, widths = analyzing.frequencies(analyzer, counts, protocol.n_users, users, users)
    inside = np.abs(np.array(estimates) - holders / users) <= np.array(widths) * (1 + 1e-12)
    return float(law[places] @ inside)


#: Least coverage: searches stop within 0.5 % of a half-width, and laws without a closed form are approximated.
LEAST = 0.947


@pytest.mark.parametrize("users, eps", [(100, 1.0), (100, 3.0), (100, 6.0), (1000, 3.0)])
def test_any_share_of_two_is_covered(users, eps):
    """Intervals for two values cover for any number of holders."""
    protocol = calibrated("grr_blanket", users, eps)
    for holders in (0, 1, 3, users // 3, users // 2, users - 1, users):
        assert coverage(protocol, users, holders) >= LEAST, (users, eps, holders)


@pytest.mark.parametrize(
    "name",
    [
        *("one_sided_noise", "silent_users", "balls_into_bins", "designated_coins"),
        *("correlated_noise", "sbin", "sageo"),
    ],
)
def test_any_number_of_users_is_covered(name):
    """Users are as planned, fewer or more; those who drop out of designated coins are random."""
    for eps in (1.0, 4.0):
        protocol = calibrated(name, 1000, eps, values=4)
        for users in (500, 800, 1000, 1500):
            for holders in (0, 1, 5, 30, users // 2):
                assert coverage(protocol, users, holders) >= LEAST, (eps, users, holders)


def test_unplanned_users_are_warned_of(tmp_path):
    protocol = calibrated("one_sided_noise", 300, 2.0)
    folder = tmp_path / "ours"
    protocol.export_client(folder)

    content = parameters_of(folder)
    counts = (300, 180)
    sent = tmp_path / "sent"
    lines = [f"{value:02x}{content['checksum'][:8]}" for value in (0, 1) for _ in range(counts[value])]
    sent.write_text("\n".join(lines) + "\n")
    (tmp_path / "empty").write_text("")
    needs = "Warning: The guarantee does not hold: it needs 300 users, and 20 took part."
    for program in ("shuffler", "analyzer"):
        done = run(folder, program, str(sent), "--users", "20")
        assert done.returncode == 0 and needs in done.stderr
    answer = json.loads(run(folder, "analyzer", str(sent), "--users", "20").stdout)
    assert (answer["planned"], answer["users"], answer["guarantee_holds"]) == (300, 20, False)
    assert any("frequencies sum to" in warning for warning in answer["warnings"])
    assert "needs 300 users" in run(folder, "shuffler", str(tmp_path / "empty")).stderr
    assert run(folder, "analyzer", str(sent)).returncode == 1
    assert json.loads(run(folder, "analyzer", str(sent), "--users", "300").stdout)["guarantee_holds"] is True
