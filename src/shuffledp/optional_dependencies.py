"""Optional packages, and the extra that installs each of them.

The library requires numpy and scipy, and its command requires click. Modules import further packages where they use
them, inside ``needed``, so that a missing package ends in one line with the extra to install.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from types import MappingProxyType

_PIPELINE = (
    "PIL",
    "bokeh",
    "docutils",
    "filelock",
    "jinja2",
    "markupsafe",
    "matplotlib",
    "pandas",
    "pyarrow",
    "pydantic_core",
    "requests",
    "seaborn",
    "sklearn",
    "snakemake",
    "tabulate",
    "pooch",
    "tqdm",
    "ucimlrepo",
    "urllib3",
    "yaml",
)
#: Extra of pyproject.toml by the name of an imported package; a test compares them.
EXTRA_OF: Mapping[str, str] = MappingProxyType(
    {
        "dp_accounting": "central",
        "duckdb": "data",
        "pydantic": "data",
        "fsspec": "s3",
        "jax": "learning",
        "opendp": "opendp",
        **dict.fromkeys(_PIPELINE, "pipeline"),
    }
)


class MissingExtra(ModuleNotFoundError):  # noqa: N818  # a public name
    """Error for an optional package that is not installed, with the extra of pyproject.toml that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"This needs the package {package} of the extra {extra}, which is not installed. From a wheel: "
            f"pip install 'FILE.whl[{extra}]'; in a clone of shuffledp: pip install '.[{extra}]'",
            name=package,
        )
        self.extra = extra


@contextmanager
def needed() -> Iterator[None]:
    """Raise MissingExtra if an import fails because a package of an extra is missing."""
    try:
        yield
    except MissingExtra:
        raise
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRA_OF:
            raise
        raise MissingExtra(package, EXTRA_OF[package]) from error


def require(package: str) -> None:
    """Raise MissingExtra unless a package of an extra is installed, without importing it."""
    if find_spec(package) is None:
        raise MissingExtra(package, EXTRA_OF[package])
