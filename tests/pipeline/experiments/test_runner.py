import json
import logging

import numpy as np
import pandas as pd
import pytest

from demo_job import demo_job
from shuffledp import storage
from shuffledp.pipeline.experiments import results, runner, seeds, simulated
from shuffledp.pipeline.experiments.bundle import PROFILE_METRICS
from shuffledp.pipeline.experiments.results import CELLS, VALUES, Bundle
from shuffledp.storage import IntegrityError

LOCAL = {"method": "local", "protocol": "local"}
CURVE = {
    "method": "moments",
    "protocol": None,
    "function": "amplified_epsilon",
    "returns": "eps_central",
    "budget": {},
    "grid": {"others": [3000, 4000]},
    "arguments": {"population": {"law": "poisson", "mean": "$others"}, "eps_local": 0.5, "delta": 1.0e-3},
}


def run(tmp_path, **changes):
    return runner.run(demo_job(**changes), prepared=tmp_path, root=tmp_path)


def values(tmp_path, accounting="printed", **changes):
    """Return simulated values by point: {point: (R,)}."""
    done = run(tmp_path, **changes)
    cells = done.cells.to_pandas().query("accounting == @accounting")
    table = done.values.to_pandas().query("kind == 'simulated'")
    return {c.point: table[table["cell"] == c.cell]["value"].to_numpy() for c in cells.itertuples()}


@pytest.fixture
def adult(tmp_path):
    """Prepare an Adult of 400 records, as `datasets.prepare` does."""
    about = {"name": "adult", "title": "Adult", "source": "stand_in", "origin": "made up", "sha256": {}}
    about |= {"n_records": 400, "note": "Not the real Adult.", "licence": "", "citation": ""}
    rows = {"sex": ["Female", "Male"], "hours_per_week": [40, 40], "count": [100, 300]}
    contents = {"parquet": pd.DataFrame(rows).to_parquet(), "json": json.dumps(about).encode()}
    files = {tmp_path / f"adult.{kind}": content for kind, content in contents.items()}
    storage.publish(tmp_path / "adult.sha256", files)
    return tmp_path


# -- participants and seeds ------------------------------------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch):
    """Return the participants of every grid point, in the order of the draws."""
    seen, original = [], simulated.participants
    monkeypatch.setattr(
        simulated, "participants", lambda *args, **given: seen.append(original(*args, **given)) or seen[-1]
    )
    return seen


@pytest.mark.parametrize(
    "other",
    [
        LOCAL,
        {"accounting": ["exact"]},
        {"grid": {"eps": [0.7]}},
        {"experiment": "elsewhere"},
        {"options": {}},
    ],
)
def test_participants_do_not_depend_on_methods(tmp_path, drawn, other):
    """Neither do they depend on accounting, eps or experiment."""
    run(tmp_path)
    run(tmp_path, **other)
    first, second = drawn
    assert np.array_equal(first.counts, second.counts)
    assert np.array_equal(first.public.n_users, second.public.n_users)


def test_first_participants_ignore_later_repeats(tmp_path, drawn):
    for repeats in (4, 9):
        run(tmp_path, repeats=repeats, grid={"eps": [0.5]}, accounting=["printed"])
    assert np.array_equal(drawn[1].counts[:4], drawn[0].counts)
    assert len({tuple(row) for row in drawn[1].counts}) > 1


def test_point_ignores_rest_of_grid(tmp_path):
    alone, among = values(tmp_path, grid={"eps": [1.0]}), values(tmp_path)
    assert np.array_equal(among['{"eps":1.0}'], alone['{"eps":1.0}'])
    reversed_ = values(tmp_path, grid={"eps": [1.0, 0.5]}, accounting=["exact", "printed"])
    assert {k: v.tolist() for k, v in reversed_.items()} == {k: v.tolist() for k, v in among.items()}


@pytest.mark.parametrize(
    "changes", [{"experiment": "again"}, {"paper": "again"}, {"grid": {"eps": [0.5], "x": [1]}}]
)
def test_mechanism_has_separate_streams(tmp_path, changes):
    # LOCAL's mechanism is the same in all of these: only the stream can make a difference.
    first = next(iter(values(tmp_path, **LOCAL).values()))
    other = next(iter(values(tmp_path, **(LOCAL | changes)).values()))
    assert not np.array_equal(first, other)


def test_estimators_use_the_same_messages(tmp_path):
    """Repeats with a large error for expected dummies also have a large error for observed dummies."""
    ((one,), (other,)) = (
        values(
            *(tmp_path, "exact"),
            protocol="flexible_pure_dump",
            method=estimator,
            options={"rate": 0.1, "estimator": estimator},
            repeats=400,
            grid={"eps": [1.0]},
            population={"users": 50_000},
        ).values()
        for estimator in ("expected", "observed")
    )
    assert not np.array_equal(one, other)
    # Independent repeats would exceed 0.2 once in 30,000 (Fisher: standard error 1 / sqrt(397)).
    assert np.corrcoef(one, other)[0, 1] > 0.2


def test_keys_become_the_same_stream_everywhere():
    assert seeds.canonical_json({"b": 1, "a": [0.1, "é"]}) == '{"a":[0.1,"é"],"b":1}'
    assert seeds.generator(7, "data", {"b": 1, "a": 2}).integers(10**9) == seeds.generator(
        7, "data", {"a": 2, "b": 1}
    ).integers(10**9)
    assert seeds.generator(7, "x").integers(10**9) == 944430104
    with pytest.raises(ValueError, match="Out of range"):
        seeds.canonical_json(float("nan"))


# -- rows --------------------------------------------------------------------------------------------------------


def test_tables_have_schema_and_order(tmp_path):
    task = {"kind": "frequency", "domain_size": 2, "metrics": ["tve", "mse"]}
    done = run(tmp_path, grid={"eps": [1.0, 0.5]}, task=task, repeats=12, accounting=["printed", "exact"])
    assert done.cells.schema.equals(CELLS)
    assert done.values.schema.equals(VALUES)
    cells = done.cells.to_pandas()
    merged = done.values.to_pandas().merge(cells[["cell", "point", "accounting"]], on="cell")
    keys = ["point", "accounting", "metric", "kind", "repeat"]
    assert merged[keys].apply(tuple, axis=1).tolist() == sorted(merged[keys].apply(tuple, axis=1))
    assert len(merged) == 2 * 2 * 2 * (12 + 1)
    assert cells["cell"].is_unique
    assert (cells["users_expected"] == 1001).all()
    assert cells["eps"].tolist() == [0.5, 0.5, 1.0, 1.0]


def test_repeats_are_drawn_where_stated(tmp_path):
    every, some = run(tmp_path), run(tmp_path, simulated_at={"eps": [1.0, 4.0]})

    def rows(done, kind):
        table = done.values.to_pandas().query("kind == @kind").merge(done.cells.to_pandas(), on="cell")
        return {(r.point, r.accounting, r.repeat): r.value for r in table.itertuples()}

    assert rows(some, "expected") == rows(every, "expected")
    assert rows(some, "simulated") == {
        key: value for key, value in rows(every, "simulated").items() if key[0] == '{"eps":1.0}'
    }
    assert len(rows(some, "simulated")) == 2 * 5


def test_delta_is_computed_at_eps_shares(tmp_path):
    done = run(tmp_path, profile_at={"eps": [1.0]}, accounting=["printed", "exact"])
    found = done.values.to_pandas().merge(done.cells.to_pandas(), on="cell").query("kind == 'computed'")
    assert set(found["point"]) == {'{"eps":1.0}'} and set(found["accounting"]) == {"exact"}
    assert found["metric"].tolist() == list(PROFILE_METRICS)
    delta = found["value"].to_numpy()
    assert (delta[1:] <= delta[:-1]).all() and delta[0] > 1e-3
    budgeted = dict(zip(found["metric"], found["delta"], strict=True))["delta_at_1"]
    assert found.set_index("metric")["value"]["delta_at_1"] == pytest.approx(budgeted, rel=0.05)


PICKY = """
from shuffledp.accounting import Infeasible
from shuffledp.protocols.frequency.local import Local

class Picky(Local):
    name = "picky"
    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        if budget.eps < 0.7:
            raise Infeasible("eps is below 0.7")
        return super().calibrate(budget, population, task, accounting=accounting)
"""


def test_infeasible_cell_has_only_a_reason(tmp_path):
    (tmp_path / "picky.py").write_text(PICKY)
    done = run(tmp_path, protocol="picky.py:Picky", accounting=["printed"])
    cells = done.cells.to_pandas().set_index("point")
    assert cells["status"].to_dict() == {'{"eps":0.5}': "infeasible", '{"eps":1.0}': "ok"}
    assert cells.loc['{"eps":0.5}', "reason"] == "eps is below 0.7"
    assert cells.loc['{"eps":0.5}', "users_expected"] == 1001
    assert set(done.values["cell"].to_pylist()) == {cells.loc['{"eps":1.0}', "cell"]}


def test_population_bound_cannot_be_simulated(tmp_path):
    population = {"law": "moment_bounded", "mean": 1000, "variance": 10}
    cells = run(tmp_path, population=population).cells.to_pandas()
    assert set(cells["status"]) == {"infeasible"}
    assert cells["reason"].str.contains("not a law").all()


def test_long_job_reports_progress(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="shuffledp")
    runner.run(demo_job(), prepared=tmp_path, root=tmp_path, every=0)
    assert "demo.coins.amplified: 2 of 4 cells" in caplog.text
    assert "s left" in caplog.text
    caplog.clear()
    run(tmp_path)
    assert "left" not in caplog.text


# -- expectation against simulation ----------------------------------------------------------------------------------


def test_data_source_comes_with_the_result(adult):
    of_adult = {**LOCAL, "data": {"name": "adult", "column": "sex"}}
    done = run(adult, **of_adult, population={"users": 100})
    assert (done.data_source, done.data_note) == ("stand_in", "Not the real Adult.")
    assert set(done.cells["data_source"].to_pylist()) == {"stand_in"}
    assert run(adult, **CURVE).data_source == "none"
    with pytest.raises(
        ValueError, match="401 participants cannot be drawn without replacement from 400 records"
    ):
        run(adult, **of_adult, population={"users": 401})


# -- reading -----------------------------------------------------------------------------------------------------------


def publish(tmp_path, method="amplified", **changes):
    done = run(tmp_path, method=method, **changes)
    bundle = Bundle.locate(tmp_path / "results", "demo", "coins", method)
    results.write(bundle, done.cells, done.values, {"data": {"source": "x", "note": ""}})
    return bundle


def test_summary_has_mean_error_and_count(tmp_path):
    read = results.read({"amplified": publish(tmp_path)})
    summary = read.summary()
    row = summary[(summary["kind"] == "simulated") & (summary["eps"] == 1.0)].iloc[0]
    raw = read.values[(read.values["cell"] == row["cell"]) & (read.values["kind"] == "simulated")]["value"]
    assert row["mean"] == pytest.approx(raw.mean())
    assert row["standard_error"] == pytest.approx(raw.std(ddof=1) / np.sqrt(5))
    assert row["count"] == 5
    assert summary[summary["kind"] == "expected"]["standard_error"].isna().all()
    assert read.provenance["amplified"]["data"]["source"] == "x"


def test_unused_grid_variable_has_no_coordinate(tmp_path):
    own = {**LOCAL, "budget": {"eps": 2.0, "delta": 1.0e-5}, "grid": {}}
    bundles = {"amplified": publish(tmp_path), "local": publish(tmp_path, **own)}
    cells = results.read(bundles).cells.set_index("method")
    assert cells.loc["local", "eps"].isna().all()
    assert sorted(set(cells.loc["amplified", "eps"])) == [0.5, 1.0]


@pytest.mark.parametrize("part", ["cells", "values", "provenance"])
@pytest.mark.parametrize("damage", ["changed", "missing", "unlisted"])
def test_damaged_result_names_file_and_command(tmp_path, part, damage):
    bundle = publish(tmp_path)
    path = getattr(bundle, part)
    if damage == "changed":
        path.write_bytes(path.read_bytes() + b" ")
    elif damage == "missing":
        path.unlink()
    else:
        bundle.checksum.unlink()
    with pytest.raises(IntegrityError, match="make repair") as caught:
        results.read({"amplified": bundle})
    assert (str(bundle.cells) if damage == "unlisted" else str(path)) in str(caught.value)


# -- what depends on how a protocol was calibrated ------------------------------------------------------------------


def test_squared_error_is_of_decoded_sums(tmp_path):
    """All users hold 0, so that in the figure's group about half of all sums wrap around."""
    done = run(
        tmp_path,
        protocol="split_and_mix",
        options={"group": "figure"},
        grid={"eps": [1.0]},
        task={"kind": "summation", "max_value": 3, "metrics": ["mse"]},
        data={"name": "categorical", "weights": [1.0, 0.0, 0.0, 0.0]},
        population={"users": 4000},
        accounting=["printed"],
        repeats=2000,
    )
    table = done.values.to_pandas()
    seen = table.query("kind == 'simulated'")["value"]
    expected = float(table.query("kind == 'expected'")["value"].iloc[0])
    # 5 standard errors, missed once in 2 million; the noise alone would be 18.
    assert abs(seen.mean() - expected) < 5 * seen.std() / 2000**0.5
    assert expected > 1e7
