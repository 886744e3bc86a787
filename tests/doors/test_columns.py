"""Columns of the table of `compare`, each measured by its legend: by messages, simulation or a law of two counts.

Simulated means are within 6 standard errors, which a correct program misses with a probability of about 1e-8. Laws are
computed here, independently of the library, so that the other tests have no false alarm.
"""

from __future__ import annotations

import functools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import shuffledp
from command_line import invoked, printed, typed, unwrapped
from noise_of_counts import noise_of
from printed_tables import best, cells
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.messages import Messages
from shuffledp.tasks import Budget, Frequency, Participants, Public

USERS, VALUES, FAKES, ABSENT, DELTA = 200, 4, 10, 0.1, 1e-4
OPTIONS = typed("--users 200 --domain-size 4 --eps 2 --delta 1e-4")
ROBUST = ("--poisoned", str(FAKES), "--colluding", str(ABSENT))
BUDGET = Budget(2.0, DELTA)
#: Protocols whose fast laws are quick to draw.
NAMES = (
    *("grr_blanket", "amplified", "unary_rows", "solh", "subset_selection", "fragmented_rappor", "local"),
    *("pure_dump", "mix_dump", "flexible_pure_dump", "balls_into_bins", "designated_coins", "silent_users"),
    *("one_sided_noise", "correlated_noise", "jump_counts", "sageo", "s1geo", "sbin", "skellam"),
    *("central_laplace", "central_gaussian"),
)
EVERY = ("--protocols", ",".join(NAMES))


@functools.cache
def compared(*options: str) -> str:
    return printed("compare", *OPTIONS, *options)


@functools.cache
def rows(*options: str) -> dict[str, dict[str, str]]:
    """Return the printed cells by protocol and heading."""
    found = cells(compared(*EVERY, *options))
    assert set(found) == set(NAMES)
    return found


@functools.cache
def calibrated(name: str) -> ProtocolBase:
    return best(Frequency(VALUES), name, USERS - 1, BUDGET)


def check_squared_errors(name, counts, printed, *, first):
    who = Participants.from_counts(np.tile(counts, (4000, 1)))
    squared = (calibrated(name).simulate(who, np.random.default_rng(20_261_128)) - who.truth) ** 2
    squared = squared[:, 0] if first else squared.mean(axis=1)
    deviation = abs(squared.mean() - float(printed))
    assert deviation < 6 * squared.std() / math.sqrt(len(squared)) + 0.006 * float(printed), name


@pytest.mark.parametrize("name", NAMES)
def test_error_and_frequent_match_simulations(name):
    """Shares are equal for the column error; the column frequent is for a tenth of the users."""
    check_squared_errors(name, [50] * 4, rows()[name]["error"], first=False)
    check_squared_errors(name, [20, 60, 60, 60], rows()[name]["frequent"], first=True)


def test_few_users_have_no_frequent_column():
    done = invoked("compare --users 9", *OPTIONS[2:], *typed("--protocols central_laplace --eps 20"))
    assert "central_laplace" in done.stdout and "frequent" not in done.stdout


@pytest.mark.parametrize("names", [NAMES, ("grr_blanket", "silent_users", "sageo", "unary_rows")])
def test_runner_up_has_the_printed_error(names):
    text = unwrapped(compared("--protocols", ",".join(names)).partition("Trusted:")[0])
    best = re.match(r"Use (\w+) ", text)[1]
    sentence = re.search(r"Runner-up: (\w+), with (the same|\S+ times the) root mean squared error", text)
    runner_up, ratio = sentence[1], 1.0 if sentence[2] == "the same" else float(sentence[2].split()[0])
    less = re.findall(r"\w+(?=[,\w ]* \(trusts)", re.search(r"passed over: (.*?)\. Next", text)[1])

    def error(name):
        who = Participants.from_counts(np.tile([50] * 4, (4000, 1)))
        drawn = calibrated(name).simulate(who, np.random.default_rng(20_261_128))
        return float(np.sqrt(np.mean((drawn - who.truth) ** 2)))

    errors = {name: error(name) for name in names}
    assert errors[runner_up] / errors[best] == pytest.approx(ratio, rel=0.05)  # above 6 standard errors
    assert {name for name in names if errors[name] < 0.95 * errors[best]} <= set(less)
    assert all(errors[name] < 1.05 * errors[best] for name in less)


# -- spent, slack, collude and dropped, by the law of two counts ------------------------------------------------------


def noise(name, present):
    """Return the law of the noise of a count, which starts at 0, if this many of the users take part."""
    return noise_of(calibrated(name), present)[1]


def delta_of(law, eps):
    """Return delta of two counts, of which the first or the second has the message of user 1."""
    more, less = np.append(0, law), np.append(law, 0)
    p, q = np.outer(more, less), np.outer(less, more)
    return float(np.maximum(p - math.exp(eps) * q, 0).sum())


@pytest.mark.parametrize("name", ["silent_users", "one_sided_noise", "balls_into_bins", "sbin"])
def test_spent_collude_and_dropped_meet_delta(name):
    spent, slack = float(rows()[name]["spent"]), float(rows()[name]["slack"])
    less = rows(*ROBUST)[name]
    assert float(less["spent"]) == spent
    assert slack <= 2 - spent + 1e-4
    remaining = USERS - int(ABSENT * USERS)
    for present, eps in (
        (USERS, spent),
        (remaining, float(less["collude"])),
        (remaining, float(less["dropped"])),
    ):
        law = noise(name, present)
        assert delta_of(law, eps) <= DELTA * (1 + 1e-9)
        assert delta_of(law, eps * 0.998) > DELTA


def test_dropped_are_random_and_colluding_first():
    """Of a list, dropped users are random, and colluding users have the first places."""
    less = rows(*ROBUST)["designated_coins"]
    named, present = calibrated("designated_coins").designated, USERS - int(ABSENT * USERS)
    assert less["collude"] == "inf" and named <= 2 * ABSENT * USERS
    seats = np.arange(named + 1)
    chances = stats.hypergeom.pmf(seats, USERS, named, present)

    def delta(eps):
        laws = [stats.binom.pmf(np.arange(named + 1), seat, 0.5) for seat in seats]
        return sum(chance * delta_of(law, eps) for chance, law in zip(chances, laws, strict=True))

    assert delta(float(less["dropped"])) <= DELTA < delta(float(less["dropped"]) * 0.99)


def test_self_reliant_protocols_keep_eps():
    relying = unwrapped(compared(*EVERY)).partition("Privacy also rests on")[2].partition(". ")[0]
    for name, row in rows(*ROBUST).items():
        keeps = row["collude"] == row["dropped"] == row["spent"]
        assert keeps == (f" {name}" not in relying.replace(":", "").replace(";", "").replace(",", "")), name


# -- local: messages of one user --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["grr_blanket", "mix_dump"])
def test_local_is_largest_probability_ratio(name):
    """The weights are those of the exported client: of the own value, and of each other value."""
    (part,) = [part for part in calibrated(name).client().parts if "true_weight" in part]
    ratio = math.log(Fraction(part["true_weight"]) / Fraction(part["other_weight"]))
    eps = float(rows()[name]["local"])
    assert ratio <= eps <= ratio + 2e-3


# -- poisoned: messages of fake users ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *(
            "grr_blanket",
            "balls_into_bins",
            "one_sided_noise",
            "silent_users",
            "pure_dump",
            "designated_coins",
        ),
        *("mix_dump", "sageo", "sbin"),
    ],
)
def test_poisoned_is_gain_of_fake_users(name):
    protocol, row = calibrated(name), rows(*ROBUST)[name]
    most = int(rows()[name]["most messages"].lstrip("~"))
    honest = Messages(np.repeat(np.arange(VALUES), 70))
    fake = Messages(np.repeat(honest.payload[:1], FAKES * most))

    def count(messages, users):
        return users * protocol.estimate(protocol.aggregate(messages)[None], Public(np.array([users])))[0, 0]

    gain = count(Messages.joined(honest, fake), USERS + FAKES) - count(honest, USERS)
    assert gain * (1 - 1e-9) <= float(row["poisoned"]) <= gain * 1.001
    errors = gain / (USERS * math.sqrt(float(row["error"])))
    assert float(row["/error"]) == pytest.approx(errors, rel=0.01)


# -- batches of other users than planned ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["silent_users", "one_sided_noise", "balls_into_bins", "sbin"])
@pytest.mark.parametrize("users", [100, 160, 200, 400], ids=["half", "fewer", "as planned", "more"])
@pytest.mark.filterwarnings("ignore:.*the guarantee needs")
def test_batch_labels_its_number_of_users(name, users):
    counts = [users // 2, users // 2, 0, 0]
    text = str(shuffledp.simulate(counts=counts, protocol=name, users=USERS, eps=2.0, delta=DELTA))
    delta = delta_of(noise(name, users), 2.0)
    assert ("the guarantee does not hold for" in text) == (delta > DELTA * (1 + 1e-9))
    if delta <= DELTA * (1 + 1e-9):
        stated = re.search(r"guarantee (\w+)", text)[1]
        assert (stated == "exact") == (delta == pytest.approx(delta_of(noise(name, USERS), 2.0), rel=1e-9))


def test_random_users_guarantee_is_a_mean():
    law = shuffledp.populations.Poisson(float(USERS - 1))
    batch = shuffledp.simulate(
        counts=[100, 60, 40, 0], protocol="silent_users", population=law, eps=2.0, delta=DELTA
    )
    assert "guarantee upper for a random number of users" in str(batch)
    each = batch.protocol.dummy_mean / batch.protocol.n_users
    deltas = [
        delta_of(stats.poisson.pmf(np.arange(150), each * (1 + others)), 2.0) for others in range(100, 300)
    ]
    assert stats.poisson.pmf(np.arange(100, 300), USERS - 1) @ deltas <= DELTA < deltas[0]


@pytest.mark.parametrize("name", ["silent_users", "one_sided_noise"])
@pytest.mark.parametrize("users", [200, 1000])
def test_printed_most_has_the_printed_probability(name, users):
    batch = shuffledp.simulate(counts=[users, 0, 0, 0], protocol=name, users=USERS, eps=2.0, delta=DELTA)
    most, chance = re.search(
        r"at most (\d+) except with a probability of at most ([\d.e-]+)", unwrapped(batch)
    ).groups()
    protocol, dummies = batch.protocol, int(most) - 1
    if name == "silent_users":
        single = stats.poisson.sf(dummies, VALUES * protocol.dummy_mean / USERS)
    else:
        stop = -np.expm1(-protocol.decay)
        single = stats.nbinom.sf(dummies, VALUES * protocol.shape / USERS, stop)
    assert -np.expm1(users * np.log1p(-single)) <= float(chance)
