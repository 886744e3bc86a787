"""Configuration of the pipeline: keys and values, files, loading, checks of names, and checked settings."""

from shuffledp.pipeline.config.config_errors import ConfigurationError
from shuffledp.pipeline.config.config_files import merged, read_yaml
from shuffledp.pipeline.config.loading import load_experiments
from shuffledp.pipeline.config.settings import Experiment, Method, Paper, Settings

__all__ = [
    "ConfigurationError",
    "Experiment",
    "Method",
    "Paper",
    "Settings",
    "load_experiments",
    "merged",
    "read_yaml",
]
