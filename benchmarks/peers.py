"""Local randomizers at the message level in this library, pure-ldp and multi-freq-ldpy: 70,187 users, 900 values.

All draw one report per user of the same data with the same local budget and the same size of the hashed domain. The
peers' functions are called once per user, as their interfaces need it; this library's functions take all users at once.
"""

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from random_population import Row

from shuffledp.protocols.frequency._value_counts import GeneralizedResponse
from shuffledp.protocols.frequency.private_coin import PrivateCoin
from shuffledp.protocols.frequency.solh import Solh
from shuffledp.tasks import Users

USERS, VALUES, EPS_LOCAL = 70_187, 900, 3.0
ENTRIES = 16


def users_of_the_benchmark() -> np.ndarray:
    return np.random.default_rng(1).integers(0, VALUES, USERS)


def seconds(function: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of several runs, after one run that compiles and fills caches."""
    function()
    fastest = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def peers(values: list[int]) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Yield the kind of randomizer, the name of the library, and a function that runs it on all users."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
        from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
        from pure_ldp.frequency_oracles.direct_encoding import DEClient
        from pure_ldp.frequency_oracles.hadamard_response import (
            HadamardResponseClient,
            HadamardResponseServer,
        )
        from pure_ldp.frequency_oracles.local_hashing import LHClient

    direct = DEClient(EPS_LOCAL, VALUES)
    yield "GRR", "pure-ldp", lambda: [direct.privatise(v + 1) for v in values]
    yield "GRR", "multi-freq-ldpy", lambda: [GRR_Client(v, VALUES, EPS_LOCAL) for v in values]
    hashing = LHClient(EPS_LOCAL, VALUES, use_olh=True)
    yield "OLH", "pure-ldp", lambda: [hashing.privatise(v + 1) for v in values]
    yield "OLH", "multi-freq-ldpy", lambda: [LH_Client(v, VALUES, EPS_LOCAL, True) for v in values]
    server = HadamardResponseServer(EPS_LOCAL, VALUES)
    hadamard = HadamardResponseClient(EPS_LOCAL, VALUES, server.get_hash_funcs())
    yield "Hadamard", "pure-ldp", lambda: [hadamard.privatise(v + 1) for v in values]


def rows() -> list[Row]:
    """Return all rows of the table, in some seconds; the benchmarks' lock has the other libraries."""
    held = users_of_the_benchmark()
    users, rng = Users(held), np.random.default_rng(2)
    cells = round(np.exp(EPS_LOCAL)) + 1
    response = GeneralizedResponse(EPS_LOCAL, VALUES)
    hashed, coins = Solh(USERS, VALUES, EPS_LOCAL, cells), PrivateCoin(USERS, VALUES, 0, ENTRIES)
    ours = {
        "GRR": seconds(lambda: response.randomize(held, rng), 5),
        "OLH": seconds(lambda: hashed.encode(users, rng), 5),
        "Hadamard": seconds(lambda: coins.encode(users, rng), 5),
    }
    return [
        Row(
            f"{kind} reports of {USERS:,} users, {VALUES} values: {USERS / ours[kind]:,.0f} users per second, "
            f"{library} {USERS / theirs:,.0f}",
            ours[kind],
            theirs,
        )
        for kind, library, run in peers(held.tolist())
        for theirs in [seconds(run, 1)]
    ]
