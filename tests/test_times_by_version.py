"""Times of the library are kept by version, each version in a column."""

from scripts_by_file import script


def test_a_version_is_a_column(tmp_path):
    times = script("benchmarks/times_by_version.py")
    kept, page = tmp_path / "kept.csv", tmp_path / "page.md"
    kept.write_text("version,what,ms\n1 a,sum,2\n")
    page.write_text("<!-- measured times by version -->\n<!-- measured times by version end -->\n")
    times.keep({"sum": 0.003, "root": 0.5}, "2 b", kept, page)
    times.keep({"sum": 0.0041}, "2 b", kept, page)
    assert times.read(kept) == {"1 a": {"sum": 2}, "2 b": {"sum": 4.1, "root": 500}}
    lines = page.read_text().splitlines()
    assert [line for line in lines if line.startswith("| ")] == [
        "| mean time of one answer, ms | 1 a | 2 b |",
        "| sum | 2 | 4.1 |",
        "| root |  | 500 |",
    ]


def test_the_version_is_that_of_the_code():
    assert script("benchmarks/times_by_version.py").of_code().count(" ") == 1
