"""SepMM with the best weights: separate balls-into-bins protocols with inverse variances as weights."""

from dataclasses import dataclass

from shuffledp.protocols.sets._separate import SeparateLevels


@dataclass(frozen=True)
class SeparateInverseVariance(SeparateLevels):
    """SepMM with inverse variances as weights, for blanket messages and equally frequent items."""

    name = "separate_inverse_variance"
    label = "SepMM, inverse variances"
    source = "this project: the best weights for SepMM of Wang et al. 2024 (arXiv 2407.19639)"
    proof = "shuffledp.accounting.segmented.items"
    weights = "inverse_variance"
