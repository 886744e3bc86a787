"""The settings that the repository ships, loaded once in a process: files of tests share them, and change nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from shuffledp.pipeline.config import Settings
from shuffledp.pipeline.config.config_files import merged, read_yaml
from shuffledp.pipeline.figures.selection import load_settings

ROOT = Path(__file__).resolve().parents[1]


@cache
def shipped_settings(scale: str) -> Settings:
    """All papers as `make all` ("paper") or `make quick` ("quick") runs them."""
    config = read_yaml(ROOT / "config/config.yaml")
    if scale == "quick":
        config = merged(config, read_yaml(ROOT / "config/quick.yaml"))
    return load_settings(config, ROOT)
