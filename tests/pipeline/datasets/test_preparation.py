from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts_by_file import ROOT
from shuffledp.pipeline.datasets import (
    NAMES,
    LocalError,
    SourceError,
    load,
    locations,
    make_summaries,
    members,
    prepare,
    raw_files,
    spec,
    without_login,
)
from shuffledp.pipeline.datasets.registry import Location, summaries_folder
from shuffledp.storage import IntegrityError
from zip_files import zipped

SUMMARIES = summaries_folder()
SUMMARY_FILES = sorted(file for name in NAMES for file in spec(name).summaries)


def quiet(line):
    pass


def prepare_in(folder, name, **options):
    """Prepare a data set below a folder, and return its provenance."""
    return prepare(name, raw_dir=folder / "raw", output_dir=folder, **{"say": quiet} | options)


@pytest.fixture(scope="module")
def real(mirror, raw_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    for name in NAMES:
        prepare(name, raw_dir=raw_dir, output_dir=folder, mirror=mirror, say=quiet)
    return folder


@pytest.fixture(scope="module")
def substitutes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("substitutes")
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("http_proxy", "https_proxy"):
            patch.setenv(variable, "http://127.0.0.1:9")  # nobody listens there
        for name in NAMES:
            prepare_in(folder, name)
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


def test_sample_of_ratings_is_fixed(real):
    data = load("movielens", real)
    sample = data.histogram("sampled_movie")
    assert (sample.size, sample.sum(), sample.max()) == (2_000, 494_352, 10_370)
    assert (sample == data.histogram("sampled_movie")).all()
    assert np.sort(sample)[-200:].sum() <= np.sort(data.histogram("movie"))[-200:].sum()


def test_shipped_summaries_equal_raw_counts(mirror, raw_dir, tmp_path):
    written = make_summaries(tmp_path, raw_dir=raw_dir, mirror=mirror, say=quiet)
    assert sorted(path.name for path in written) == SUMMARY_FILES
    for path in written:
        assert path.read_bytes() == (SUMMARIES / path.name).read_bytes(), path.name


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


def test_preparation_is_reproducible_with_checksums(real, raw_dir, mirror, tmp_path):
    for name in ("adult", "msnbc", "mnist"):
        prepare(name, raw_dir=raw_dir, output_dir=tmp_path, mirror=mirror, say=quiet)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (real / path.name).read_bytes()
    for name in ("adult", "msnbc", "mnist"):
        subprocess.run(["sha256sum", "--quiet", "-c", f"{name}.sha256"], cwd=tmp_path, check=True)


def test_outputs_have_no_machine_paths(real, raw_dir, mirror):
    for path in real.glob("*.json"):
        assert mirror not in path.read_text()
        assert str(raw_dir) not in path.read_text()


def test_changed_raw_file_is_fetched_again(mirror, tmp_path):
    said: list[str] = []
    prepare_in(tmp_path, "adult", mirror=mirror, say=said.append)
    path = tmp_path / "raw" / "adult" / "adult.test"
    path.write_bytes(path.read_bytes().replace(b"Female", b"Male", 1))
    prepare_in(tmp_path, "adult", mirror=mirror, say=said.append)
    assert any("set aside as adult.test.rejected" in line for line in said)
    assert b"Male" in (path.with_name("adult.test.rejected")).read_bytes()
    assert hashlib.sha256(path.read_bytes()).hexdigest() in {row.sha256 for row in locations("adult")}


@pytest.mark.parametrize(
    "mirror, why",
    [
        ("~nosuch/x", "'~nosuch/x': Could not determine home directory"),
        ("http://me:word@[::1", r"'http://\[::1': Invalid IPv6 URL"),
    ],
)
def test_invalid_mirror_names_the_variable(tmp_path, mirror, why):
    with pytest.raises(LocalError, match=rf"^SHUFFLEDP_MIRROR is {why}\.$"):
        prepare_in(tmp_path, "adult", mirror=mirror)


def test_packed_raw_files_are_taken(real, mirror, tmp_path, offline):
    folder = tmp_path / "raw" / "msnbc"
    folder.mkdir(parents=True)
    name = "msnbc990928.seq.gz"
    (folder / name).write_bytes((Path(mirror) / "msnbc" / name).read_bytes())
    prepare_in(tmp_path, "msnbc")
    assert (tmp_path / "msnbc.parquet").read_bytes() == (real / "msnbc.parquet").read_bytes()


# ---- without the real data -----------------------------------------------------------------------------


def test_substitutes_are_labelled_and_load(substitutes):
    for name in NAMES:
        data = load(name, substitutes)
        assert data.provenance.source == ("summary" if spec(name).summaries else "stand_in")
        assert data.provenance.note
        for column in data.columns():
            assert data.histogram(column).sum() > 0
    assert load("adult", substitutes).histogram("sex").tolist() == [16_192, 32_650]
    assert np.count_nonzero(load("ipums", substitutes).histogram("birthplace")) == 113
    assert load("movielens", substitutes).histogram("movie").sum() == 20_000_263
    assert load("mnist", substitutes).arrays["train_images"].shape == (1_437, 8, 8)


@pytest.mark.parametrize("name", NAMES)
def test_offline_fallback_is_forbidden_by_official(name, tmp_path, offline):
    with pytest.raises(SourceError, match="SHUFFLEDP_MIRROR") as caught:
        prepare_in(tmp_path, name, policy="official")
    assert "data.source: auto" in str(caught.value)
    assert "connect to the network" in str(caught.value)
    assert not list(tmp_path.glob(f"{name}*"))


def test_mirror_with_other_counts_is_refused(mirror, tmp_path, offline):
    path = tmp_path / "mirror" / "movielens" / "ml-20m-rating-counts.csv"
    path.parent.mkdir(parents=True)
    content = (Path(mirror) / "movielens" / path.name).read_bytes()
    path.write_bytes(content.replace(b"\n1,49695\n2,22243\n", b"\n1,49694\n2,22244\n"))
    assert path.read_bytes() != content
    with pytest.raises(SourceError, match="sha256"):
        prepare_in(tmp_path, "movielens", mirror=str(tmp_path / "mirror"), policy="official")


def test_wrong_mirror_uses_next_source(tmp_path, offline):
    said: list[str] = []
    used = prepare_in(tmp_path, "adult", mirror=str(tmp_path / "nowhere"), say=said.append)
    assert used.source == "summary"
    assert "nowhere" in said[0]
    assert "source summary" in said[-1]


@pytest.mark.parametrize("login", ["", "reader:s%40cret@"])
def test_invalid_address_hides_its_password(tmp_path, offline, login):
    mirror = f"http://{login}127.0.0.1:99999"
    with pytest.raises(LocalError, match=r"'http://127\.0\.0\.1:99999': Port out of range 0-65535") as caught:
        prepare_in(tmp_path, "adult", mirror=mirror)
    assert "cret" not in str(caught.value)


def test_unreachable_mirror_hides_its_password(tmp_path, offline):
    mirror, told = (
        "http://reader:secret@127.0.0.1:9/data",
        "http://127.0.0.1:9/data/adult/adult.data: no connection",
    )
    said: list[str] = []
    used = prepare_in(tmp_path, "adult", mirror=mirror, say=said.append)
    written = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*.json"))
    assert used.source == "summary"
    assert told in said[0]
    for text in (written, *said):
        assert "cret" not in text
        assert "reader" not in text


def test_job_parameters_have_no_password():
    rules = (ROOT / "workflow/rules/data.smk").read_text(encoding="utf-8")
    told = re.findall(r"^ *mirror=(.*),$", rules, re.MULTILINE)
    assert told == ['datasets.without_login(os.environ.get("SHUFFLEDP_MIRROR", ""))'] * 2
    assert without_login("") == ""
    assert without_login("HTTPS://a:b@c@host/x@y") == "HTTPS://host/x@y"
    assert without_login("/mirror/of a@b") == "/mirror/of a@b"


def test_damaged_prepared_files_are_named(substitutes, tmp_path):
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


def test_unknown_names_list_known_ones(substitutes, tmp_path):
    with pytest.raises(ValueError, match="Known: adult, "):
        load("iris", substitutes)
    with pytest.raises(ValueError, match="Known: sex, hours_per_week"):
        load("adult", substitutes).histogram("age")
    with pytest.raises(ValueError, match="'auto' or 'official'"):
        prepare_in(tmp_path, "adult", policy="any")
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


@pytest.mark.parametrize("file", SUMMARY_FILES)
def test_changed_summary_is_an_error(file, tmp_path, offline):
    shutil.copytree(SUMMARIES, tmp_path / "s")
    path = tmp_path / "s" / file
    path.write_text(path.read_text().replace("1", "2", 1))
    for _ in range(2):
        with pytest.raises(SourceError, match=f"{file}.*git checkout"):
            prepare_in(tmp_path, file.split("_")[0], summaries_dir=tmp_path / "s")
        path.unlink(missing_ok=True)


def test_summaries_are_small_and_permitted():
    assert sorted(path.name for path in SUMMARIES.glob("*.csv")) == SUMMARY_FILES
    assert sum(path.stat().st_size for path in SUMMARIES.iterdir()) < 10_000


# ---- official sources against a local server -----------------------------------------------------------


@pytest.fixture
def table(monkeypatch):
    """Replace the table of addresses by one file at several addresses."""

    def use(*urls, content=b"published", source="", **about):
        sha256, given = hashlib.sha256(content).hexdigest(), {"name": "adult", "file": "a.data"} | about
        given = {"status": "published", "license": "free", "note": ""} | given
        rows = [
            Location(version="1", source=source or url, url=url, sha256=sha256, bytes=len(content), **given)
            for url in urls
        ]
        monkeypatch.setattr(raw_files, "locations", lambda name: tuple(rows))

    return use


def obtain(folder, said=None, name="adult"):
    return raw_files.obtain(name, folder, None, (said or []).append)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_zip_then_file_fallback(server, table, tmp_path):
    table(f"{server.url}/a.zip#a.data", f"{server.url}/old/a.data")
    server.files = {"/a.zip": zipped(a_data=b"published")}
    raw = obtain(tmp_path / "1")
    assert raw.files["a.data"].read_bytes() == b"published"
    assert (raw.source, raw.origin) == ("official", f"{server.url}/a.zip")
    assert names_in(tmp_path / "1" / "adult") == ["a.data", "origin.json"]
    server.files = {"/a.zip": b"not a zip", "/old/a.data": b"published"}
    assert obtain(tmp_path / "2").origin == f"{server.url}/old/a.data"
    assert names_in(tmp_path / "2" / "adult") == ["a.data", "origin.json"]


def test_an_unreachable_host_is_asked_once(server, table, tmp_path, offline, monkeypatch):
    asked = []
    get = raw_files.fetch
    monkeypatch.setattr(
        raw_files, "fetch", lambda item, folder, url: asked.append(url) or get(item, folder, url)
    )
    table("http://no.invalid/a", "http://no.invalid/b", f"{server.url}/a.data")
    server.files = {"/a.data": b"published"}
    assert obtain(tmp_path).origin == f"{server.url}/a.data"
    assert asked == ["http://no.invalid/a", f"{server.url}/a.data"]


def test_cached_files_need_no_network(server, table, tmp_path):
    table(f"{server.url}/a.data")
    server.files = {"/a.data": b"published"}
    obtain(tmp_path)
    requests = len(server.requests)
    raw = obtain(tmp_path)
    assert (raw.source, raw.origin) == ("official", f"{server.url}/a.data")
    assert len(server.requests) == requests


def test_files_of_users_are_kept(server, table, tmp_path):
    """There are files with the names of a raw file and of the archive, and others that look unfinished."""
    table(f"{server.url}/a.data.gz")
    server.files = {"/a.data.gz": gzip.compress(b"published")}
    folder = tmp_path / "adult"
    folder.mkdir()
    own = {"adult.zip": b"my own", "thesis-20240101.part": b"half", ".draft.tmp": b"text", "a.data": b"first"}
    own |= {"a.data.gz": b"packed"}
    for name, content in own.items():
        (folder / name).write_bytes(content)
        os.utime(folder / name, (1, 1))
    said: list[str] = []
    raw_files.obtain("adult", tmp_path, None, said.append)
    assert any("a.data is set aside as a.data.rejected" in line for line in said)
    (folder / "a.data").write_bytes(b"second")
    obtain(tmp_path)
    expected = {name: content for name, content in own.items() if not name.startswith("a.data")}
    expected |= {"a.data.rejected": b"first", "a.data.rejected-2": b"second", "a.data": b"published"}
    expected |= {"a.data.gz.rejected": b"packed"}
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "origin.json"}
    assert found == expected


def mirror_with(tmp_path, content):
    folder = tmp_path / "mirror/adult"
    folder.mkdir(parents=True)
    for name in ("adult.data", "adult.test"):
        (folder / name).write_bytes(content)
    return folder


def test_full_disk_gives_no_substitute(tmp_path, offline, full_disk):
    mirror = mirror_with(tmp_path, bytes(300_000))
    with full_disk(), pytest.raises(LocalError, match="Free some disk space"):
        prepare_in(tmp_path, "adult", mirror=str(mirror.parent))
    assert not list(tmp_path.glob("adult*"))
    assert list((tmp_path / "raw/adult").iterdir()) == []


def fake_ucimlrepo(monkeypatch, frame):
    def fetch_ucirepo(id):
        if isinstance(frame, Exception):
            raise frame
        return types.SimpleNamespace(data=types.SimpleNamespace(original=frame))

    module = types.SimpleNamespace(fetch_ucirepo=fetch_ucirepo)
    monkeypatch.setitem(__import__("sys").modules, "ucimlrepo", module)


def test_ucimlrepo_is_verified_and_falls_back(server, table, tmp_path, monkeypatch):
    table(f"{server.url}/dataset/2/adult", source="ucimlrepo", file="adult-counts.csv", status="derived")
    short = pd.DataFrame({"sex": ["Male"], "hours-per-week": [40]})
    for wrong in (short, pd.DataFrame(), ConnectionError("down"), TimeoutError("slow"), KeyError("status")):
        fake_ucimlrepo(monkeypatch, wrong)
        with pytest.raises(
            SourceError, match=r"dataset/2/adult: (ucimlrepo failed|the table read by ucimlrepo)"
        ):
            obtain(tmp_path)
        assert list((tmp_path / "adult").iterdir()) == []


def test_ucimlrepo_gives_the_same_table(server, table, real, tmp_path, monkeypatch):
    item = locations("adult")[0]
    assert (item.source, item.url) == ("ucimlrepo", "https://archive.ics.uci.edu/dataset/2/adult")
    local = replace(item, url=f"{server.url}/dataset/2/adult")
    monkeypatch.setattr(raw_files, "locations", lambda name: (local,))
    wanted = pd.DataFrame(load("adult", real).table)
    frame = wanted.loc[wanted.index.repeat(wanted["count"])].rename(
        columns={"hours_per_week": "hours-per-week"}
    )
    fake_ucimlrepo(monkeypatch, frame)
    raw = obtain(tmp_path)
    assert raw.source == "official"
    pd.testing.assert_frame_equal(spec("adult").parse(raw.files).table, wanted)
    frame.iloc[0, frame.columns.get_loc("hours-per-week")] += 1
    fake_ucimlrepo(monkeypatch, frame)
    with pytest.raises(SourceError, match="not the published one"):
        obtain(tmp_path / "2")


def test_ratings_zip_is_not_kept(server, table, tmp_path):
    ratings = b"userId,movieId,rating,timestamp\n1,7,5.0,1\n2,7,1.0,1\n2,9,1.0,1\n"
    counts = b"movieId,numRatings\n7,2\n9,1\n"
    server.files = {"/ml.zip": zipped(ml__ratings_csv=ratings)}
    table(
        f"{server.url}/ml.zip#ratings.csv",
        content=counts,
        file="counts.csv",
        status="derived",
        name="movielens",
    )
    raw = obtain(tmp_path, name="movielens")
    assert raw.files["counts.csv"].read_bytes() == counts
    assert names_in(tmp_path / "movielens") == ["counts.csv", "origin.json"]
    raw.files["counts.csv"].write_bytes(counts.replace(b"9,1", b"9,2"))
    obtain(tmp_path, name="movielens")
    assert raw.files["counts.csv"].read_bytes() == counts
