"""Configuration of the pipeline: keys and values, files, loading, checks of names, and checked settings."""

from shuffledp.pipeline.config.config_errors import ConfigurationError as ConfigurationError
from shuffledp.pipeline.config.config_files import merged as merged, read_yaml as read_yaml
from shuffledp.pipeline.config.loading import load_experiments as load_experiments
from shuffledp.pipeline.config.settings import (
    Experiment as Experiment,
    Method as Method,
    Paper as Paper,
    Settings as Settings,
)
