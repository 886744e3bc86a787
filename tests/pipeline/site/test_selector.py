from __future__ import annotations

import subprocess
import sys

import pytest

from scripts_by_file import ROOT, script
from shuffledp.pipeline.site.selector import SelectorSetting, format_tables, kept_tables, read_tables

TABLES = kept_tables()
TOOL = script("tools/selector_table.py")


def test_the_kept_table_has_all_settings() -> None:
    assert list(TABLES) == TOOL.list_settings()
    assert read_tables(format_tables(TABLES)) == TABLES


@pytest.mark.parametrize("setting", [SelectorSetting("vectors", 10_000, 10, 1.0, 1e-6, 1, "best")])
def test_kept_setting_is_computed_by_compare(setting: SelectorSetting) -> None:
    offers = TOOL.compute_offers(setting)
    assert read_tables(format_tables({setting: offers}))[setting] == TABLES[setting]


def test_commands_print_rows_of_settings() -> None:
    setting = next(setting for setting in TABLES if setting.task == "sets")
    command = [sys.executable, "-m", *setting.command.split(), "--csv-out", "-"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(offer.protocol in printed for offer in TABLES[setting])
