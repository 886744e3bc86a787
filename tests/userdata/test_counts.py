"""Files of counts: written, merged, compared, and created by SQL."""

import shutil
from pathlib import Path

import duckdb
import pytest

from command_line import printed, refused, typed
from shuffledp.userdata.counts import read

GUIDES = Path(__file__).parents[2] / "docs/guides"
SETTING = typed("--eps 1 --delta 1e-6 --rows-only --json")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, more in (("a", "green,1\n" * 30 + "nan,7\n"), ("b", "\nblue\n")):
        Path(f"{name}.csv").write_text("color,x\n" + "red,1\nblue,2.5\nred,9\n" * 900 + more)
    return tmp_path


def test_different_or_repeated_parts_are_refused(folder):
    printed("count a.csv --column color --values red,blue -o a.json")
    for name, options in (
        ("domain", typed("--column color --values red,green")),
        ("clipping", typed("--column x --max-value 5")),
        ("user", typed("--column color --values red,blue --user x")),
    ):
        printed("count b.csv", *options, "-o", f"{name}.json")
        assert " differ in their " in refused("merge a.json", f"{name}.json", "-o", "all.json")
    assert "a.csv is no file of counts" in refused("compare --counts a.csv", *SETTING)
    assert "--column must be left out" in refused("compare --counts a.json --column x", *SETTING)
    assert not Path("all.json").exists()
    assert "-o a.csv" in refused("count a.csv --column color -o a.csv")


def in_duckdb(query):
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE visits AS FROM read_csv('visits.csv', all_varchar=true)")
        connection.execute(query)


def in_spark(query):
    if shutil.which("java") is None:
        pytest.skip("needs Java (apt-get install openjdk-17-jre-headless)")
    sql = pytest.importorskip("pyspark.sql", reason="needs pyspark (make -C tools test-spark)")
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    spark = sql.SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
    try:
        spark.read.csv("visits.csv", header=True).createTempView("visits")
        Path("part.json").write_text(spark.sql(query.rstrip(";\n")).first()[0])
    finally:
        spark.stop()


@pytest.mark.parametrize(
    "name, run", [("duckdb", in_duckdb), pytest.param("spark", in_spark, marks=pytest.mark.spark)]
)
def test_guides_query_makes_the_same_file(tmp_path, monkeypatch, name, run):
    monkeypatch.chdir(tmp_path)
    colors = ("red", "green", "blue", "white", " red ")
    rows = [f"{colors[i * 7 % 5]},{'' if i % 50 == 0 else i * i % 271}" for i in range(3000)]
    Path("visits.csv").write_text("color,who\n" + "\n".join(rows) + "\n")
    run((GUIDES / f"count_{name}.sql").read_text())
    options = typed("--column color --user who --values red,green,blue")
    printed("count visits.csv", *options, "-o", "counted.json")
    made, counted = read(Path("part.json")), read(Path("counted.json"))
    assert made.model_copy(update={"files": counted.files}) == counted
    assert counted.dropped > 100 < counted.left_out
