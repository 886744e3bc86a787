import dataclasses

import pytest
from numpy.testing import assert_allclose

from shuffledp.pipeline.claims import errata_data, evaluation

ERRATA = errata_data.errata("shuffle_gaussian")


# Errata


def test_errata_are_complete_and_shown():
    assert [e.number for e in ERRATA] == sorted(e.number for e in ERRATA)
    evaluation.evaluate("shuffle_gaussian", checked=True)
    evaluation.evaluate("shuffle_gaussian", "reading_notes", checked=True)


def test_swapped_values_of_an_erratum_are_caught(monkeypatch):
    erratum = ERRATA[4]
    witness = erratum.compute()
    swapped = dataclasses.replace(witness, printed=witness.correct, correct=witness.printed)
    changed = dataclasses.replace(erratum, compute=lambda: swapped)
    only = dataclasses.replace(evaluation.LAYOUTS["errata"], entries=lambda paper: [changed])
    monkeypatch.setitem(evaluation.LAYOUTS, "errata", only)
    with pytest.raises(errata_data.ErratumError, match=rf"{erratum.id} \({erratum.witness}\)"):
        evaluation.evaluate("shuffle_gaussian", checked=True)


@pytest.mark.parametrize(
    "key, printed, correct, rtol",
    [
        ("SG-N1", 0.22820, 0.00141, 5e-3),
        ("SG-N2", 0.18623, None, 3e-5),
        ("SG-4", 8.93e-4, 1.546e-3, 4e-4),
        ("SG-N5", 3.3250, 3.99974, 5e-6),
        ("SG-N6", 0.575, 4.974, 1e-3),
        ("SG-N7", 10.128, 0.2223, 2e-4),
        ("SG-9", 9.9943e-4, 9.9988e-4, 5e-6),
    ],
)
def test_errata_have_the_known_values(key, printed, correct, rtol):
    entries = (*ERRATA, *errata_data.reading_notes("shuffle_gaussian"))
    witness = next(e for e in entries if e.id == key).compute()
    assert_allclose(witness.printed, printed, rtol=rtol)
    if correct is not None:
        assert_allclose(witness.correct, correct, rtol=rtol)
