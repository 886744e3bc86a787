"""Files of users: checked before anything runs, counted once, and used by experiments."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from shuffledp.pipeline.config.smallest_cells import trials
from shuffledp.pipeline.experiments import runner, user_files
from shuffledp.pipeline.experiments.sources import source_from
from shuffledp.pipeline.experiments.sources.user_file import completed, files_of, key_of, load, request
from shuffledp.protocols import get
from shuffledp.storage import IntegrityError
from shuffledp.tasks import Sets

CSV = "color,minutes,user\n" + "red,10.2,a\nblue,70,b\nred,-1,a\ngreen,30,c\n" * 500 + "red\n,3,d\n"
BY_COLUMN = {"name": "file", "path": "mine/visits.csv", "column": "color"}
OWN = """\
study: {title: "Mine"}
experiments:
  colors:
    task: {kind: frequency}
    data: {name: file, path: mine/visits.csv, column: color}
    population: {users: 2000}
    budget: {eps: $eps, delta: 1.0e-6}
    grid: {eps: [0.5, 1.0]}
    accounting: [exact]
    repeats: 3
    methods: {local: {}, grr_blanket: {}}
figures:
  error: {title: "Error", experiment: colors, x: eps, y: mse}
"""


@pytest.fixture
def mine(project, monkeypatch):
    """Return a project with a user's experiment beside the paper, and change the working directory as a run does."""
    project.write("mine/visits.csv", CSV)
    project.write("config/own/visits.yaml", OWN)
    monkeypatch.chdir(project.root)
    project.prepared = project.root / "prepared"
    return project


def prepared(project, asked):
    user_files.prepare(asked, project.root, project.prepared)
    return load(asked, project.prepared)


def run(project):
    experiment = project.settings().papers["visits"].experiments["colors"]
    for asked in experiment.own_requests.values():
        prepared(project, asked)
    job = experiment.job("grr_blanket", 7)
    return runner.run(job, prepared=project.prepared, root=project.root)


# -- counted once ----------------------------------------------------------------------------------------------------


def test_prepared_file_states_its_origin(mine):
    said = []
    asked = request({"kind": "frequency"}, BY_COLUMN)
    user_files.prepare(asked, mine.root, mine.prepared, said.append)
    found = load(asked, mine.prepared)
    assert found.arrays["counts"].tolist() == [500, 500, 1000]
    assert found.about["values"] == ["blue", "green", "red"]
    about = found.about["file"]
    assert (about["name"], about["rows"], about["users"], about["bad_rows"]) == ("visits.csv", 2002, 2000, 2)
    assert "1 with another number of cells than the header (visits.csv, line 2002)" in found.about["note"]
    assert "A domain must be public" in found.about["note"]
    assert len(said) == 3
    assert "column 'user' repeats values" in found.about["note"]
    assert str(mine.root) not in json.dumps(found.about)
    files = files_of(mine.prepared, key_of(asked))
    first = [path.read_bytes() for path in files]
    user_files.prepare(asked, mine.root, mine.prepared)
    assert first == [path.read_bytes() for path in files]
    files[0].write_bytes(b"")
    with pytest.raises(IntegrityError):
        load(asked, mine.prepared)


SECRET = "SECRET-PATIENT-42"


@pytest.mark.parametrize(
    "task, data",
    [
        ({"kind": "frequency"}, {"column": "color"}),
        ({"kind": "frequency", "domain_size": 3}, {"column": "id"}),
        ({"kind": "summation", "max_value": 6}, {"column": "minutes", "low": 0, "high": 60}),
        ({"kind": "sets", "set_size": 2}, {"column": "color", "separator": ";", "values": ["red", "blue"]}),
    ],
)
def test_results_have_no_cell_of_user(mine, task, data):
    rows = [f"{('red', 'blue', 'green')[i % 3]},{i},{i % 3}" for i in range(900)]
    rows[500] = f"{SECRET},{SECRET}-43,{SECRET}-44"
    mine.write("mine/visits.csv", "\n".join(["color,minutes,id", *rows, SECRET, ""]))
    messages: list[str] = []
    asked = request(task, {"name": "file", "path": "mine/visits.csv", **data})
    user_files.prepare(asked, mine.root, mine.prepared, messages.append)
    about = load(asked, mine.prepared).about
    taken_over = [*messages, about["note"], json.dumps(about["file"])]
    assert SECRET not in " ".join(taken_over)
    assert "visits.csv, " in about["note"]
    if data.get("values") or task["kind"] != "frequency":
        assert SECRET not in json.dumps(about)
    for path in files_of(mine.prepared, key_of(asked)):
        assert path.stat().st_mode & 0o777 == 0o600


def test_failure_reasons_have_no_cell(mine):
    mine.write("mine/visits.csv", "color,minutes\n" + f"{SECRET},{SECRET}\n" * 3)
    for task, data in (
        ({"kind": "frequency"}, {"column": "color"}),
        ({"kind": "summation", "max_value": 6}, {"column": "minutes", "low": 0, "high": 60}),
        ({"kind": "sets", "set_size": 1, "domain_size": 3}, {"user": "minutes", "item": "color"}),
    ):
        with pytest.raises(ValueError) as caught:
            prepared(mine, request(task, {"name": "file", "path": "mine/visits.csv", **data}))
        assert SECRET not in str(caught.value)


def test_numbers_have_steps_of_task(mine):
    data = {**BY_COLUMN, "column": "minutes"}
    asked = request({"kind": "summation", "max_value": 6}, {**data, "low": 0, "high": 60})
    assert prepared(mine, asked).arrays["counts"].tolist() == [501, 500, 0, 500, 0, 0, 500]
    own = request({"kind": "summation", "max_value": 10, "signed": True, "real": True}, data)
    assert (own["low"], own["high"], own["levels"]) == (-1, 1, 20)


def test_changing_file_is_not_published(mine, monkeypatch):
    asked = request({"kind": "frequency"}, BY_COLUMN)
    count = user_files.count_column

    def meanwhile(*arguments, **options):
        found = count(*arguments, **options)
        mine.write("mine/visits.csv", CSV + "red,1,e\n")
        return found

    monkeypatch.setattr(user_files, "count_column", meanwhile)
    with pytest.raises(ValueError, match="changed while it was read"):
        user_files.prepare(asked, mine.root, mine.prepared)
    assert not (mine.prepared).exists()


# -- experiments -----------------------------------------------------------------------------------------------------


def test_only_inferred_domain_is_warned_of(mine):
    done = run(mine)
    cells = done.cells.to_pylist()
    assert {(cell["dataset"], cell["domain_size"]) for cell in cells} == {("visits.csv", 3.0)}
    assert done.data_source == "own"
    assert "A domain must be public" in done.data_note and "2 rows left out" in done.data_note
    (file,) = done.data_details["files"]
    assert file["name"] == "visits.csv" and len(file["sha256"]) == 64
    mine.change("config/own/visits.yaml", "column: color", "column: color, values: [blue, green, red]")
    given = run(mine)
    assert "domain" not in given.data_note

    def errors(done):
        return done.values.to_pandas().query("kind == 'expected'")["value"].tolist()

    assert errors(given) == errors(done)


def test_grid_may_vary_files_and_columns(mine):
    mine.write("mine/other.csv", "color\n" + "a\nb\n" * 1500)
    for old, new in (
        ("path: mine/visits.csv", "path: $path"),
        ("{eps: [0.5, 1.0]}", "{eps: [1.0], path: [mine/visits.csv, mine/other.csv]}"),
        ("x: eps", "x: path"),
    ):
        mine.change("config/own/visits.yaml", old, new)
    cells = run(mine).cells.to_pylist()
    assert [(cell["dataset"], cell["domain_size"]) for cell in cells] == [
        ("other.csv", 2.0),
        ("visits.csv", 3.0),
    ]


def test_baselines_are_tried_after_counting(mine):
    settings = mine.settings()
    protocol = get("frequency", "local")

    def tried():
        every = trials(protocol, "local", settings, prepared=mine.prepared, root=mine.root)
        return next(one for one in every if one.where.startswith("visits."))

    assert (tried().status, tried().note) == (
        "not tried",
        "its file is not counted yet: run the pipeline first",
    )
    run(mine)
    assert tried().status == "ok"


# -- before any work -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("mine/visits.csv", "mine/visit.csv", "colors.data: there is no file mine/visit.csv (relative paths start"),
        ("column: color", "column: colour", "has no column 'colour'. It has: color, minutes, user."),
        (", column: color", "", "colors.data: A file needs the name of a column, 'column'."),
        ("column: color", "column: color, low: 3", "'low' does not belong to the file of a frequency task"),
        ("column: color", "column: color, values: [red, true]", "must be text, got True: put it in quotes"),
        ("column: color", "column: color, values: [red]", "values"),
        ("column: color", "column: color, colum: x", "unknown key 'colum'"),
        ("kind: frequency}", "kind: frequency, domain_size: 2}", ""),
        (
            "{kind: frequency}\n    data: {",
            "{kind: frequency, domain_size: 4}\n    data: {values: [a, b], ",
            "domain_size is 4, but values has 2",
        ),
        (
            "{kind: frequency}",
            "{kind: vectors, dimension: 3, clip: 1.0, norm: l1}",
            "cannot be used for a vectors task",
        ),
        (
            "{kind: frequency}\n    data: {",
            "{kind: summation, max_value: 3}\n    data: {low: 3, high: 3, ",
            "low must be below high, got 3 and 3.",
        ),
        ("{kind: frequency}", "{kind: summation, max_value: 3, coordinates: 2}", "coordinates must be 1 for a file"),
        ("{kind: frequency}", "{kind: sets, set_size: 2, levels: 2}", "Sets need a split"),
        (
            "column: color}",
            "item: page}",
            "'item' does not belong to the file of a frequency task",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_before_work(mine, old, new, says):
    mine.change("config/own/visits.yaml", old, new)
    if not says:
        mine.settings()
        return
    said = mine.mistake()
    assert said.startswith("config/own/visits.yaml: experiments.colors")
    assert says in said


# -- sets ------------------------------------------------------------------------------------------------------------

LISTS = [[0, 1], [2], [0, 1, 2, 3], [], [3, 2]]


def sets_of(project, data, set_size=2, **task):
    """Return the source of five users."""
    parquet.write_table(pa.table({"l": pa.array(LISTS, pa.list_(pa.int64()))}), project.root / "l.parquet")
    raw = {"kind": "sets", "set_size": set_size, **task}
    data = {"name": "file", "path": "l.parquet", "column": "l", **data}
    user_files.prepare(request(raw, data), project.root, project.prepared)
    raw, data = completed(raw, data, project.prepared)
    task = Sets(**{k: v for k, v in raw.items() if k != "kind"})
    return source_from(data, task, project.prepared), task


@pytest.mark.parametrize("padding", ["categories", "tokens"])
def test_sets_have_one_size_and_marginals(mine, padding):
    source, task = sets_of(mine, {"padding": padding, "draw": "with_replacement"})
    assert (task.domain_size, task.padding_items) == ((4, 0) if padding == "categories" else (6, 2))
    n = 40_000
    drawn = source.draw(n, np.random.default_rng(3))
    assert drawn.shape == (n, 2)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    share = np.bincount(drawn.ravel(), minlength=task.domain_size) / n
    # normal deviations, at most 6 of them: beyond 4.5 standard errors with probability 4e-5
    assert (
        np.abs(share - source.marginals) < 4.5 * np.sqrt(source.marginals * (1 - source.marginals) / n)
    ).all()
    assert source.marginals.sum() == pytest.approx(2)


def test_everybody_takes_part_once(mine, monkeypatch):
    source, _ = sets_of(mine, {"padding": "tokens"})
    monkeypatch.setattr("shuffledp.pipeline.experiments.sources.user_file.AT_ONCE", 12)  # two users at a time
    drawn = source.draw(5, np.random.default_rng(1))
    real = sorted((sorted(int(i) for i in row if i < 4) for row in drawn), key=len)
    assert [len(row) for row in real] == [0, 1, 2, 2, 2]
    assert [2] in real and [0, 1] in real and [2, 3] in real
    with pytest.raises(ValueError, match="6 participants cannot be drawn without replacement from 5"):
        source.draw(6, np.random.default_rng(1))
    who = source.gathered(np.array([5]), [drawn], "participants")
    assert who.counts.sum() == 10
    assert who.truth.shape == (1, 4)
    assert json.dumps(dict(source.key))  # names the seed


def test_too_large_sets_are_refused(mine):
    with pytest.raises(ValueError, match="domain_size"):
        sets_of(mine, {}, set_size=5, domain_size=4)
