"""Every protocol, with a small task and a population."""

from shuffledp.protocols.registry import available
from shuffledp.tasks import TASK_KINDS, Frequency, Sets, Summation, Vectors

#: Protocols of the library by task kind and name.
BUILT_INS = [(kind, name) for kind in TASK_KINDS for name in available(kind)]

#: Tasks by kind, and by name for protocols that do not solve the first task of their kind.
TASKS = {
    "frequency": Frequency(20),
    "summation": Summation(3),
    "sets": Sets(20, 3),
    "vectors": Vectors(5, clip=1.0, norm="l1"),
    **dict.fromkeys(("multi_exact", "multi_expected", "multi_union"), Frequency(2)),
    "real_sum": Summation(3, real=True),
    "sparse_sum": Summation(3, coordinates=4),
}
#: Protocols that need a random number of users.
RANDOM = ("random_checkin", "multi_exact", "multi_expected", "multi_union")
