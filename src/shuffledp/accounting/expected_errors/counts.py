"""Error of counts that carry noise and for which users report with some probability only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def sampled_count_variance(noise: ArrayLike, rate: ArrayLike, held: ArrayLike) -> NDArray[np.float64]:
    """Return the variance of ``(Bin(held, rate) + Z - E[Z]) / rate``, the estimate of a count.

    Parameters
    ----------
    noise : array_like
        Variance of Z, >= 0.
    rate : array_like
        Probability with which a user's own message is counted, in (0, 1].
    held : array_like
        The true count, or its mean over values.

    Returns
    -------
    ndarray
        ``Var(Z) / rate^2 + held (1 - rate) / rate``, broadcast over the arguments; exact.
    """
    share = np.asarray(rate, np.float64)
    return np.asarray(np.asarray(noise) / share**2 + np.asarray(held) * (1 - share) / share, np.float64)
