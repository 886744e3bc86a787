from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta
from shuffledp.claims.searches import bits
from shuffledp.claims.searches.found import largest


def listed(inputs: tuple[int, ...], p: float) -> Counter[tuple[int, int]]:
    """The law of the sums of the first two bits, a term per sequence of bits; input 2 is a third value."""
    law: Counter[tuple[int, int]] = Counter()
    for sent in itertools.product(itertools.product((0, 1), repeat=2), repeat=len(inputs)):
        mass = math.prod(
            (1 - p) if bit == (x == v) else p
            for x, pair in zip(inputs, sent, strict=True)
            for v, bit in enumerate(pair)
        )
        law[sum(a for a, _ in sent), sum(b for _, b in sent)] += mass
    return law


def test_every_data_set_of_two_others_against_all_sequences_of_bits() -> None:
    p, eps = 0.2, 0.6
    table = bits.sums_deltas(2, p, eps)
    for first, second in itertools.product(range(3), repeat=2):
        if first + second > 2:
            assert np.isnan(table[first, second])
            continue
        others = (0,) * first + (1,) * second + (2,) * (2 - first - second)
        one, two = listed((0, *others), p), listed((1, *others), p)
        wanted = sum(max(one[key] - math.exp(eps) * two[key], 0.0) for key in one)
        assert table[first, second] == pytest.approx(wanted, rel=1e-12)


def test_the_three_known_data_sets_are_those_of_the_calibrations() -> None:
    table = bits.sums_deltas(6, 0.1, 1.5)
    known = {kind: rappor_delta(7, 0.1, 1.5, calibration=kind) for kind in ("worst_case", "optimistic")}
    assert max(table[6, 0], table[0, 6]) == pytest.approx(known["worst_case"], rel=2e-7)
    assert table[0, 0] == pytest.approx(known["optimistic"], rel=2e-7)


def test_few_users_have_worse_data_sets_and_one_other_has_none() -> None:
    assert largest(bits.sums((1,), (0.1, 0.3)), bits.LIMIT).beyond == 0
    found = largest(bits.sums((2,), (0.3,)), bits.LIMIT)
    assert found.beyond > 0 and "1 of them hold one of the two values and 0 the other" in found.where
    two = largest(bits.sums((5,), (0.05,), third=False), bits.LIMIT)
    assert two.settings == 5 and two.beyond > 0 and "2 of them hold one of the two values and 3" in two.where


def test_vectors_are_one_hot_with_every_bit_flipped() -> None:
    rows = bits.vector_rows(3, 0.25)
    assert rows.shape == (3, 8) and rows.sum(axis=1) == pytest.approx(1.0)
    assert rows[0, 0b100] == pytest.approx(0.75**3) and rows[0, 0b010] == pytest.approx(0.25**2 * 0.75)


def test_vectors_show_no_less_than_sums() -> None:
    p, eps = 0.3, 0.4 * 2 * math.log(7 / 3)
    rows = bits.vector_rows(2, p)
    laws = {held: bits.replaced(law, rows) for held, law in bits.others_laws(rows, 2)}
    table = bits.sums_deltas(2, p, eps)
    for (first, second), pair in laws.items():
        assert bits.hockey_stick(*pair, eps) >= table[first, second] * (1 - 1e-12)
    assert largest(bits.vectors((2,), (2,), (p,)), bits.LIMIT).beyond > 0


def test_a_proven_bound_that_is_too_small_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    search = ((100,), (1.0,), (1e-3, 1e-6))
    sound = largest(bits.many(*search), math.inf, floor=1 / bits.LIMIT)
    assert sound.settings == 2 and sound.beyond == 0 and 1 <= sound.extreme < 1.2
    proven = bits.proven_bits_delta
    monkeypatch.setattr(bits, "proven_bits_delta", lambda *arguments: 0.8 * proven(*arguments))
    assert largest(bits.many(*search), math.inf, floor=1 / bits.LIMIT).beyond == 2
