"""Small noise designs, and the divergences of their sums by enumeration."""

import itertools
import math

import numpy as np
from scipy.stats import nbinom

from shuffledp.accounting.summation.noise_atoms import atom_messages
from shuffledp.accounting.summation.noise_design import NoiseDesign


def design_of(size, eps_star, laws, *, atoms="halving", hubs=(), eps=1.0, delta=1e-6):
    """Return a small design; `laws` maps the index of an atom to (r, p)."""
    return NoiseDesign(
        size,
        eps_star,
        atoms,
        hubs,
        tuple(laws),
        tuple(r for r, _ in laws.values()),
        tuple(p for _, p in laws.values()),
        eps,
        delta,
    )


def enumerated(design, eps, lost):
    """Return divergences of all pairs over the counts of all messages, up to an omitted mass per variable."""
    size = design.max_value
    a = design.central_ratio
    contents = [{1: 1}, {-1: 1}]
    laws = [(1.0, a), (1.0, a)]
    for index, r, p in zip(design.indices, design.shapes, design.ratios, strict=True):
        contents.append(atom_messages(index, size, atoms=design.atoms, hubs=design.hubs or None))
        laws.append((r, p))
    messages = sorted({m for c in contents for m in c} | set(range(1, size + 1)))
    base = {m: 512**i for i, m in enumerate(messages)}
    keys, weights, total = np.zeros(1, np.int64), np.ones(1), 2
    for content, (r, p) in zip(contents, laws, strict=True):
        last = int(nbinom.isf(lost, r, 1 - p))
        total += last * max(content.values())
        copies = np.arange(last + 1)
        step = sum(k * base[m] for m, k in content.items())
        keys = (keys[:, None] + step * copies).ravel()
        weights = (weights[:, None] * nbinom.pmf(copies, r, 1 - p)).ravel()
        keys, where = np.unique(keys, return_inverse=True)
        weights = np.bincount(where.ravel(), weights)
    assert total < 512
    found = {}
    for x, y in itertools.permutations(range(size + 1), 2):
        shift = (base[y] if y else 0) - (base[x] if x else 0)
        there = np.searchsorted(keys, keys - shift).clip(0, keys.size - 1)
        other = np.where(keys[there] == keys - shift, weights[there], 0.0)
        found[x, y] = float(np.maximum(weights - math.exp(eps) * other, 0).sum())
    return found


def polya_difference(shape, eps, size):
    """Return the law of the difference of two negative binomial variables, on -(size - 1), .., size - 1."""
    pmf = nbinom.pmf(np.arange(size), shape, -math.expm1(-eps))
    return np.convolve(pmf, pmf[::-1])
