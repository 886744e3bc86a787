"""The old module of guarantees, which users' baselines may still import."""

import pytest

from shuffledp import guarantees


def test_former_module_has_names_and_warns():
    with pytest.warns(DeprecationWarning, match=r"is now shuffledp\.guarantees: import Standing from there"):
        from shuffledp.accounting.standing import Standing
    assert Standing is guarantees.Standing


def test_other_names_are_missing():
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from shuffledp.accounting.standing import nothing  # noqa: F401
