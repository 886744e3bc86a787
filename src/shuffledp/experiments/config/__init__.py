"""The configuration.

`model` is its grammar, `files` finds and `loading` reads it, `experiments` and `baselines` check what it names, and
`settings` is what comes out. What figures and tables select is checked in `shuffledp.figures.selection`.
"""

from shuffledp.experiments.config.errors import ConfigurationError
from shuffledp.experiments.config.files import merged, read_yaml
from shuffledp.experiments.config.loading import load_experiments
from shuffledp.experiments.config.settings import Experiment, Method, Paper, Settings

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
