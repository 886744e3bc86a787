"""Options of the tests against references, and their report: ``make -C tools numerical-errors``."""

import csv
from pathlib import Path

COLUMNS = ("function", "settings", "refused", "below", "limit_below", "above", "limit_above")


def pytest_addoption(parser):
    parser.addoption("--all-settings", action="store_true", help="test all settings of every function")
    parser.addoption("--report", type=Path, help="write the largest errors of every function as CSV")


def pytest_configure(config):
    if config.getoption("--report", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(config.getoption("--report")))


class Report:
    """The properties of passed and failed tests, as rows of a table."""

    def __init__(self, path):
        self.path, self.rows = path, []

    def pytest_runtest_logreport(self, report):
        row = dict(report.user_properties)
        if report.when == "call" and set(row) == set(COLUMNS):
            self.rows.append(row)

    def pytest_sessionfinish(self):
        with self.path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(sorted(self.rows, key=lambda row: row["function"].lower()))
