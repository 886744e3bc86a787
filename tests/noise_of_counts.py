"""Laws of the noise of a count, by the definitions of the protocols and independently of the library."""

import numpy as np
from scipy import stats

#: Mass that a law may omit.
RARE = 1e-16


def negative_binomial(shape, decay):
    stop = -np.expm1(-decay)
    return stats.nbinom.pmf(np.arange(stats.nbinom.isf(RARE, shape, stop) + 1), shape, stop)


def noise_of(protocol, users):
    """Return the first number and the probabilities of the noise of a count, by the protocol's definition."""
    part = users / protocol.planned_users if hasattr(protocol, "planned_users") else 1.0
    match protocol.name:
        case "one_sided_noise":
            return 0, negative_binomial(protocol.shape * part, protocol.decay)
        case "silent_users":
            mean = protocol.dummy_mean * part
            return 0, stats.poisson.pmf(np.arange(stats.poisson.isf(RARE, mean) + 1), mean)
        case "balls_into_bins":
            return 0, stats.binom.pmf(np.arange(users + 1), users, protocol.rate)
        case "designated_coins":
            seats = np.arange(protocol.designated + 1)
            present = stats.hypergeom.pmf(
                seats, protocol.n_users, protocol.designated, min(users, protocol.n_users)
            )
            return 0, present @ stats.binom.pmf(seats, seats[:, None], 0.5)
        case "correlated_noise":
            single = negative_binomial(part, protocol.remaining_eps)
            return 1 - len(single), np.convolve(single, single[::-1])
        case "sbin":
            return 0, stats.binom.pmf(np.arange(protocol.coins + 1), protocol.coins, 0.5)
        case "sageo":
            window = protocol.noise(np.array(users)).window(RARE)
            return window.start, window.pmf
    return 0, np.ones(1)
