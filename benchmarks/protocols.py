"""Protocols: cost by numbers of users and of values, the message level, and local randomizers of other packages."""

import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.ratios import times_as_fast
from benchmarks.scale import Case, participants, run
from shuffledp.accounting import Infeasible
from shuffledp.numerics.repeated_indices import pieces
from shuffledp.protocols import available, get, stream
from shuffledp.protocols.frequency._value_counts import GeneralizedResponse
from shuffledp.protocols.frequency.private_coin import PrivateCoin
from shuffledp.protocols.frequency.solh import Solh
from shuffledp.tasks import TASK_KINDS, USERS_AT_ONCE, Public, Users

NAMES = [f"{kind}.{name}" for kind in TASK_KINDS for name in available(kind)]


class Scale:
    """Calibration, one repeat by the fast law, and the estimate: by users of ten values, by values of 10^6 users."""

    params = (NAMES, ("10^3 users", "10^6 users", "10^9 users", "10^3 values", "10^6 values"))
    param_names = ("protocol", "size")
    number, repeat, timeout = 1, 1, 60

    def setup(self, name: str, size: str) -> None:
        kind, _, protocol = name.partition(".")
        number = 10 ** int(size[3])
        self.case = Case(kind, protocol, *((number, 10) if size.endswith("users") else (10**6, number)))
        try:
            get(kind, protocol).calibrate(self.case.budget, self.case.law, self.case.task)
        except Infeasible as error:
            raise NotImplementedError from error  # asv leaves the setting out

    def time_case(self, name: str, size: str) -> None:
        run(self.case)

    def peakmem_case(self, name: str, size: str) -> None:
        run(self.case)


class MessageLevel:
    """Messages of 10^7 users in parts: encoded, shuffled and aggregated."""

    params = (
        ("frequency.pure_dump", "frequency.unary_rows", "frequency.skellam", "summation.correlated_sum"),
    )
    param_names = ("protocol",)
    number, repeat, timeout = 1, 1, 600

    def setup(self, name: str) -> None:
        kind, _, protocol = name.partition(".")
        case = Case(kind, protocol, 10**7, 10 if kind == "frequency" else 5)
        self.protocol = get(kind, protocol).calibrate(case.budget, case.law, case.task)
        self.counts = participants(case.task, case.users).counts[0]

    def time_stream(self, name: str) -> None:
        chunks = (Users(values) for _, values in pieces(self.counts, USERS_AT_ONCE))
        stream(self.protocol, chunks, Public(np.array([10**7], np.int64)), np.random.default_rng(1))

    peakmem_stream = time_stream


USERS, VALUES, EPS_LOCAL, ENTRIES = 70_187, 900, 3.0, 16


class Peers:
    """Reports with the same local budget and size of the hashed domain; peers take one call per user.

    A Hadamard report of this library is a tuple of 16 entries, and a report of pure-ldp is one entry.
    """

    params = (("GRR", "OLH", "Hadamard"), ("pure-ldp", "multi-freq-ldpy"))
    param_names = ("report", "package")
    unit, timeout = "times as fast", 300

    def setup(self, report: str, package: str) -> None:
        if (report, package) == ("Hadamard", "multi-freq-ldpy"):
            raise NotImplementedError

    def track_reports(self, report: str, package: str) -> float:
        held, rng = np.random.default_rng(1).integers(0, VALUES, USERS), np.random.default_rng(2)
        cells = round(np.exp(EPS_LOCAL)) + 1
        ours = {
            "GRR": lambda: GeneralizedResponse(EPS_LOCAL, VALUES).randomize(held, rng),
            "OLH": lambda: Solh(USERS, VALUES, EPS_LOCAL, cells).encode(Users(held), rng),
            "Hadamard": lambda: PrivateCoin(USERS, VALUES, 0, ENTRIES).encode(Users(held), rng),
        }
        theirs = randomizer(report, package)
        return times_as_fast(ours[report], lambda: [theirs(value) for value in held.tolist()])


def randomizer(report: str, package: str) -> Callable[[int], object]:
    """Return a package's function that randomizes the value of one user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
        from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
        from pure_ldp.frequency_oracles import direct_encoding, hadamard_response, local_hashing

    if package == "multi-freq-ldpy":
        if report == "GRR":
            return lambda value: GRR_Client(value, VALUES, EPS_LOCAL)
        return lambda value: LH_Client(value, VALUES, EPS_LOCAL, True)
    if report == "GRR":
        client = direct_encoding.DEClient(EPS_LOCAL, VALUES)
    elif report == "OLH":
        client = local_hashing.LHClient(EPS_LOCAL, VALUES, use_olh=True)
    else:
        server = hadamard_response.HadamardResponseServer(EPS_LOCAL, VALUES)
        client = hadamard_response.HadamardResponseClient(EPS_LOCAL, VALUES, server.get_hash_funcs())
    return lambda value: client.privatise(value + 1)
