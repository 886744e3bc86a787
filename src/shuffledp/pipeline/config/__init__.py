"""The configuration of the pipeline.

The module `grammar` defines keys and values, `config_files` finds and `loading` reads the files, `experiments` and
`baselines` check the names in them, and `settings` has the result. The selections of figures and tables are checked by
`shuffledp.pipeline.figures.selection`.
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
