"""The number that demonstrates an erratum or a reading note."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Witness:
    """One quantity, as the printed form gives it and as it is.

    Parameters
    ----------
    quantity : str
        What the two numbers are, in which setting, with units.
    printed : float
        What the printed form gives, or promises; for a reading note, what the form as read gives.
    correct : float
        What is true: an exact value, a proven bound, or the value of the corrected form; for a reading note, what the
        form used here gives.
    shows : bool
        Whether everything that the entry states was found to hold in this computation.
    note : str
        Further numbers of the same computation.
    """

    quantity: str
    printed: float
    correct: float
    shows: bool
    note: str


#: Computes a witness anew at every call.
WitnessFunction = Callable[[], Witness]
