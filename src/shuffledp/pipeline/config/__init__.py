"""The configuration.

`model` is its grammar, `files` finds and `loading` reads it, `experiments` and `baselines` check what it names, and
`settings` is what comes out. What figures and tables select is checked in `shuffledp.pipeline.figures.selection`.
"""

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
