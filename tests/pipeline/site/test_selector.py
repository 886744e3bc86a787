import subprocess
import sys

import pytest

from scripts_by_file import ROOT, script
from shuffledp.pipeline.site.selector import (
    SelectorSetting,
    arrange,
    format_tables,
    kept_tables,
    read_tables,
)

TABLES = kept_tables()
TOOL = script("tools/selector_table.py")


def test_the_kept_table_has_all_settings():
    assert list(TABLES) == TOOL.list_settings()
    assert read_tables(format_tables(TABLES)) == TABLES


@pytest.mark.parametrize("setting", [SelectorSetting("vectors", 10_000, 10, 1.0, 1e-6, 1, "best")])
def test_kept_setting_is_computed_by_compare(setting):
    offers = TOOL.compute_offers(setting)
    assert read_tables(format_tables({setting: offers}))[setting] == TABLES[setting]


def test_rows_are_texts_for_readers():
    board = arrange(*next(iter(TABLES.items())))
    rows = {row["protocol"]: row for _, group in board.groups for row in group}
    assert [rows[name]["most"] for name in ("jump_counts", "pure_dump")] == ["(~137)", "(2)"]
    local = [rows[name]["local"] for name in ("pure_dump", "grr_blanket", "central_laplace")]
    assert local == ["inf", "7.81", "–"]
    assert rows["private_coin"]["bits"] == "3,710"


def test_published_protocols_lead_equal_errors():
    first = [row["protocol"] for row in arrange(*next(iter(TABLES.items()))).groups[0][1]]
    assert first[:2] == ["correlated_noise", "jump_counts"]


def test_commands_print_rows_of_settings():
    setting = next(setting for setting in TABLES if setting.task == "sets")
    command = [sys.executable, "-m", *setting.command.split(), "--csv-out", "-"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(offer.protocol in printed for offer in TABLES[setting])
