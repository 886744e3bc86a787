"""API reference: one page per group of public names, generated from the public packages.

The names are read from the public packages: ``__all__`` of `shuffledp.accountant`, `shuffledp.accounting`,
`shuffledp.designs`, `shuffledp.populations`, `shuffledp.protocols` with `calibrations` and `conformance`,
`shuffledp.comparison` and `shuffledp.sampling`, and the definitions of `shuffledp.tasks` without a leading underscore.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markup import as_markdown

from shuffledp.lazy_api import homes
from shuffledp.protocols.registry import built_ins, get
from shuffledp.tasks import TASK_KINDS

ROOT = Path(__file__).resolve().parents[2]

#: Packages that define the names of `shuffledp.accounting`, in the order of their pages.
GROUPS = {
    "accounting.general": "Accounting: any shuffle protocol",
    "accounting.random_population": "Accounting: random populations",
    "accounting.dump": "Accounting: DUMP",
    "accounting.segmented": "Accounting: segmented privacy",
    "accounting.summation": "Accounting: summation with correlated noise",
    "accounting.shuffle_gaussian": "Accounting: the shuffle Gaussian mechanism",
    "accounting.training": "Accounting: training",
    "accounting.baselines": "Accounting: baselines of the papers",
    "accounting.expected_errors": "Accounting: errors and messages in closed form",
}


@dataclass(frozen=True)
class Group:
    """Public names on one page.

    Attributes
    ----------
    page : str
        Address of the page.
    title : str
        Heading of the page.
    door : str
        Package or module from which users import the names.
    about : str
        First paragraph about this package.
    names : tuple of str
        Names in the order of the page.
    """

    page: str
    title: str
    door: str
    about: str
    names: tuple[str, ...]


def groups() -> list[Group]:
    """Return every public name, by page."""
    return [
        *_accounting(),
        _whole(
            "api/accountant.md",
            "Accountant: questions about a deployment",
            "shuffledp.accountant",
        ),
        _whole(
            "api/calibrations.md",
            "Calibrations of single protocols",
            "shuffledp.protocols.calibrations",
        ),
        _whole("api/designs.md", "Noise designs of this project", "shuffledp.designs"),
        _whole("api/populations.md", "Populations", "shuffledp.populations"),
        _whole("api/tasks.md", "Tasks, budgets and users", "shuffledp.tasks"),
        _whole("api/protocols.md", "Protocols: interface and registry", "shuffledp.protocols"),
        _whole("api/comparison.md", "Comparison", "shuffledp.comparison"),
        _whole("api/sampling.md", "Sampling for deployments", "shuffledp.sampling"),
        _whole(
            "api/conformance.md",
            "Checks for protocols of your own",
            "shuffledp.protocols.conformance",
        ),
    ]


def public_names(module: str) -> tuple[str, ...]:
    """Return the names that users may import: ``__all__``, or all definitions without a leading underscore."""
    offered = getattr(importlib.import_module(module), "__all__", None)
    return tuple(_defined(module) if offered is None else offered)


def _defined(module: str) -> Iterable[str]:
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_"))


def _accounting() -> list[Group]:
    door = "shuffledp.accounting"
    places = {name: _group_of(home) for name, (home, _) in homes(door).items()}
    return [
        Group(
            page=f"api/{package.replace('.', '_')}.md",
            title=title,
            door=door,
            about=_about(f"shuffledp.{package}"),
            names=tuple(
                sorted((n for n, place in places.items() if place == package), key=str.lower)
            ),
        )
        for package, title in GROUPS.items()
    ]


def _group_of(home: str) -> str:
    """Return the package of the module that defines a name; single modules hold for every protocol."""
    inside = home.removeprefix("shuffledp.")
    return next(
        (package for package in GROUPS if inside.startswith(f"{package}.")), "accounting.general"
    )


def _whole(page: str, title: str, module: str) -> Group:
    return Group(page, title, module, _about(module), public_names(module))


def _about(module: str) -> str:
    return inspect.getdoc(importlib.import_module(module)) or ""


def group_page(group: Group) -> str:
    """Return the Markdown of a page, which mkdocstrings completes."""
    entries = "\n\n".join(f"::: {group.door}.{name}" for name in group.names)
    intro = group.about.partition("\n\n")[0]
    return f"# {group.title}\n\n{intro}\n\nImport from `{group.door}`.\n\n{entries}\n"


def list_of_names(pages: Sequence[Group]) -> str:
    """Return the Markdown of the list of all public names, one line each with a description."""
    return "\n".join(_section(group) for group in pages)


def _section(group: Group) -> str:
    page = group.page.removeprefix("api/")
    door = importlib.import_module(group.door)
    rows = "\n".join(
        f"| [`{name}`]({page}#{group.door}.{name}) | {_first_line(door, name)} |"
        for name in group.names
    )
    return f"## [{group.title}]({page})\n\n| name | what it is |\n| --- | --- |\n{rows}\n"


def _first_line(door: object, name: str) -> str:
    value = getattr(door, name)
    documented = inspect.isclass(value) or inspect.isroutine(value)
    text = inspect.getdoc(value) if documented else None
    line = as_markdown(text or "").partition("\n\n")[0].replace("\n", " ").replace("|", r"\|")
    return line or f"a constant: `{value!r}`".replace("|", r"\|")


def protocols_by_trust() -> str:
    """Return a table of all built-in protocols: trust, other honest users, task, name, label and more."""
    found = [(kind, name, get(kind, name)) for kind in TASK_KINDS for name in built_ins(kind)]
    rows = [
        f"| `{p.trust}` | {p.relies_on} | {kind} | `{name}` | {p.label} | {', '.join(p.accountings)} | {p.source} |"
        for kind, name, p in sorted(
            found, key=lambda item: (item[2].trust, TASK_KINDS.index(item[0]), item[1])
        )
    ]
    head = (
        "| trust | must be honest too | task | name | label | accountings | source |\n"
        + "| --- " * 7
        + "|\n"
    )
    return head + "\n".join(rows) + "\n"
