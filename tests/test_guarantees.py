"""Declarations of every built-in protocol: trust, one user's messages, and the largest number of messages."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import nbinom

from protocols.test_poisoning import calibrated
from shuffledp.accounting.summation.noise_atoms import atom_messages
from shuffledp.designs.coarse_shares import CoarseCentralNoise
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import get
from shuffledp.protocols._noise_shares import AtomNoise, JumpShare, NegativeBinomialShare
from shuffledp.tasks import Budget, Frequency, Summation
from small_tasks import BUILT_INS

N = 3_000

#: Built-in protocols by the users who must be honest; other protocols have tests of their own.
HONEST = {
    "others' reports": {
        "frequency": "adaptive amplified fragmented_rappor grr_blanket hadamard_response non_adaptive pgr pi_rappor "
        "random_checkin recursive_hadamard solh subset_selection symmetric_rappor unary_rows",
        "summation": "bit_sum fragmented_rappor single_message_sum unary_bits",
        "sets": "subset_shuffled",
        "vectors": "adaptive amplified non_adaptive random_checkin privunit",
    },
    "others' dummies": {
        "frequency": "balls_into_bins fake_users flexible_pure_dump hashed_balls_into_bins one_sided_noise "
        "private_coin public_coin pure_dump silent_users truncation",
        "sets": "balls_into_bins segmented separate separate_inverse_variance separate_weighted",
    },
    "others' reports and dummies": {"frequency": "flexible_mix_dump mix_dump"},
    "named users' dummies": {"frequency": "designated_coins"},
    "shares of the noise": {
        "frequency": "correlated_noise jump_counts multi_exact multi_expected multi_union skellam",
        "summation": "coarse_correlated_sum correlated_sum real_sum skellam sparse_sum split_and_mix",
    },
    "no other user": {
        "frequency": "central_gaussian central_laplace local s1geo sageo sbin",
        "summation": "central_gaussian central_laplace",
        "sets": "subset_local",
        "vectors": "central_gaussian local",
    },
}
TABLE = [
    (users, kind, name)
    for users, kinds in HONEST.items()
    for kind, names in kinds.items()
    for name in names.split()
]


@pytest.mark.parametrize("kind, name", BUILT_INS)
def test_built_ins_state_trust_and_messages(kind, name):
    protocol = calibrated(kind, name)
    assert protocol.relies_on != "not stated"
    assert protocol.honest().endswith(".")
    assert (protocol.local_epsilon() is None) == (protocol.trust == "central")
    cost = protocol.cost()
    assert cost.most_bits == cost.most_messages * cost.bits_per_message
    assert cost.most_messages >= cost.messages_per_user


@pytest.mark.parametrize("users, kind, name", TABLE)
def test_who_must_be_honest(users, kind, name):
    assert calibrated(kind, name).relies_on == users


def test_random_number_of_users_has_mean():
    calibrate = get("frequency", "silent_users").calibrate
    laws = Fixed(29_999), Binomial(299_990, 0.1)
    fixed, drawn = (calibrate(Budget(1.0, 1e-6), law, Frequency(5)) for law in laws)
    assert drawn.n_users < fixed.n_users  # planned for fewer
    assert fixed.expected_users == 30_000 == drawn.expected_users


# -- the local eps, against the laws of a user's own messages --------------------------------------------------------


def largest_ratio(laws):
    """Return the largest log ratio of an outcome's probabilities under two inputs, (inputs, outcomes)."""
    logs = np.log(np.asarray(laws))
    return float(np.max(logs.max(axis=0) - logs.min(axis=0)))


def rows_law(protocol, value, k, rows):
    """Return the law of the multiset of a user's rows, by sorted numbers of the rows."""
    found = {}
    own = [protocol.own_rate if j == value else protocol.other_rate for j in range(k)]
    for bits in product(product((0, 1), repeat=k), repeat=rows):
        chance = 1.0
        for place, row in enumerate(bits):
            rates = own if place == 0 else [protocol.other_rate] * k
            chance *= math.prod(r if b else 1 - r for r, b in zip(rates, row, strict=True))
        key = tuple(sorted(bits))
        found[key] = found.get(key, 0.0) + chance
    return [found[key] for key in sorted(found)]


@pytest.mark.parametrize("name", ["fragmented_rappor", "symmetric_rappor", "unary_rows", "fake_users"])
def test_rows_of_bits(name):
    options = {"kappa": 2} if name == "fake_users" else {}
    protocol = calibrated("frequency", name, **options)
    laws = [rows_law(protocol, value, 3, protocol.rows_per_user) for value in range(3)]
    assert protocol.local_epsilon() == pytest.approx(largest_ratio(laws), rel=1e-9)
    if name == "unary_rows":
        assert protocol.local_epsilon() == pytest.approx(protocol.rates.eps_local, rel=1e-9)


@pytest.mark.parametrize("size, estimator", [(1, "plain"), (1, "centred"), (3, "plain")])
def test_bits_of_numbers(size, estimator):
    protocol = get("summation", "fragmented_rappor").calibrate(
        Budget(1.0, 1e-6), Fixed(N - 1), Summation(size), accounting="exact", estimator=estimator
    )
    p, values = protocol.flip_probability, range(protocol.first, size + 1)
    laws = [
        [
            math.prod(1 - p if bit == (v == x) else p for v, bit in zip(values, bits, strict=True))
            for bits in product((0, 1), repeat=len(values))
        ]
        for x in range(size + 1)
    ]
    assert protocol.local_epsilon() == pytest.approx(largest_ratio(laws), rel=1e-9)


def test_unary_bits_of_numbers():
    protocol = calibrated("summation", "unary_bits")
    flip = protocol.uniform_rate / 2
    laws = []
    for ones in range(protocol.bits + 1):
        law = np.ones(1)
        for place in range(protocol.bits):
            law = np.convolve(law, [flip, 1 - flip] if place < ones else [1 - flip, flip])
        laws.append(law)
    assert protocol.local_epsilon() == pytest.approx(largest_ratio(laws), rel=1e-9)


@pytest.mark.parametrize("kind, name", [("summation", "split_and_mix"), ("frequency", "multi_exact")])
def test_shares_of_polya_noise(kind, name):
    protocol = calibrated(kind, name)
    shift = 3 if kind == "summation" else protocol.precision
    shape = 1 / (N if kind == "summation" else protocol.base_users)
    law = nbinom.pmf(np.arange(400 * shift), shape, -math.expm1(-1.0 / shift))
    ratios = [law[: len(law) - z] @ law[z:] for z in range(4 * shift)]
    noise = np.concatenate((ratios[:0:-1], ratios))
    shifts = range(1, shift + 1)
    largest = max(float(np.max(np.abs(np.log(noise[s:]) - np.log(noise[:-s])))) for s in shifts)
    assert protocol.local_epsilon() == pytest.approx(largest, rel=1e-9)


def test_shares_of_discrete_gaussian_noise():
    protocol = get("frequency", "multi_expected").calibrate(
        Budget(1.0, 1e-3), Binomial(200, 0.5), Frequency(2)
    )
    q, p = protocol.group_order, protocol.precision
    classes = np.arange(q, dtype=float) + q * np.arange(-6.0, 6.0)[:, None]
    noise = logsumexp(-(classes**2) / (2 * protocol.tau**2), axis=0)
    largest = max(float(np.max(np.abs(np.roll(noise, -s) - noise))) for s in range(1, p + 1))
    assert largest <= protocol.local_epsilon() <= 1.05 * largest


# -- rates of what users send at once, against draws and stated means --------------------------------------------------


@pytest.mark.parametrize(
    "share", [NegativeBinomialShare(0.7, 0.2), JumpShare(3.0, 2.5)], ids=["negative binomial", "jumps"]
)
def test_share_rates_have_moments_of_draws(share):
    part = np.full(200_000, 0.3)
    drawn = share.draw(part, np.random.default_rng(1))
    rates = 0.3 * share.rates(400)
    j = np.arange(rates.size)
    assert drawn.mean() == pytest.approx(j @ rates, abs=6 * drawn.std() / math.sqrt(len(part)))
    assert drawn.var() == pytest.approx(j**2 @ rates, rel=0.05)


@pytest.mark.parametrize(
    "noise",
    [
        AtomNoise(NegativeBinomialShare(0.7, 0.4), tuple(atom_messages(2, 3).items())),
        CoarseCentralNoise(0.6, 3),
        CoarseCentralNoise(0.6, 1),
    ],
    ids=["atoms", "coarse", "single"],
)
def test_noise_rates_have_moments_of_messages(noise):
    part = np.full(200_000, 0.3)
    sent = np.sum(list(noise.messages(part, np.random.default_rng(2)).values()), axis=0)
    rates = 0.3 * noise.rates(400)
    j = np.arange(rates.size)
    assert sent.mean() == pytest.approx(j @ rates, abs=6 * sent.std() / math.sqrt(len(part)))
    assert sent.var() == pytest.approx(j**2 @ rates, rel=0.05)


@pytest.mark.parametrize(
    "kind, name",
    [
        *(("frequency", name) for name in ("correlated_noise", "jump_counts")),
        *(
            ("summation", name)
            for name in ("correlated_sum", "coarse_correlated_sum", "real_sum", "sparse_sum")
        ),
    ],
)
def test_rates_have_stated_mean(kind, name):
    protocol = calibrated(kind, name)
    parts, noise = (
        (protocol._parts, protocol.noise) if kind == "frequency" else (protocol._noises, protocol.design)
    )
    rates = [part.rates(20_000) for part in parts]
    mean = sum(np.arange(each.size) @ each for each in rates)
    assert mean == pytest.approx(noise.messages, rel=1e-9)
