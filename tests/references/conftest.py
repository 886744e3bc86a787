"""Options of the tests against references, and their report: ``make -C tools numerical-errors``."""

import csv
from pathlib import Path

COLUMNS = ("function", "settings", "refused", "below", "limit_below", "above", "limit_above")


def pytest_addoption(parser):
    parser.addoption("--all-settings", action="store_true", help="test all settings of every function")
    parser.addoption("--report", type=Path, help="write the largest errors of every function as CSV")


def pytest_configure(config):
    if config.getoption("--report", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(config.getoption("--report"), some=bool(config.option.keyword)))


class Report:
    """The properties of passed and failed tests, as rows of a table; `some` of its rows are written anew with `-k`."""

    def __init__(self, path, *, some):
        self.path, self.rows = path, {}
        if some:
            with path.open(encoding="utf-8") as file:
                self.rows = {row["function"]: row for row in csv.DictReader(file)}

    def pytest_runtest_logreport(self, report):
        row = dict(report.user_properties)
        if report.when == "call" and set(row) == set(COLUMNS):
            self.rows[row["function"]] = row

    def pytest_sessionfinish(self):
        with self.path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(sorted(self.rows.values(), key=lambda row: row["function"].lower()))
