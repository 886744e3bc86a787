"""Recursive Hadamard response: a uniform column of a Hadamard matrix of order D / B, a block and a randomized sign.

D is the smallest power of two from k on, with B blocks of D / B values. A user draws a uniform column c of the matrix
of order D / B. The report is c, with generalized randomized response on the pair of the block and the sign of the
value's row in column c. The pair (c, sign) is a column of the matrix of order ``2 D / B``, and the values are the
second half of its rows. The column may be public; a message then has ``1 + log2(B)`` bits.
"""

from dataclasses import dataclass

from shuffledp.protocols.frequency._hadamard import HadamardReports


@dataclass(frozen=True)
class RecursiveHadamard(HadamardReports):
    """Uniform column of a Hadamard matrix, with randomized response on the block and the sign of a value there."""

    name = "recursive_hadamard"
    label = "recursive Hadamard response"
    source = "Chen, Kairouz and Ozgur 2020"
    largest_share = 0.5

    @property
    def order(self) -> int:
        """Order ``2 D / B``, for the columns of a matrix of order D / B with a sign."""
        return (2 << (self.domain_size - 1).bit_length()) // self.blocks

    @property
    def first_row(self) -> int:
        """First row of the second half, in which the rows change their sign between the halves of the columns."""
        return self.order // 2
