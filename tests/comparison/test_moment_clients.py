"""Programs for mean and variance: the sums of the library, coverage of both intervals, and refusals."""

import numpy as np
import pytest
from scipy.stats import binom

from command_line import invoked, typed
from exported_programs import answer_of, parameters_of
from shuffledp.accounting.baselines.two_moments import Moments, square_levels
from shuffledp.comparison.moment_clients import TwoSums
from shuffledp.protocols.client.analyzing import noisy_sum
from shuffledp.protocols.client.randomizers import square_level
from shuffledp.tasks import Participants, Public

FALSE_ALARM = 1e-6


@pytest.mark.parametrize("most", [2, 3, 8])
def test_client_has_librarys_square_levels(most):
    assert [square_level(value, most) for value in range(most + 1)] == square_levels(most).tolist()


def test_analyzer_gives_both_moments(tmp_path):
    users, most, folder = 1_500, 5, tmp_path / "minutes"
    both = TwoSums.calibrate("correlated_sum", users, most, 4.0, 1e-2)
    both.export_client(folder, domain={"low": 10.0, "high": 20.0, "unit": "minutes"})
    values = np.random.default_rng(3).binomial(most, 0.3, users).tolist()
    answer, symbols = answer_of(folder, values)
    size, levels = 2 * most + 1, int(square_levels(most).max())
    first = sum(symbol - most for symbol in symbols if symbol < size)
    second = sum(symbol - size - levels for symbol in symbols if symbol >= size)
    content = parameters_of(folder)
    widths = [
        noisy_sum(each, [0] * each["symbols"], users, users, 0)[1][0] for each in content["analyzer"]["sums"]
    ]
    expected = Moments.from_sums(users, most, (first, second), widths)
    step = 10 / most
    assert answer["mean"] == pytest.approx(10 + step * expected.mean)
    assert answer["variance"] == pytest.approx(step**2 * expected.variance)
    assert answer["mean_half_width"] == pytest.approx(step * expected.mean_half_width)
    assert answer["variance_half_width"] == pytest.approx(step**2 * expected.variance_half_width)
    assert answer["population_mean_half_width"] == pytest.approx(step * expected.population_mean_half_width)
    assert abs(answer["mean"] - 10 - step * np.mean(values)) <= 3 * answer["mean_half_width"]
    assert (answer["guarantee"], answer["warnings"], answer["unit"]) == ("upper", [], "minutes")


def test_both_intervals_cover(tmp_path):
    """2,000 runs of the exact law of the messages; the interval of the variance is too wide for Laplace noise."""
    users, most, runs, rng = 1_000, 4, 2_000, np.random.default_rng(5)
    both = TwoSums.calibrate("correlated_sum", users, most, 1.0, 1e-4)
    both.export_client(tmp_path / "coverage")
    held = np.array([300, 400, 200, 50, 50])
    levels = square_levels(most)
    moved = np.bincount(levels, weights=held, minlength=levels.max() + 1).astype(int)
    sums, widths = [], []
    for protocol, counts, each in zip(
        (both.numbers, both.squares),
        (held, moved),
        parameters_of(tmp_path / "coverage")["analyzer"]["sums"],
        strict=True,
    ):
        truth = np.full(runs, float(counts @ np.arange(len(counts))))
        who = Participants(Public(np.full(runs, users)), np.tile(counts, (runs, 1)), truth)
        sums.append(protocol.simulate(who, rng).ravel())
        widths.append(noisy_sum(each, [0] * each["symbols"], users, users, 0)[1][0])
    numbers = np.repeat(np.arange(most + 1), held)
    found = [Moments.from_sums(users, most, pair, widths) for pair in np.column_stack(sums).tolist()]
    mean = sum(abs(one.mean - numbers.mean()) <= one.mean_half_width + 1e-12 for one in found)
    variance = sum(abs(one.variance - numbers.var(ddof=1)) <= one.variance_half_width for one in found)
    assert binom.ppf(FALSE_ALARM, runs, 0.95) <= mean <= binom.isf(FALSE_ALARM, runs, 0.965)
    assert variance >= binom.ppf(FALSE_ALARM, runs, 0.95)


SETTING = typed("--users 1000 --eps 2 --delta 1e-4 --moments")


def test_the_command_writes_programs_for_moments(tmp_path):
    words = [*typed("--max-value 2 --levels 4 --unit hours -o"), str(tmp_path / "hours")]
    done = invoked("client correlated_sum", *SETTING, *words)
    assert done.exit_code == 0, done.output
    content = parameters_of(tmp_path / "hours")
    assert (content["task"], content["inputs"], content["composition"]) == ("moments", 5, "basic")
    assert content["guarantee"] == content["privacy"]["guarantee"] == "upper"


@pytest.mark.parametrize(
    "protocol, more, message",
    [
        ("single_message_sum", ["--max-value", "3"], "moments need a protocol without a local budget"),
        ("correlated_sum", ["--max-value", "1"], "max_value must be an integer in [2"),
        ("correlated_sum", typed("--max-value 3 --rounds 2"), "--rounds must be left out"),
        ("correlated_sum", typed("--max-value 3 --fan-outs best"), "not both"),
        ("correlated_sum", [], "--moments needs --users"),
    ],
)
def test_wrong_settings_are_refused(protocol, more, message, tmp_path):
    done = invoked("client", protocol, *SETTING, *more, "-o", str(tmp_path / "none"))
    assert done.exit_code == 1 and message in done.output and not (tmp_path / "none").exists()
