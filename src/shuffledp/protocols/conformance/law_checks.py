"""Checks of messages and estimates: cost, laws, errors, and the claimed privacy."""

import math
from collections.abc import Iterable, Iterator
from inspect import getattr_static

import numpy as np

from shuffledp.populations.base import Fixed
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.cases import Case, Protocol, jumps
from shuffledp.protocols.conformance.running import (
    FAST_REPEATS,
    estimates,
    has_fast_law,
    inherits,
    message_level,
    repeats_of,
    sending,
    simulated,
    with_new_corners,
)
from shuffledp.protocols.conformance.statistics import (
    P_VALUE,
    RARE,
    SIGMAS,
    assert_close,
    contradicted,
    generator,
    laws_p_value,
    mean_and_error,
    variance_and_error,
)
from shuffledp.tasks import Array, Floats, Public, Summation, Users

#: Number of users at the start of the list, and as many over the whole list, whose messages are counted separately.
FIRST_ALONE = 30


def check_permutation_invariant(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that the aggregate does not depend on the order of the shuffled messages."""
    for case, protocol, where in sending(protocol_class, cases):
        public = case.participants(1).public
        shuffled = protocol.shuffle(protocol.encode(case.users(), generator()), public, generator(1))
        want = protocol.aggregate(shuffled)
        for seed in range(3):
            mixed = type(shuffled)(generator(seed).permutation(shuffled.payload, axis=0))
            got = protocol.aggregate(mixed)
            assert np.allclose(got, want), f"{where}: the aggregate depends on the order of the messages"


def check_additive(protocol_class: Protocol, cases: Iterable[Case]) -> str | None:
    """Check that a ``streamable`` aggregate adds up over chunks, or, for sums modulo q, has the same estimate."""
    if not protocol_class.streamable:
        return "NOT checked, streamable is False"
    for case, protocol, where in sending(protocol_class, cases):
        public = case.participants(1).public
        sent = protocol.shuffle(protocol.encode(case.users(), generator()), public, generator(1))
        if len(sent) == 0:  # a shuffler may drop what there is
            continue
        chunks = np.array_split(sent.payload, 3)
        whole = protocol.aggregate(sent)
        chunk_sum = np.sum([protocol.aggregate(type(sent)(chunk)) for chunk in chunks if len(chunk)], axis=0)
        if np.shape(chunk_sum) == whole.shape and np.allclose(chunk_sum, whole):
            continue
        message = f"{where}: streamable, but the aggregate is not the sum over chunks"
        assert np.shape(chunk_sum) == whole.shape, message
        sum_estimate, whole_estimate = (protocol.estimate(np.stack([x]), public) for x in (chunk_sum, whole))
        assert np.allclose(sum_estimate, whole_estimate, rtol=1e-12, atol=1e-12), message
    return None


def check_cost(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check ``cost`` by simulation: messages per user, bits, and the dummies for a random population.

    Users who are encoded one by one must not exceed ``most_messages``. Dummies of a protocol with its own ``shuffle``
    or ``forward`` are not checked, as any step may add them.
    """
    for case, protocol, where in sending(protocol_class, cases):
        cost, users, rng = protocol.cost(), _as_many_as_expected(case), generator(2)
        runs = [protocol.encode(users, rng) for _ in range(30)]
        per_user = np.array([len(sent) / len(users) for sent in runs])
        mean, error = mean_and_error(per_user)
        if _somebody_holds_0(case, users):
            mean = np.maximum(mean, cost.messages_per_user)  # stated for users with other numbers than 0
        # Where all runs sent the same number, what users rarely send beside it was not seen: N users who each do so
        # with a small probability p are all seen to send the same with probability e^(-N p).
        unseen = -math.log(P_VALUE) * max(1.0, cost.messages_per_user) / (len(runs) * len(users))
        error = error + unseen / SIGMAS
        assert_close(f"{where}: messages per user, sent and stated", mean, cost.messages_per_user, error)
        assert 0 <= cost.own_messages <= cost.messages_per_user, (
            f"{where}: own_messages is {cost.own_messages}"
        )
        kinds = _different(np.concatenate([sent.payload for sent in runs]))
        assert math.log2(kinds) <= cost.bits_per_message + 1e-9, (
            f"{where}: {kinds} different messages do not fit into {cost.bits_per_message} bits"
        )
        if cost.most_messages is not None:
            most = max(len(protocol.encode(user, rng)) for user in _one_by_one(users))
            assert max(most, cost.messages_per_user * (1 - 1e-12)) <= cost.most_messages, (
                f"{where}: a user sends {most} messages, {cost.messages_per_user} on average and at most "
                f"{cost.most_messages} as stated"
            )
        if inherits(type(protocol), "shuffle", "forward"):
            dummies, spread = _mean_dummies(protocol, case, rng)
            claimed_dummies = cost.shuffler_messages
            assert_close(f"{where}: dummies, added and stated", dummies, claimed_dummies, spread, scale=1e3)


def _as_many_as_expected(case: Case) -> Users:
    """Return the users of a case, repeated or cut to the expected number that ``cost`` refers to."""
    users = case.users()
    if isinstance(case.population, Fixed):
        return users
    n = 1 + math.floor(case.population.mean)
    values = np.asarray(users.values)
    levels = None if users.levels is None else np.resize(users.levels, n)
    return Users(np.resize(values, (n, *values.shape[1:])), levels)


def _one_by_one(users: Users) -> Iterator[Users]:
    """Yield single users: the first `FIRST_ALONE`, and as many spread evenly over the whole list."""
    spread = np.linspace(0, len(users) - 1, FIRST_ALONE).astype(int)
    for place in np.unique(np.concatenate((np.arange(min(FIRST_ALONE, len(users))), spread))):
        levels = None if users.levels is None else users.levels[place : place + 1]
        yield Users(users.values[place : place + 1], levels, int(place))


def _different(messages: Array) -> int:
    """Return the number of different messages. Sorting by columns is faster than sorting whole rows."""
    rows = messages.reshape(len(messages), -1)
    rows = rows[np.lexsort(rows.T)]
    return 1 + int(np.count_nonzero(np.any(rows[1:] != rows[:-1], axis=1)))


def _somebody_holds_0(case: Case, users: Users) -> bool:
    """Return whether any user of a sum has the number 0, for which some protocols send no message."""
    numbers = users.values if users.values.ndim == 1 else users.values[:, -1]
    return isinstance(case.task, Summation) and bool(np.any(numbers == 0))


def _mean_dummies(protocol: ProtocolBase, case: Case, rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean number of dummies over the population's law, and its standard error."""
    window = case.population.window(1e-12)
    numbers = np.empty((len(window.pmf), 2))
    for row, others in zip(numbers, window.support, strict=True):
        public = Public(np.array([1 + others], np.int64))
        for i in range(2):
            dummies = protocol.dummies(public, rng)
            row[i] = 0 if dummies is None else len(dummies)
    noise = window.pmf * (numbers[:, 0] - numbers[:, 1]) / 2
    return float(window.pmf @ numbers.mean(axis=1)), float(np.sqrt(np.sum(noise**2)))


# -- laws ------------------------------------------------------------------------------------------------------


def check_one_law(protocol_class: Protocol, cases: Iterable[Case]) -> str | None:
    """Check that ``sample_aggregate`` has the law of the message level, or its marginal laws if ``joint_law`` is False.

    Means and variances agree within five standard errors. Two-sample Kolmogorov-Smirnov tests of every coordinate do
    not reject (p-value 1e-6). The same holds for five projections on random directions, which detect correlations.
    """
    if not has_fast_law(protocol_class):  # the fast law is the message level itself
        return "NOT checked, there is no sample_aggregate of its own: simulations run message by message"
    single = []
    for case, protocol, where in sending(protocol_class, cases):
        single.append(not protocol.joint_law)
        slow = message_level(protocol, case)
        fast = protocol.sample_aggregate(case.participants(FAST_REPEATS), generator(3))
        fast = fast.reshape(FAST_REPEATS, -1).astype(float)
        assert slow.shape[1] == fast.shape[1], (
            f"{where}: the fast law has {fast.shape[1]} numbers, not {slow.shape[1]}"
        )
        directions = generator(4).standard_normal((slow.shape[1], 5 if protocol.joint_law else 0))
        jump = jumps(protocol, case)[0]
        jump = np.concatenate((jump, jump @ np.abs(directions)))
        slow = np.column_stack((slow, slow @ directions))
        fast = np.column_stack((fast, fast @ directions))
        # The larger spread of the two: what is rare may have happened in one of the samples only.
        variance = np.maximum(slow.var(axis=0, ddof=1), fast.var(axis=0, ddof=1))
        draws = 1 / len(slow) + 1 / len(fast)
        error = np.sqrt(variance * draws) + RARE / SIGMAS * jump / min(len(slow), len(fast))
        means = fast.mean(axis=0), slow.mean(axis=0)
        assert_close(f"{where}: mean of the fast law and of the messages", *means, error, scale=1.0)
        (a, a_error), (b, b_error) = variance_and_error(slow), variance_and_error(fast)
        # Here too: sums modulo a number pass it rarely, and then everything is far off.
        each = np.maximum(a_error * math.sqrt(len(slow)), b_error * math.sqrt(len(fast)))
        error = np.sqrt(draws) * np.maximum(each, np.sqrt(variance) * jump)
        error += RARE / SIGMAS * jump**2 / min(len(slow), len(fast))
        assert_close(f"{where}: variance of the fast law and of the messages", b, a, error, scale=1.0)
        # Rounded, since a projection of a constant differs in its last digit.
        p_value = laws_p_value(slow.round(9), fast.round(9))
        assert p_value > P_VALUE, (
            f"{where}: the fast law and the messages differ in distribution; equal laws differ as much with "
            f"probability {p_value:.2g}"
        )
    if inherits(protocol_class, "joint_law"):
        return None
    alone = f"{sum(single)} of {len(single)} cases"
    return f"NOT checked: how numbers depend on each other where joint_law is False, {alone}"


def check_unbiased(protocol_class: Protocol, cases: Iterable[Case]) -> str | None:
    """Check that mean estimates equal the true values within five standard errors, unless ``biased``."""
    for case, protocol, where in simulated(protocol_class, cases):
        if protocol.biased:
            continue
        estimate, truth = estimates(protocol_class, case), case.participants(1).truth[0]
        assert np.all(np.isfinite(estimate)), f"{where}: some estimates are not finite"
        mean, error = mean_and_error(estimate)
        # Sample deviations do not know of lies that did not happen: the empirical Bernstein bound does.
        error = error + RARE / SIGMAS * jumps(protocol, case)[1] / len(estimate)
        assert_close(f"{where}: mean estimate", mean, truth.reshape(-1), error, scale=1.0)
    return "NOT checked, biased is True" if getattr_static(protocol_class, "biased") is True else None


def check_variance(protocol_class: Protocol, cases: Iterable[Case]) -> str | None:
    """Check that simulations do not contradict ``expected_variance``, and that ``expected_mse`` is its mean.

    A right formula is rejected with a probability of at most 1e-6 per coordinate and side, see
    `statistics.contradicted`. With normal errors, a variance that is 9 % too small or 15 % too large is rejected (a
    third and a half without a fast law).
    """
    repeats = repeats_of(protocol_class)
    for case, protocol, where in simulated(protocol_class, cases):
        participants = case.participants(repeats)
        variance = protocol.expected_variance(participants)
        if variance is None:
            continue
        want = (repeats, *case.task.estimate_shape)
        assert variance.shape == want, (
            f"{where}: expected_variance has shape {variance.shape}, expected {want}"
        )
        assert np.all(np.isfinite(variance) & (variance >= 0)), f"{where}: expected_variance is {variance[0]}"
        _compare_variance(protocol, case, estimates(protocol_class, case), variance[0].reshape(-1), where)
        if case.participating is not None:
            continue
        counts = np.asarray(case.counts, np.int64)
        single, several = protocol.expected_mse(counts), protocol.expected_mse(np.stack((counts, 2 * counts)))
        assert isinstance(single, float), f"{where}: expected_mse of (k,) counts is {type(single).__name__}"
        assert isinstance(several, np.ndarray), f"{where}: expected_mse of (2, k) counts is no array"
        assert several.shape == (2,), f"{where}: expected_mse of (2, k) counts has shape {several.shape}"
        assert_close(f"{where}: expected_mse", [single, several[0]], float(variance[0].mean()), 0.0)
    return (
        "NOT checked, there is no expected_variance"
        if inherits(protocol_class, "expected_variance")
        else None
    )


def _compare_variance(protocol: ProtocolBase, case: Case, samples: Floats, want: Floats, where: str) -> None:
    if protocol.biased:  # half the squared difference of two estimates has the variance as its mean
        half = len(samples) // 2
        squares = (samples[:half] - samples[half : 2 * half]) ** 2 / 2
    else:
        squares = (samples - case.participants(1).truth[0].reshape(-1)) ** 2
    name, got = f"{where}: variance, simulated and expected", squares.mean(axis=0)
    scale = float(np.max(np.abs(samples))) ** 2 * 1e-12  # rounding, where nothing is random
    fixed = want <= scale
    assert np.all(got[fixed] <= 10 * scale), f"{name}: got {got}, expected {want}"
    random = ~fixed
    if np.any(random):
        small, large = contradicted(squares[:, random], want[random], jumps(protocol, case)[1])
        off = [
            "too small" if below else "too large"
            for below, above in zip(small, large, strict=True)
            if below or above
        ]
        assert not off, f"{name}: got {got}, expected {want}, {off[0]}"


# -- privacy ---------------------------------------------------------------------------------------------------


def check_privacy(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that the privacy profile, if any, is a proven bound within the budget and does not grow with eps."""
    for case, protocol, where, new in with_new_corners(protocol_class, cases):
        pair = protocol.privacy_profile()
        if pair is None:
            continue
        assert pair.kind in ("exact", "upper"), f"{where}: the privacy profile is only {pair.kind!r}"
        assert pair.neighbours == case.budget.neighbours, f"{where}: the profile is for {pair.neighbours!r}"
        eps = case.budget.levels[0] * np.array([1.0, 0.5, 2.0] if new else [1.0])
        delta = np.asarray(pair.delta(eps), float)
        assert np.all((delta >= 0) & (delta <= 1)), f"{where}: the profile's delta is {delta}"
        falling = delta[np.argsort(eps)]
        assert np.all(np.diff(falling) <= 1e-12), f"{where}: the profile's delta grows with eps: {falling}"
        allowed = case.budget.delta * (1 + 1e-9) + 1e-15
        assert delta[0] <= allowed, (
            f"{where}: delta is {delta[0]:.6g} at the claimed eps, above {case.budget.delta}"
        )
