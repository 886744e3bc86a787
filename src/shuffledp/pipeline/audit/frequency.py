"""Views of the frequency protocols, from the definitions of their messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.audit.families import of_family
from shuffledp.pipeline.audit.finite_laws import (
    LONG_UNIT,
    TAIL,
    UNIT,
    Block,
    Error,
    Own,
    PairNoise,
    Summand,
    added,
    binomial_counts,
    check_size,
    mixed,
    multinomial_counts,
    negative_binomial_counts,
    pair_part,
    plus,
    point,
    poisson_counts,
    transformed,
)
from shuffledp.pipeline.audit.frequency_reports import (
    design_reports,
    flipped_bits,
    hashed_balls_into_bins,
    private_coin,
    public_coin,
    solh,
    subset_selection,
    whole_rows,
)
from shuffledp.pipeline.audit.message_positions import MANY, plain, response
from shuffledp.pipeline.audit.value_counts import SENT, value_counts
from shuffledp.pipeline.audit.views import ModularView, ProductView, SlotsView, SumView, View
from shuffledp.protocols.base import ProtocolBase

if TYPE_CHECKING:
    from shuffledp.protocols.frequency._counters import NoisyCounters
    from shuffledp.protocols.frequency._curator_noise import NoisyHistogram
    from shuffledp.protocols.frequency._dummy_points import FixedDummies
    from shuffledp.protocols.frequency._flexible_dummies import FlexibleDummies
    from shuffledp.protocols.frequency._noisy_counts import NoisyCounts
    from shuffledp.protocols.frequency._randomized_response import RandomizedResponse
    from shuffledp.protocols.frequency._secret_shares import SecretShares
    from shuffledp.protocols.frequency.central_laplace import CentralLaplace
    from shuffledp.protocols.frequency.correlated_noise import CorrelatedNoise
    from shuffledp.protocols.frequency.random_checkin import RandomCheckin
    from shuffledp.protocols.frequency.skellam import Skellam
    from shuffledp.protocols.frequency.truncation import Truncation

#: Law of the noise of a calibrated protocol if n users take part.
Noise = Callable[[Any, int], Block]

#: Number of cells of a law with all kinds of messages; beyond it the law distinguishes two values and merges all
#: others.
_ALL_KINDS = 30_000


def randomized_response(protocol: RandomizedResponse, eps: float) -> View:
    """Return the view of users' reports and of dummies with input 0, `dummy_count` or, if adaptive, fewer."""
    k, axes = protocol.domain_size, protocol.domain_size - 1
    laws = tuple(response(v, k, protocol.eps_local, axes) for v in range(k))

    def dummies(n: int) -> Block:
        count = max(protocol.dummy_count - (n - 1), 0) if protocol.adaptive else protocol.dummy_count
        block = point(axes)
        for _ in range(count):
            block = plus(block, laws[0])
        return block

    return SumView(
        inputs=tuple(range(k)),
        eps=eps,
        most={2: 22, 3: 9}.get(k, 6),
        alone=protocol.trust == "local",
        noise=dummies,
        own=laws,
    )


def random_checkin(protocol: RandomCheckin, eps: float) -> View:
    """Return the view of reports in slots, with fillers of input 0."""
    k = protocol.domain_size
    return SlotsView(
        inputs=tuple(range(k)),
        eps=eps,
        slots=protocol.slots,
        most={2: 22, 3: 8}.get(k, 6),
        own=tuple(response(v, k, protocol.eps_local, k - 1) for v in range(k)),
        kinds=lambda payload: np.asarray(payload[:, 0], np.int64),
        rate=protocol.population.rate if protocol.threat == "own_coin" else None,
        population=protocol.population,
    )


def _tracked(k: int, messages: int) -> int:
    """Return the number of counted values: all but one, or two if the law would be too large."""
    return k - 1 if k == 2 or (messages + 1) ** (k - 1) <= _ALL_KINDS else 2


def _among_dummies(protocol: FixedDummies | FlexibleDummies, eps: float, axes: int) -> SumView:
    """Return the view of one report per user, without the uniform dummies; all values are equivalent."""
    k, unchanged = protocol.domain_size, protocol.eps_local == math.inf
    inputs = tuple(range(k if axes == k - 1 else 3))
    return SumView(
        inputs=inputs,
        eps=eps,
        note="" if axes == k - 1 or unchanged else "two values told apart",
        most=MANY if unchanged else {2: 22, 3: 9}.get(k, 6),
        own=tuple(response(v, k, protocol.eps_local, axes) for v in inputs),
        pairs=((0, 1),),
        shifts=unchanged,
    )


def fixed_dummies(protocol: FixedDummies, eps: float) -> View:
    """Return the view of one report per user and of uniform dummies."""
    k, most = protocol.domain_size, max(protocol.dummies_in_all, protocol.n_users)
    axes = _tracked(k, most + protocol.n_users)

    def noise(n: int) -> Block:
        total = int(protocol.dummies_of(np.array([n]))[0])
        return multinomial_counts(total, [1 / k] * axes) if total else point(axes)

    return replace(_among_dummies(protocol, eps, axes), noise=noise)


def flexible_dummies(protocol: FlexibleDummies, eps: float, number: int | None = None) -> View:
    """Return the view in which each user sends dummies with a fixed probability; the number of senders is revealed."""
    k, each = protocol.domain_size, protocol.per_sender
    users = protocol.n_users if number is None else number
    axes = _tracked(k, (each + 1) * protocol.n_users)
    reports = _among_dummies(protocol, eps, axes)
    if each == 0:  # whether a user sent none of its none is not seen
        return replace(reports, note="", shifts=False)

    def noise(n: int) -> Block:
        senders = binomial_counts(n, protocol.rate)
        parts = [multinomial_counts(each * s, [1 / k] * axes) if s else point(axes) for s in range(n + 1)]
        blocks = [
            Block(part.mass[None], (s, *part.start), part.error)
            for s, part in enumerate(parts[senders.start[0] :], senders.start[0])
        ]
        block = mixed(list(zip(senders.mass.tolist(), blocks, strict=False)))
        return replace(block, error=block.error.and_of(senders.error))

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        kinds = np.bincount(plain(payload), minlength=k)
        return [((len(payload) - users) // each, *kinds[:axes].tolist())]

    return ProductView(
        inputs=reports.inputs,
        eps=eps,
        note=reports.note,
        most=reports.most,
        noise=lambda n: (noise(n),),
        own=tuple(({(0, *place): chance for place, chance in law.items()},) for law in reports.own),
        counts=counts,
        pairs=reports.pairs,
        shifts=reports.shifts,
        by_number=None if number is not None else lambda n: flexible_dummies(protocol, eps, n),
    )


def truncation(protocol: Truncation, eps: float) -> View:
    """Return the view of users' values, and of one message per user and value with probability ``1 - miss_rate``."""
    return value_counts(protocol.domain_size, eps, lambda n: binomial_counts(n, 1 - protocol.miss_rate))


def noisy_counts(protocol: NoisyCounts, eps: float) -> View:
    """Return the view of each user's value, sent with a fixed probability, and of noise on every value's count."""
    k, keep = protocol.domain_size, protocol.keep
    noise = partial(noise_of_a_value, protocol)
    if keep == 1:
        return value_counts(k, eps, noise)
    laws: list[Own] = [SENT[0], {(1,): keep, (0,): 1 - keep}]
    return value_counts(k, eps, noise, laws, most={2: 16, 3: 8}.get(k, 5), shifts=False)


def noise_of_a_value(protocol: NoisyCounts, n: int) -> Block:
    """Return the law of the noise messages of one value if n users take part."""
    return noise_law(_NOISES, protocol)(protocol, n)


def noise_law(laws: Mapping[str, Noise], protocol: ProtocolBase) -> Noise:
    """Return the law of the noise in the protocol's family."""
    law = of_family(protocol, laws)
    if law is None:
        raise TypeError(f"unknown noise of {protocol.name}")
    return law


def _geometric_noise(half: float, share: float, turn: int) -> Block:
    """Return the law with weights ``left^(turn - z)`` below the mode `turn` and ``right^(z - turn)`` from there."""
    left_ratio = max((math.exp(-half) - (1 - share)) / share, 0.0)
    right_ratio = share / (math.exp(half) - 1 + share)
    down = left_ratio ** np.arange(turn, 0, -1, dtype=float)
    up = right_ratio ** np.arange(math.ceil(math.log(TAIL) / math.log(right_ratio)) + 1, dtype=float)
    total = float(down.sum()) + 1 / (1 - right_ratio)
    # The normalizing constant has the relative error of 1 - right; it is the same for both laws.
    error = Error((16 + 2 / (1 - right_ratio)) * UNIT, 0.0, right_ratio**up.size / (1 - right_ratio) / total)
    return Block(np.concatenate((down, up)) / total, (0,), error)


#: Noise messages of one value, by the family of the protocol.
_NOISES: Mapping[str, Noise] = {
    "frequency.sbin.SBin": lambda p, n: binomial_counts(p.coins, 0.5),
    "frequency.balls_into_bins.BallsIntoBins": lambda p, n: binomial_counts(n, p.rate),
    "frequency.designated_coins.DesignatedCoins": lambda p, n: binomial_counts(min(n, p.designated), 0.5),
    "frequency.silent_users.SilentUsers": lambda p, n: poisson_counts(p.dummy_mean * n / p.n_users),
    "frequency.one_sided_noise.OneSidedCounts": lambda p, n: negative_binomial_counts(
        p.shape * n / p.n_users, -math.expm1(-p.decay)
    ),
    "frequency.sageo.GeometricShuffle": lambda p, n: _geometric_noise(p.half_eps, p.share, p.turn),
}


def correlated_noise(protocol: CorrelatedNoise, eps: float) -> View:
    """Return the view of +1 for each user's value and of noise +1 and -1 for every value, in shares of the users."""
    shape_and_stop = (protocol.shape, -math.expm1(-protocol.decay))
    return correlated_view(protocol, eps, shape_and_stop, math.exp(-protocol.eps_geometric))


def correlated_view(
    protocol: NoisyCounters, eps: float, both: Summand, ratio: float, number: int | None = None
) -> View:
    """Return the view of a counter per value, with `both` as the common noise of +1 and -1."""
    k, users, common = protocol.domain_size, protocol.n_users, (both,)
    part = 1.0 if number is None else number / users
    pair = PairNoise(ratio, common, max(users, 1))
    whole = part == 1

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        kinds = np.bincount(plain(payload), minlength=2 * k).tolist()
        pairs = [(kinds[2 * v], kinds[2 * v + 1]) for v in range(k)]
        return [pair.tallied(*two) for two in pairs] if whole else list(pairs)

    def noise(n: int) -> tuple[Block, ...]:
        return (point(2) if whole else pair_part(ratio, common, part),) * k

    return ProductView(
        inputs=tuple(range(k)),
        eps=eps,
        most=MANY,
        noise=noise,
        own=tuple(tuple({(int(i == v), 0): 1.0} for i in range(k)) for v in range(k)),
        banded=dict.fromkeys(range(k), pair) if whole else {},
        counts=counts,
        pairs=((0, 1),),
        shifts=True,
        by_number=None if number is not None else lambda n: correlated_view(protocol, eps, both, ratio, n),
    )


def turned(block: Block, worth: int) -> Block:
    """Return the law modulo q of a count after `worth` is added."""
    return replace(block, mass=np.roll(block.mass, worth % block.mass.size))


def polya_modulo(order: int, ratio: float, shape: float) -> Block:
    """Return the law modulo q of a difference of two negative binomials; shape 1 is the two-sided geometric law."""
    check_size(order, f"a group of order {order}")
    if shape == 1:
        x = np.arange(order, dtype=float)
        law = (ratio**x + ratio ** (order - x)) * (1 - ratio) / (1 + ratio) / (1 - ratio**order)
        law[0] = (1 - ratio) / (1 + ratio) * (1 + ratio**order) / (1 - ratio**order)
        return Block(law, (0,), Error((16 + 2 / (1 - ratio**order)) * UNIT))
    angle = 2 * np.pi * np.arange(order // 2 + 1) / order
    # |1 - r e^(i t)|^2 = (1 - r)^2 + 4 r sin^2(t / 2)
    size = (1 - ratio) ** 2 / ((1 - ratio) ** 2 + 4 * ratio * np.sin(angle / 2) ** 2)
    law = np.fft.irfft(size**shape, order)
    return Block(np.maximum(law, 0.0), (0,), Error(0.0, (1 + shape) * transformed(law)))


def gaussian_modulo(order: int, tau: float, users: int) -> Block:
    """Return the law modulo q of a sum of discrete Gaussians.

    A power of a transform multiplies its error by the exponent. The error of numbers up to 1 is below 7 roundings per
    level of the transform.
    """
    reach = math.ceil(14 * tau) + 2
    check_size(max(order, 2 * reach), f"a group of order {order}")
    x = np.arange(-reach, reach + 1)
    weights = np.exp(-(x**2) / (2 * tau**2))
    single_law = np.bincount(np.mod(x, order), weights=weights / weights.sum(), minlength=order)
    law = np.fft.irfft(np.fft.rfft(single_law) ** users, order)
    return Block(np.maximum(law, 0.0), (0,), Error(0.0, (1 + users) * transformed(law)))


def secret_shares(protocol: SecretShares, eps: float) -> View:
    """Return the view of the sum of all shares modulo q."""
    noise = noise_law(_SHARES, protocol)
    return ModularView(
        inputs=(0, 1),
        eps=eps,
        note="only the sum of the shares",
        most=MANY,
        shifts=True,
        order=protocol.group_order,
        noise=lambda n: noise(protocol, n),
        worth=(0, protocol.precision),
    )


#: Sum modulo q of all shares of n users, by the family of the protocol.
_SHARES: Mapping[str, Noise] = {
    "frequency._polya_shares.PolyaShares": lambda p, n: polya_modulo(
        p.group_order, math.exp(-p.eps / p.precision), n / p.base_users
    ),
    "frequency.multi_expected.MultiExpected": lambda p, n: gaussian_modulo(p.group_order, p.tau, n),
}


# -- noise of a curator or of a secure sum ---------------------------------------------------------------------------


def laplace_counts(ratio: float) -> Block:
    """Return the law of discrete Laplace noise, with probabilities proportional to ``ratio^|y|``."""
    reach = math.ceil(math.log(TAIL) / math.log(ratio))
    check_size(2 * reach + 1, f"noise up to {reach}")
    y = np.abs(np.arange(-reach, reach + 1)).astype(float)
    beyond = 2 * ratio ** (reach + 1) / (1 + ratio)
    return Block((1 - ratio) / (1 + ratio) * ratio**y, (-reach,), Error(8 * UNIT, 0.0, beyond))


def gaussian_counts(sigma: float) -> Block:
    """Return the law of discrete Gaussian noise."""
    reach = math.ceil(math.sqrt(-2 * math.log(TAIL)) * sigma)
    check_size(2 * reach + 1, f"noise up to {reach}")
    x = np.arange(-reach, reach + 1).astype(np.longdouble)
    weights = np.exp(-np.square(x / np.longdouble(sigma)) / 2)
    # An exponent of at most 60 has an absolute error of a few times as many roundings; the next weights fall faster
    # than by the last ratio.
    law = np.asarray(weights / weights.sum(), float)
    beyond = 2 * float(law[-1]) / math.expm1(reach / sigma**2)
    return Block(law, (-reach,), Error((3 + 0.5 * law.size * LONG_UNIT / UNIT) * UNIT, 0.0, beyond))


def skellam_counts(variance: float) -> Block:
    """Return the law of the difference of two Poisson counts."""
    half = poisson_counts(variance / 2)
    most = half.start[0] + half.mass.size - 1
    return added(half, Block(half.mass[::-1], (-most,), half.error))


def noisy_counts_of(protocol: NoisyHistogram | Skellam) -> int:
    """Return the number of counts with independent noise: one for two values under replacement, else one per value."""
    return 1 if protocol.domain_size == 2 and protocol.relation == "replace_one" else protocol.domain_size


def count_noise(protocol: NoisyHistogram | Skellam, n: int) -> Block:
    """Return the law of the noise of a count among n users, which is the same for every value."""
    return noise_law(_OF_A_COUNT, protocol)(protocol, n)


def _laplace_of_a_count(protocol: CentralLaplace, n: int) -> Block:
    changed_counts = 1 if protocol.relation == "add_remove" else min(noisy_counts_of(protocol), 2)
    return laplace_counts(math.exp(-protocol.noise.eps / changed_counts))


#: Noise of one count among n users, by the family of the protocol.
_OF_A_COUNT: Mapping[str, Noise] = {
    "frequency.skellam.Skellam": lambda p, n: skellam_counts(p.variance * n / p.n_users),
    "frequency.central_laplace.CentralLaplace": _laplace_of_a_count,
    "frequency.central_gaussian.CentralGaussian": lambda p, n: gaussian_counts(p.noise.sigma),
}


def curator_noise(protocol: NoisyHistogram, eps: float) -> View:
    """Return the view of a trusted curator's noisy counts; all values are equivalent."""
    k, parts = protocol.domain_size, noisy_counts_of(protocol)
    noise = count_noise(protocol, 1)

    return value_counts(
        k,
        eps,
        lambda n: noise,
        parts=parts,
        counts=lambda payload: [(int(payload[payload[:, 0] == j, 1].sum()),) for j in range(parts)],
        kinds=lambda payload: np.sign(payload[:, 1]) + 1,
    )


def skellam(protocol: Skellam, eps: float) -> View:
    """Return the view of noisy counts of which the analyzer sees only the sums; all values are equivalent."""
    parts = noisy_counts_of(protocol)
    return value_counts(
        protocol.domain_size,
        eps,
        partial(count_noise, protocol),
        parts=parts,
        counts=lambda payload: [(int(c),) for c in payload.sum(axis=0)[:parts]],
        kinds=lambda payload: np.minimum(np.abs(payload).sum(axis=1), 2),
    )


VIEWS: Mapping[str, Callable[..., View]] = {
    "frequency._randomized_response.RandomizedResponse": randomized_response,
    "frequency.random_checkin.RandomCheckin": random_checkin,
    "frequency._dummy_points.FixedDummies": fixed_dummies,
    "frequency._flexible_dummies.FlexibleDummies": flexible_dummies,
    "frequency.truncation.Truncation": truncation,
    "frequency._noisy_counts.NoisyCounts": noisy_counts,
    "frequency.correlated_noise.CorrelatedNoise": correlated_noise,
    "frequency.solh.Solh": solh,
    "frequency._unary_bits.WholeRows": whole_rows,
    "frequency._unary_bits.FlippedBits": flipped_bits,
    "frequency.subset_selection.SubsetSelection": subset_selection,
    "frequency._designs.DesignReports": design_reports,
    "frequency.hashed_balls_into_bins.HashedBallsIntoBins": hashed_balls_into_bins,
    "frequency.private_coin.PrivateCoin": private_coin,
    "frequency.public_coin.PublicCoin": public_coin,
    "frequency._secret_shares.SecretShares": secret_shares,
    "frequency._curator_noise.NoisyHistogram": curator_noise,
    "frequency.skellam.Skellam": skellam,
}
