from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import types
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import shuffledp.pipeline.datasets.raw_files as sources
from shuffledp import storage
from shuffledp.pipeline.datasets import (
    NAMES,
    LocalError,
    SourceError,
    load,
    make_summaries,
    members,
    prepare,
    prepared_tables,
    spec,
    without_login,
)
from shuffledp.pipeline.datasets.prepared import sample_ratings
from shuffledp.pipeline.datasets.published_datasets import (
    Archive,
    DatasetSpec,
    Files,
    RatingsArchive,
    RawFile,
    UciRepo,
)
from shuffledp.pipeline.datasets.substitutes import synthetic_sets
from shuffledp.pipeline.datasets.summaries import SUMMARY_FILES, default_summaries_dir
from shuffledp.storage import IntegrityError

ROOT = Path(__file__).resolve().parents[3]

REPOSITORY = Path(__file__).resolve().parents[3]


def quiet(line: str) -> None:
    pass


def script(name: str) -> types.ModuleType:
    path = REPOSITORY / "workflow" / "scripts" / f"{name}.py"
    loaded = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def real(mirror, raw_dir, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    for name in NAMES:
        prepare(name, raw_dir=raw_dir, output_dir=folder, mirror=mirror, progress=False, say=quiet)
    return folder


@pytest.fixture(scope="module")
def substitutes(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("substitutes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "probe", lambda urls: dict.fromkeys(urls, "the test has no network"))
        for name in NAMES:
            prepare(name, raw_dir=folder / "raw", output_dir=folder, progress=False, say=quiet)
    return folder


# ---- the real data -------------------------------------------------------------------------------------


def test_published_numbers_of_adult(real):
    adult = load("adult", real)
    assert adult.histogram("sex").tolist() == [16_192, 32_650]
    hours = adult.histogram("hours_per_week")
    assert (hours.size, hours.sum(), hours[0], hours[40]) == (100, 48_842, 0, 22_803)
    assert adult.provenance.source == "mirror"
    assert adult.provenance.note == ""


def test_published_numbers_of_ipums(real):
    counts = load("ipums", real).histogram("birthplace")
    assert (counts.size, counts.sum(), np.count_nonzero(counts)) == (900, 70_187, 113)
    assert (counts[899], counts[5], counts[98]) == (286, 27_792, 3_448)


def test_published_numbers_of_msnbc(real):
    msnbc = load("msnbc", real)
    visits = (
        "940469 452387 207479 386217 151409 414928 305615 439398 196614 131760 96817 264899 216125 395880 "
        "56576 25249 16972"
    )
    first = (
        "277376 77138 66554 51040 4226 163077 3557 71828 65278 12790 14275 56742 62986 53639 7377 426 1509"
    )
    assert msnbc.histogram("visits").tolist() == [int(n) for n in visits.split()]
    assert msnbc.histogram("first").tolist() == [int(n) for n in first.split()]
    assert msnbc.histogram("visits").sum() == 4_698_794
    assert msnbc.histogram("set_size").sum() == 989_818
    sizes = np.arange(1, 18)
    assert msnbc.histogram("category").sum() == (msnbc.histogram("set_size") * sizes).sum()


def test_published_numbers_of_mnist(real):
    mnist = load("mnist", real)
    labels = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert mnist.histogram("train_labels").tolist() == labels
    assert mnist.arrays["train_images"].shape == (60_000, 28, 28)
    assert mnist.arrays["test_images"].shape == (10_000, 28, 28)
    assert mnist.arrays["test_labels"].shape == (10_000,)


def test_published_numbers_of_movielens(real):
    counts = load("movielens", real).histogram("movie")
    assert (counts.size, counts.sum(), counts.max(), (counts >= 100).sum()) == (
        26_744,
        20_000_263,
        67_310,
        8_546,
    )


def test_the_sample_of_ratings_is_fixed_and_within_the_ratings(real):
    data = load("movielens", real)
    sample = data.histogram("sampled_movie")
    assert (sample.size, sample.sum(), sample.max()) == (2_000, 494_352, 10_370)
    assert (sample == data.histogram("sampled_movie")).all()
    assert np.sort(sample)[-200:].sum() <= np.sort(data.histogram("movie"))[-200:].sum()


def test_a_sample_of_ratings_needs_enough_movies_and_ratings():
    with pytest.raises(ValueError, match="at least 2000 movies, got 3"):
        sample_ratings(np.array([10**6, 1, 1]))
    with pytest.raises(ValueError, match="at least 494352 ratings of the chosen movies, got 2000"):
        sample_ratings(np.ones(2_500, np.int64))
    every = sample_ratings(np.full(2_000, 248))
    assert every.sum() == 494_352 and every.max() <= 248 and every.min() >= 0


def test_shipped_summaries_are_what_the_raw_files_give(mirror, raw_dir, tmp_path):
    written = make_summaries(tmp_path, raw_dir=raw_dir, mirror=mirror, progress=False, say=quiet)
    assert sorted(path.name for path in written) == sorted(sum(SUMMARY_FILES.values(), ()))
    for path in written:
        assert path.read_bytes() == (default_summaries_dir() / path.name).read_bytes(), path.name


def test_substitutes_keep_what_they_promise(real, substitutes):
    for name, columns in {
        "adult": ("sex", "hours_per_week"),
        "ipums": ("birthplace",),
        "msnbc": ("category", "first", "visits", "set_size"),
    }.items():
        for column in columns:
            found, expected = load(name, substitutes).histogram(column), load(name, real).histogram(column)
            np.testing.assert_array_equal(found, expected, f"{name}.{column}")
    tables_of = [load("msnbc", folder).sets() for folder in (real, substitutes)]
    by_size = [
        [(count[size == s, None] * held[size == s]).sum(axis=0).tolist() for s in range(1, 18)]
        for masks, count in tables_of
        for held in [members(masks)]
        for size in [held.sum(axis=1)]
    ]
    assert by_size[0] == by_size[1]


def test_same_bytes_again_and_checksums_in_the_usual_format(real, raw_dir, mirror, tmp_path):
    for name in ("adult", "msnbc", "mnist"):
        prepare(name, raw_dir=raw_dir, output_dir=tmp_path, mirror=mirror, progress=False, say=quiet)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (real / path.name).read_bytes()
    for name in ("adult", "msnbc", "mnist"):
        subprocess.run(["sha256sum", "--quiet", "-c", f"{name}.sha256"], cwd=tmp_path, check=True)


def test_no_path_of_a_machine_in_what_is_written(real, raw_dir, mirror):
    for path in real.glob("*.json"):
        assert mirror not in path.read_text()
        assert str(raw_dir) not in path.read_text()


def test_a_changed_raw_file_is_fetched_again(mirror, tmp_path):
    said: list[str] = []
    options = {"raw_dir": tmp_path / "raw", "output_dir": tmp_path, "progress": False, "say": said.append}
    prepare("adult", mirror=mirror, **options)
    path = tmp_path / "raw" / "adult" / "adult.test"
    path.write_bytes(path.read_bytes().replace(b"Female", b"Male", 1))
    prepare("adult", mirror=mirror, **options)
    assert any("set aside as adult.test.rejected" in line for line in said)
    assert b"Male" in (path.with_name("adult.test.rejected")).read_bytes()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == spec("adult").raw_file("adult.test").sha256


@pytest.mark.parametrize(
    ("mirror", "why"),
    [
        ("~nosuch/x", "'~nosuch/x': Could not determine home directory"),
        ("http://me:word@[::1", r"'http://\[::1': Invalid IPv6 URL"),
    ],
)
def test_a_mirror_that_is_no_place_names_the_variable(tmp_path, mirror, why):
    options = {"raw_dir": tmp_path / "raw", "output_dir": tmp_path, "progress": False, "say": quiet}
    with pytest.raises(LocalError, match=rf"^SHUFFLEDP_MIRROR is {why}\.$"):
        prepare("adult", mirror=mirror, **options)


def test_a_note_of_the_origin_that_is_none_is_written_anew(mirror, tmp_path):
    options = {"raw_dir": tmp_path / "raw", "output_dir": tmp_path, "progress": False, "say": quiet}
    note = tmp_path / "raw" / "adult" / "origin.json"
    note.parent.mkdir(parents=True)
    note.write_text("[" * 100_000)
    assert prepare("adult", mirror=mirror, **options).source == "mirror"
    assert json.loads(note.read_text())["source"] == "mirror"


def test_mirror_over_http_with_one_damaged_file_and_policy_official(server, mirror, tmp_path, offline):
    path = Path(mirror) / "ipums" / "ipums.la.97.gz"
    if not path.is_file():
        pytest.skip("the mirror is not a folder")
    server.files = {"/ipums/ipums.la.97.gz": path.read_bytes()[:-5]}
    options = {"raw_dir": tmp_path / "raw", "output_dir": tmp_path, "progress": False, "say": quiet}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sources, "probe", lambda urls: {url: None if server.url in url else "no" for url in urls}
        )
        with pytest.raises(SourceError, match="damaged gzip"):
            prepare("ipums", mirror=server.url, policy="official", **options)
        assert list((tmp_path / "raw" / "ipums").iterdir()) == []
        server.files = {"/ipums/ipums.la.97.gz": path.read_bytes()}
        used = prepare("ipums", mirror=server.url, policy="official", **options)
    assert (used.source, used.origin) == ("mirror", "mirror")


# ---- without the real data -----------------------------------------------------------------------------


def test_substitutes_are_labelled_and_load(substitutes):
    for name in NAMES:
        data = load(name, substitutes)
        expected = "stand_in" if name in ("mnist", "movielens") else "summary"
        assert data.provenance.source == expected
        assert data.provenance.note
        for column in data.columns():
            assert data.histogram(column).sum() > 0
    assert load("adult", substitutes).histogram("sex").tolist() == [16_192, 32_650]
    assert np.count_nonzero(load("ipums", substitutes).histogram("birthplace")) == 113
    assert load("movielens", substitutes).histogram("movie").sum() == 20_000_263
    assert load("mnist", substitutes).arrays["train_images"].shape == (1_437, 8, 8)


@pytest.mark.parametrize("name", NAMES)
def test_offline_fallback_is_forbidden_by_official(name, tmp_path, offline):
    options = {"raw_dir": tmp_path / "raw", "output_dir": tmp_path, "progress": False, "say": quiet}
    with pytest.raises(SourceError, match="SHUFFLEDP_MIRROR") as caught:
        prepare(name, policy="official", **options)
    assert "data.source: auto" in str(caught.value)
    assert "connect to the network" in str(caught.value)
    assert not list(tmp_path.glob(f"{name}*"))


def test_a_mirror_with_other_counts_of_the_same_total_is_refused(mirror, tmp_path, offline):
    path = tmp_path / "mirror" / "movielens" / "ml-20m-rating-counts.csv"
    path.parent.mkdir(parents=True)
    content = (Path(mirror) / "movielens" / path.name).read_bytes()
    path.write_bytes(content.replace(b"\n1,49695\n2,22243\n", b"\n1,49694\n2,22244\n"))
    assert path.read_bytes() != content
    options = {"raw_dir": tmp_path / "raw", "output_dir": tmp_path, "progress": False, "say": quiet}
    with pytest.raises(SourceError, match="sha256"):
        prepare("movielens", mirror=str(tmp_path / "mirror"), policy="official", **options)


def test_a_wrong_mirror_is_reported_and_the_next_source_used(tmp_path, offline):
    said: list[str] = []
    used = prepare(
        "adult",
        raw_dir=tmp_path / "raw",
        output_dir=tmp_path,
        mirror=str(tmp_path / "nowhere"),
        progress=False,
        say=said.append,
    )
    assert used.source == "summary"
    assert "nowhere" in said[0]
    assert "source summary" in said[-1]


@pytest.mark.parametrize("login", ["", "reader:s%40cret@"])
def test_an_address_that_is_none_ends_the_command_without_its_password(tmp_path, offline, login):
    with pytest.raises(LocalError, match=r"http://127.0.0.1:99999: Port out of range 0-65535\.") as caught:
        prepare(
            "adult",
            raw_dir=tmp_path / "raw",
            output_dir=tmp_path,
            mirror=f"http://{login}127.0.0.1:99999",
            say=print,
        )
    assert "cret" not in str(caught.value)


def test_a_mirror_that_cannot_be_reached_is_told_without_its_password(tmp_path, offline):
    mirror, told = "http://reader:secret@127.0.0.1:9/data", "http://127.0.0.1:9/data: no connection"
    said: list[str] = []
    used = prepare(
        "adult", raw_dir=tmp_path / "raw", output_dir=tmp_path, mirror=mirror, progress=False, say=said.append
    )
    written = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*.json"))
    assert used.source == "summary"
    assert told in said[0]
    for text in (written, *said):
        assert "cret" not in text
        assert "reader" not in text


def test_parameters_of_jobs_which_snakemake_keeps_have_no_password():
    rules = (ROOT / "workflow/rules/data.smk").read_text(encoding="utf-8")
    told = re.findall(r"^ *mirror=(.*),$", rules, re.MULTILINE)
    assert told == ['datasets.without_login(os.environ.get("SHUFFLEDP_MIRROR", ""))'] * 2
    assert without_login("") == ""
    assert without_login("HTTPS://a:b@c@host/x@y") == "HTTPS://host/x@y"
    assert without_login("/mirror/of a@b") == "/mirror/of a@b"


def test_damaged_or_missing_prepared_files_are_named(substitutes, tmp_path):
    shutil.copytree(substitutes, tmp_path / "p")
    path = tmp_path / "p" / "ipums.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(IntegrityError, match=r"ipums\.parquet.*make repair"):
        load("ipums", tmp_path / "p")
    path.unlink()
    with pytest.raises(IntegrityError, match=r"ipums\.parquet.*make repair"):
        load("ipums", tmp_path / "p")
    note = tmp_path / "p" / "adult.json"
    note.write_text(note.read_text().replace("summary", "official"))
    with pytest.raises(IntegrityError, match=r"adult\.json"):
        load("adult", tmp_path / "p")
    (tmp_path / "p" / "mnist.sha256").write_text("\n")
    with pytest.raises(IntegrityError, match=r"mnist\.sha256"):
        load("mnist", tmp_path / "p")


def test_unknown_names_are_answered_with_the_known_ones(substitutes, tmp_path):
    with pytest.raises(ValueError, match="Known: adult, msnbc"):
        load("iris", substitutes)
    with pytest.raises(ValueError, match="Known: sex, hours_per_week"):
        load("adult", substitutes).histogram("age")
    with pytest.raises(ValueError, match="'auto' or 'official'"):
        prepare("adult", raw_dir=tmp_path, output_dir=tmp_path, policy="any")
    with pytest.raises(ValueError, match="has no sets"):
        load("adult", substitutes).sets()
    with pytest.raises(ValueError, match="at least that"):
        load("ipums", substitutes).histogram("birthplace", 113)
    assert load("ipums", substitutes).histogram("birthplace", 1000).size == 1000


def test_sets_are_sampled_without_replacement(substitutes):
    msnbc = load("msnbc", substitutes)
    masks, count = msnbc.sets()
    rng = np.random.default_rng(3)
    everyone = msnbc.sample_sets(989_818, rng)
    np.testing.assert_array_equal(np.unique(everyone, return_counts=True)[1], count)
    some = msnbc.sample_sets(50_000, rng)
    share = members(some).mean(axis=0)
    expected = msnbc.histogram("category") / 989_818
    np.testing.assert_allclose(share, expected, atol=5 * 0.5 / 50_000**0.5)
    assert np.isin(some, masks).all()
    with pytest.raises(ValueError, match=r"n must be in \[0, "):
        msnbc.sample_sets(1_000_000, rng)
    assert msnbc.sample_sets(1_000_000, rng, replace=True).size == 1_000_000


def test_synthetic_sets_have_both_margins_and_little_dependence():
    users = np.array([10, 4_001, 30])
    frequencies = np.array([[1, 2, 3, 4], [2_000, 2_001, 2_000, 2_001], [30, 30, 30, 0]])
    masks = synthetic_sets(users, frequencies, np.random.default_rng(7))
    held = (masks[:, None] >> np.arange(4)) & 1
    size = held.sum(axis=1)
    for s in (1, 2, 3):
        assert (size == s).sum() == users[s - 1]
        assert held[size == s].sum(axis=0).tolist() == frequencies[s - 1].tolist()
    # Equal frequencies: all six pairs must be about equally common (4001 / 6 = 667, sd about 24).
    pairs = np.unique(masks[size == 2], return_counts=True)[1]
    assert pairs.size == 6
    assert abs(pairs - 4_001 / 6).max() < 120


@pytest.mark.parametrize("file", sorted(sum(SUMMARY_FILES.values(), ())))
def test_a_changed_or_missing_summary_is_an_error(file, tmp_path, offline):
    shutil.copytree(default_summaries_dir(), tmp_path / "s")
    path = tmp_path / "s" / file
    path.write_text(path.read_text().replace("1", "2", 1))
    options = {"raw_dir": tmp_path / "raw", "output_dir": tmp_path, "summaries_dir": tmp_path / "s"}
    for _ in range(2):
        with pytest.raises(SourceError, match=f"{file}.*git checkout"):
            prepare(file.split("_")[0], progress=False, say=quiet, **options)
        path.unlink(missing_ok=True)


def test_summaries_are_small_and_of_permitted_data_sets_only():
    files = sorted(path.name for path in default_summaries_dir().glob("*.csv"))
    assert files == sorted(sum(SUMMARY_FILES.values(), ()))
    assert sum(path.stat().st_size for path in default_summaries_dir().iterdir()) < 10_000


# ---- official sources against a local server -----------------------------------------------------------


def small_spec(server, *sources_, content=b"published"):
    file = RawFile("a.data", hashlib.sha256(content).hexdigest(), len(content))
    return DatasetSpec("adult", "Adult", ((file,),), sources_, "licence", "citation")


def zipped(**members_: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as bundle:
        for name, content in members_.items():
            bundle.writestr(name.replace("__", "/").replace("_", "."), content)
    return sink.getvalue()


def obtain(item, tmp_path, said=None):
    return sources.obtain(item, tmp_path, None, progress=False, say=(said or []).append)


def test_zip_then_file_fallback(server, tmp_path):
    archive = Archive(f"{server.url}/a.zip", (("a.data", ("a.data",)),))
    files = Files(f"{server.url}/old")
    server.files = {"/a.zip": zipped(______evil__a_data=b"published", other=b"x")}
    raw = obtain(small_spec(server, archive, files), tmp_path / "1")
    assert raw.files["a.data"].read_bytes() == b"published"
    assert (raw.source, raw.origin) == ("official", f"{server.url}/a.zip")
    assert sorted(path.name for path in (tmp_path / "1" / "adult").iterdir()) == ["a.data", "origin.json"]
    for bad in (b"not a zip", zipped(b_data=b"published"), zipped(a_data=b"changed!!")):
        server.files = {"/a.zip": bad, "/old/a.data": b"published"}
        shutil.rmtree(tmp_path / "2", ignore_errors=True)
        raw = obtain(small_spec(server, archive, files), tmp_path / "2")
        assert raw.origin == f"{server.url}/old"
        assert sorted(path.name for path in (tmp_path / "2" / "adult").iterdir()) == ["a.data", "origin.json"]


def test_cached_files_need_no_network_and_remember_their_source(server, tmp_path):
    item = small_spec(server, Files(server.url))
    server.files = {"/a.data": b"published"}
    obtain(item, tmp_path)
    requests = len(server.requests)
    assert obtain(item, tmp_path).source == "official"
    assert len(server.requests) == requests


def test_what_a_killed_process_left_behind_is_swept_away_later(server, tmp_path):
    item = small_spec(server, Files(server.url))
    server.files = {"/a.data": b"published"}
    folder = tmp_path / "adult"
    folder.mkdir()
    for name in (".a.data.12-0a1b2c3d.tmp", "a.data.12-0a1b2c3d.part", ".new.12-0a1b2c3d.tmp"):
        (folder / name).write_bytes(b"half")
        if "new" not in name:
            os.utime(folder / name, (1, 1))
    gone = subprocess.Popen(["true"])
    gone.wait()
    for pid in (gone.pid, os.getpid()):
        (folder / f".b.{storage._HOST}-{pid}-0a1b2c3d.tmp").write_bytes(b"half")
    obtain(item, tmp_path)
    own = folder / f".b.{storage._HOST}-{os.getpid()}-0a1b2c3d.tmp"
    assert own.exists()
    own.unlink()
    assert sorted(path.name for path in folder.iterdir()) == [".new.12-0a1b2c3d.tmp", "a.data", "origin.json"]


def test_files_of_a_user_are_set_aside_and_never_lost(server, tmp_path):
    """There are files with the names of a raw file and of the archive, and others that look unfinished."""
    folder = tmp_path / "adult"
    folder.mkdir()
    own = {"adult.zip": b"my own", "thesis-20240101.part": b"half", ".draft.tmp": b"text", "a.data": b"first"}
    for name, content in own.items():
        (folder / name).write_bytes(content)
        os.utime(folder / name, (1, 1))
    server.files = {"/a.zip": zipped(a_data=b"published")}
    said: list[str] = []
    item = small_spec(server, Archive(f"{server.url}/a.zip", (("a.data", ("a.data",)),)))
    sources.obtain(item, tmp_path, None, progress=False, say=said.append)
    assert any("a.data is set aside as a.data.rejected" in line for line in said)
    (folder / "a.data").write_bytes(b"second")
    obtain(item, tmp_path)
    expected = {name: content for name, content in own.items() if name != "a.data"}
    expected |= {"a.data.rejected": b"first", "a.data.rejected-2": b"second", "a.data": b"published"}
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "origin.json"}
    assert found == expected


def mirror_with(tmp_path, content):
    folder = tmp_path / "mirror/adult"
    folder.mkdir(parents=True)
    for name in ("adult.data", "adult.test"):
        (folder / name).write_bytes(content)
    return folder


def test_a_full_disk_ends_the_job_and_never_becomes_substitute_data(tmp_path, offline, full_disk):
    mirror = mirror_with(tmp_path, bytes(300_000))
    places = {"raw_dir": tmp_path / "raw", "output_dir": tmp_path / "prepared"}
    with full_disk(), pytest.raises(LocalError, match="Free some disk space"):
        prepare("adult", mirror=str(mirror.parent), progress=False, say=quiet, **places)
    assert not (tmp_path / "prepared").exists()
    assert list((tmp_path / "raw/adult").iterdir()) == []


@pytest.mark.parametrize("blocked", ["raw", "raw/adult", "prepared"])
def test_a_folder_that_cannot_be_made_ends_the_job(tmp_path, offline, blocked):
    (tmp_path / blocked).parent.mkdir(exist_ok=True)
    (tmp_path / blocked).write_bytes(b"a file")
    with pytest.raises(LocalError, match=blocked):
        prepare(
            "adult", raw_dir=tmp_path / "raw", output_dir=tmp_path / "prepared", progress=False, say=quiet
        )


@pytest.mark.parametrize("kind", ["device", "pipe", "huge"])
def test_a_mirror_without_end_is_given_up(tmp_path, offline, kind):
    path = mirror_with(tmp_path, b"") / "adult.data"
    path.unlink()
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        with path.open("wb") as stream:
            stream.truncate(1 << 40)  # without a disk of that size
    said: list[str] = []
    places = {"raw_dir": tmp_path / "raw", "output_dir": tmp_path / "prepared"}
    used = prepare("adult", mirror=str(tmp_path / "mirror"), progress=False, say=said.append, **places)
    assert used.source == "summary"
    assert ("has more than" if kind == "huge" else "not a file") in said[0]


def fake_ucimlrepo(monkeypatch, frame):
    def fetch_ucirepo(id):
        if isinstance(frame, Exception):
            raise frame
        return types.SimpleNamespace(data=types.SimpleNamespace(original=frame))

    module = types.SimpleNamespace(fetch_ucirepo=fetch_ucirepo)
    monkeypatch.setitem(__import__("sys").modules, "ucimlrepo", module)


def test_ucimlrepo_is_verified_and_falls_back(server, tmp_path, monkeypatch):
    repo = UciRepo(2, "https://page", (server.url,))
    item = spec("adult")
    own = DatasetSpec("adult", "Adult", item.variants, (repo,), "l", "c")
    short = pd.DataFrame({"sex": ["Male"], "hours-per-week": [40]})
    for wrong in (short, pd.DataFrame(), ConnectionError("down"), TimeoutError("slow"), KeyError("status")):
        fake_ucimlrepo(monkeypatch, wrong)
        with pytest.raises(SourceError, match="https://page"):
            obtain(own, tmp_path)
        assert list((tmp_path / "adult").iterdir()) == []


def test_ucimlrepo_gives_the_same_table_as_the_files(server, real, raw_dir, tmp_path, monkeypatch):
    table = pd.DataFrame(load("adult", real).table)
    frame = table.loc[table.index.repeat(table["count"])].rename(columns={"hours_per_week": "hours-per-week"})
    fake_ucimlrepo(monkeypatch, frame)
    repo = UciRepo(2, "https://page", (server.url,))
    raw = obtain(DatasetSpec("adult", "Adult", spec("adult").variants, (repo,), "l", "c"), tmp_path)
    assert raw.source == "official"
    pd.testing.assert_frame_equal(prepared_tables.read_raw("adult", raw.files).table, table)
    frame.iloc[0, frame.columns.get_loc("hours-per-week")] += 1
    fake_ucimlrepo(monkeypatch, frame)
    with pytest.raises(SourceError, match="not the published one"):
        obtain(DatasetSpec("adult", "Adult", spec("adult").variants, (repo,), "l", "c"), tmp_path / "2")


def test_ratings_are_counted_and_the_zip_is_not_kept(server, tmp_path):
    ratings = b"userId,movieId,rating,timestamp\n1,7,5.0,1\n2,7,1.0,1\n2,9,1.0,1\n"
    bundle = zipped(ml__ratings_csv=ratings)
    server.files = {"/ml.zip": bundle}
    source = RatingsArchive(
        f"{server.url}/ml.zip", hashlib.sha256(bundle).hexdigest(), len(bundle), "ml/ratings.csv"
    )
    item = spec("movielens")
    own = DatasetSpec("movielens", item.title, item.variants, (source,), "l", "c")
    raw = obtain(own, tmp_path)
    assert raw.files["ml-20m-rating-counts.csv"].read_bytes() == b"movieId,numRatings\n7,2\n9,1\n"
    assert sorted(path.name for path in (tmp_path / "movielens").iterdir()) == [
        "ml-20m-rating-counts.csv",
        "origin.json",
    ]
    assert obtain(own, tmp_path).origin == source.url  # the cached counts are accepted again
    raw.files["ml-20m-rating-counts.csv"].write_bytes(b"movieId,numRatings\n7,1\n9,2\n")
    obtain(own, tmp_path)
    assert raw.files["ml-20m-rating-counts.csv"].read_bytes() == b"movieId,numRatings\n7,2\n9,1\n"


# ---- the scripts ---------------------------------------------------------------------------------------


def test_prepare_script_says_the_source(tmp_path, offline):
    main = script("prepare_dataset").main
    said: list[str] = []
    data = tmp_path / "prepared" / "ipums.parquet"
    main("ipums", data, said.append, mirror="", raw_dir=tmp_path / "raw")
    assert "source summary" in said[-1]
    assert json.loads(data.with_suffix(".json").read_text())["source"] == "summary"
    with pytest.raises(SourceError, match="SHUFFLEDP_MIRROR"):
        main("ipums", data, said.append, mirror="", policy="official", raw_dir=tmp_path / "raw")
    with pytest.raises(ValueError, match="correct the rule"):
        main("ipums", tmp_path / "x.csv", said.append, mirror="")
