"""Weighted SepMM: separate balls-into-bins protocols with the paper's weights."""

from dataclasses import dataclass

from shuffledp.protocols.sets._separate import SeparateLevels


@dataclass(frozen=True)
class SeparateWeighted(SeparateLevels):
    """SepMM with the paper's inverse standard deviations as weights; n in their formula is read as n_k (SEG-N6.4.7)."""

    name = "separate_weighted"
    label = "Weighted SepMM"
    source = "Wang et al. 2024 (arXiv 2407.19639), Section 6"
    weights = "printed"
