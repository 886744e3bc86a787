"""The configuration of the pipeline.

`grammar` defines its keys and values, `config_files` finds and `loading` reads the files, `experiments` and `baselines`
check their names, and `settings` holds the result. The module `shuffledp.pipeline.figures.selection` checks the
selections of figures and tables.
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
