"""Hadamard response: a row of a Hadamard matrix per value, in B blocks of b - 1 values.

The order b is the smallest power of two with ``B (b - 1) >= k``; the first row, which is +1 everywhere, is no value.
"""

from dataclasses import dataclass

from shuffledp.protocols.frequency._hadamard import HadamardReports


@dataclass(frozen=True)
class HadamardResponse(HadamardReports):
    """Block of the value and a column of its Hadamard matrix, more often one in which the row of the value is +1."""

    name = "hadamard_response"
    label = "Hadamard response"
    source = "Acharya, Sun and Zhang 2019"
    largest_share = 1.0
    first_row = 1

    @property
    def order(self) -> int:
        """Order b, the smallest power of two with room for all values."""
        return 1 << (-(-self.domain_size // self.blocks)).bit_length()
