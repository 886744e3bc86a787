import dataclasses

import pytest

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
