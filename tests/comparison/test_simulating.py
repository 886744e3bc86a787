"""One simulated batch: estimates, coverage of intervals, units of the data, table, data frame and picture."""

from html import escape

import numpy as np
import pytest

import shuffledp

BUDGET = {"eps": 1.0, "delta": 1e-6}


def test_users_values_become_estimates_with_intervals():
    cities = ["Bonn"] * 600 + ["Rome"] * 300 + ["Lima"] * 100
    found = shuffledp.simulate(
        cities, protocol="central_laplace", values=["Bonn", "Lima", "Oslo", "Rome"], **BUDGET
    )
    assert found.values == ("Bonn", "Lima", "Oslo", "Rome")
    np.testing.assert_allclose(found.truth, [0.6, 0.1, 0.0, 0.3])
    assert found.users == 1000
    # Discrete Laplace noise of ratio e^-1/2: 2 e^(-7/2) / (1 + e^(-1/2)) = 0.038 of the mass is beyond 6 of 1,000.
    assert 0.006 <= found.half_width.min() == found.half_width.max() < 0.007
    np.testing.assert_allclose(found.intervals[:2].mean(axis=1), found.estimates[:2])
    assert found.intervals.min() == 0  # the share of Oslo is cut to the range
    assert found.simultaneous_half_width > found.half_width.max()
    assert np.abs(found.estimates - found.truth).max() < found.simultaneous_half_width


def test_sums_have_units_of_data():
    hours = [1.5, 2.25, 7.0] * 1000
    found = shuffledp.simulate(hours, protocol="central_laplace", max_value=8, levels=32, **BUDGET)
    assert found.values == ("sum",)
    np.testing.assert_allclose(found.truth, [10750])
    row = shuffledp.compare(
        data=np.array(hours), max_value=8, levels=32, protocols=["central_laplace"], **BUDGET
    )[0]
    np.testing.assert_allclose(found.half_width, row.half_width)


def test_missing_formula_gives_simulated_variance(monkeypatch):
    protocol = shuffledp.get("frequency", "grr_blanket")
    known = shuffledp.simulate(counts=[400, 300, 300], protocol="grr_blanket", eps=1.0, delta=1e-3)
    monkeypatch.setattr(protocol, "expected_variance", lambda self, who: None)
    found = shuffledp.simulate(counts=[400, 300, 300], protocol="grr_blanket", eps=1.0, delta=1e-3)
    # A mean of 200 squares of normal numbers is off by a tenth, one standard error.
    np.testing.assert_allclose(found.variance, known.variance, rtol=0.45)
    assert np.all(found.variance != known.variance)


def test_sets_levels_and_protocol_options():
    found = shuffledp.simulate(
        counts=[300, 200, 100, 200],
        set_size=2,
        domain_size=4,
        protocol="balls_into_bins",
        eps=1.0,
        delta=1e-3,
    )
    assert found.users == 400
    np.testing.assert_allclose(found.truth, [0.75, 0.5, 0.25, 0.5])
    coins = shuffledp.simulate(
        counts=[500, 500], protocol="designated_coins", options={"colluding": 5}, eps=1.0, delta=1e-3
    )
    assert coins.protocol.parameters()["colluding"] == 5


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="Give data, a value per user, or counts"):
        shuffledp.simulate(protocol="grr_blanket", **BUDGET)
    with pytest.raises(ValueError, match=r"named 'grr_blankt'\. Did you mean 'grr_blanket'"):
        shuffledp.simulate(counts=[5, 5], protocol="grr_blankt", **BUDGET)
    with pytest.raises(TypeError, match=r"simulate\(\): .*max_bits"):
        shuffledp.simulate(counts=[5, 5], protocol="grr_blanket", max_bits=3, **BUDGET)


def test_results_print_and_convert():
    found = shuffledp.simulate(counts=[10] * 30, protocol="grr_blanket", eps=1.0, delta=1e-2)
    lines = str(found).splitlines()
    assert lines[0].startswith("grr_blanket, 300 users, guarantee upper; a user sends 1 messages")
    assert lines[1] == "±95 %: from true values, which analyzers do not know"
    assert lines[2].split() == ["value", "estimate", "±95", "%"]
    assert len(lines) == 24
    assert lines[-1] == "and 10 more values"
    frame = found.to_frame()
    np.testing.assert_array_equal(frame["estimate"], found.estimates)
    assert found._repr_html_() == f"<pre>{escape(str(found))}</pre>"
    axes = found.plot()
    assert len(axes.collections[-1].get_offsets()) == 30
    rows = shuffledp.compare(
        300, domain_size=4, eps=1.0, delta=1e-2, protocols=["grr_blanket", "central_laplace"]
    )
    assert list(rows.to_frame()["protocol"]) == [row.protocol for row in rows]
    assert rows.plot().axes[0].get_xlabel() == "bits per user"
