"""Weighted SepMM: separate balls-into-bins protocols with the weights of the paper."""

from dataclasses import dataclass

from shuffledp.protocols.sets._separate import SeparateLevels


@dataclass(frozen=True)
class SeparateWeighted(SeparateLevels):
    """SepMM weighted by the paper's inverse standard deviations, where its n is read as n_k (SEG-N6.4.7)."""

    name = "separate_weighted"
    label = "Weighted SepMM"
    source = "Wang et al. 2024 (arXiv 2407.19639), Section 6"
    weights = "printed"
