"""SepMM: separate balls-into-bins protocols with equal weights."""

from dataclasses import dataclass

from shuffledp.protocols.sets._separate import SeparateLevels


@dataclass(frozen=True)
class Separate(SeparateLevels):
    """SepMM with equal weights for the estimates of all levels."""

    name = "separate"
    label = "SepMM"
    source = "Wang et al. 2024 (arXiv 2407.19639), Section 6"
    weights = "equal"
