"""README, CONTRIBUTING and CHANGELOG only name existing paths, links, make targets, commands, modules and columns."""

import importlib
import json
import re
from pathlib import Path

import click
import pytest

from scripts_by_file import ROOT
from shuffledp.cli import main
from shuffledp.pipeline.experiments.bundle import CELLS, VALUES

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
EVERY_PAGE = [
    *PAGES,
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "results/README.md",
    *(
        ROOT / f"{name}.md"
        for name in ("data/README", "config/README", "profiles/README", "SECURITY", "CODE_OF_CONDUCT")
    ),
    ROOT / "ARTIFACT-APPENDIX.md",
]


def page_name(page):
    return page.relative_to(ROOT).with_suffix("").as_posix().replace("/", "-")


# What a run, an installation or the reader makes, and what stands for something else.
MADE = re.compile(
    r"^(\.venv|\.tools|\.snakemake|logs|results|data/(raw|prepared)|mine|before|after|config/(baselines|own)|workflow/report/visits)\b"
)
PLACEHOLDER = re.compile(r"[<>*{}$]|\.\.\.?/")
PATH = re.compile(r"^(?=.*[/.])[A-Za-z_.][\w.-]*(/[\w.-]*)*$")
SUFFIXES = {".py", ".md", ".yaml", ".yml", ".toml", ".smk", ".csv", ".rst", ".txt", ".ipynb", ".cff"}


def text_of(page):
    return page.read_text(encoding="utf-8")


def spans(text):
    """Return all text between backticks, and the lines of blocks of commands without comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)) + lines


def paths(text):
    """Return words that look like paths of this repository: they have one of its folders or a known suffix."""
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    words = {word.partition(":")[0] for span in spans(text) for word in span.split() if PATH.match(word)}
    likely = {w for w in words if (w.partition("/")[0] in folders and "/" in w) or Path(w).suffix in SUFFIXES}
    return {w for w in likely if not (MADE.match(w) or PLACEHOLDER.search(w) or w.startswith("shuffledp."))}


def targets():
    """Return the targets of the Makefile; a pattern gives each file that it can make."""
    found = set(re.findall(r"^([a-z][a-z-]*):", text_of(ROOT / "Makefile"), re.MULTILINE))
    return found | {f".venv/.installed-{lock.stem}" for lock in (ROOT / "locks").glob("*.txt")}


def made(text):
    return {name.rstrip(".") for span in spans(text) for name in re.findall(r"\bmake ([a-z.][\w./-]*)", span)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_paths_exist(page):
    assert sorted(path for path in paths(text_of(page)) if not (ROOT / path).exists()) == []


@pytest.mark.parametrize("page", EVERY_PAGE, ids=page_name)
def test_links_lead_somewhere(page):
    links = {link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page))}
    own = {link for link in links if link and "://" not in link}
    assert sorted(link for link in own if not (page.parent / link).exists()) == []


@pytest.mark.parametrize("page", EVERY_PAGE, ids=page_name)
def test_make_targets_and_commands_exist(page):
    text = text_of(page)
    assert made(text) <= targets()
    assert isinstance(main, click.Group)
    named = {
        name
        for span in spans(text)
        for name in re.findall(r"(?<![\w./-])shuffledp ([a-z]+(?:-[a-z]+)*)", span)
    }
    assert named <= set(main.commands)


def test_maintainers_page_names_tools_targets():
    found = re.findall(r"^([a-z][a-z-]*):.*##", text_of(ROOT / "tools/maintenance.mk"), re.MULTILINE)
    pages = "".join(map(text_of, EVERY_PAGE))
    named = re.findall(r"\bmake -C tools ([a-z-]+)", pages)
    assert set(named) == {*found} - {"help"}


def test_commands_pages_name_targets_and_commands():
    listed = set(re.findall(r"^([a-z][a-z-]*):.*##", text_of(ROOT / "Makefile"), re.MULTILINE))
    page = "".join(text_of(ROOT / f"docs/{name}.md") for name in ("commands", "maintainers"))
    assert listed - made(page) == set(UNNAMED)
    assert isinstance(main, click.Group)
    assert set(main.commands) <= set(re.findall(r"`(?:shuffledp|make -C tools|make) ([a-z-]+)", page))


# Parts of other targets.
UNNAMED = ("env",)


def resolves(name):
    """Return whether a dotted name is a module, or an object in a module."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part, None)
        return found is not None
    return False


@pytest.mark.parametrize("page", EVERY_PAGE, ids=page_name)
def test_dotted_names_resolve(page):
    named = set(re.findall(r"(?<![\w/])shuffledp(?:\.\w+)+", text_of(page)))
    assert sorted(name for name in named if not resolves(name)) == []


@pytest.mark.parametrize("title, schema", [("cells", CELLS), ("values", VALUES)])
def test_results_schema_lists_every_column(title, schema):
    section = text_of(ROOT / "results/README.md").partition(f"## {title}:")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == schema.names


@pytest.mark.parametrize(
    "name, paper, figure",
    [
        ("README.md", "overall", "dumbbells"),
        ("docs/index.md", "overall", "dumbbells"),
        ("docs/random_population.md", "random_population", "fig4"),
        ("docs/dump.md", "dump", "fig9"),
        ("docs/summation.md", "summation", "fig1c"),
        ("docs/shuffle_gaussian.md", "shuffle_gaussian", "fig1b"),
        ("docs/segmented.md", "segmented", "fig2"),
    ],
)
def test_pages_state_gallery_finding(name, paper, figure):
    figures = json.loads((ROOT / f"docs/gallery/{paper}.json").read_text(encoding="utf-8"))["figures"]
    caption = next(drawn["caption"] for drawn in figures if drawn["id"] == figure)
    finding = " ".join(caption.partition("\n\n")[0].split())
    text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
    assert finding.removeprefix("A ") in text


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_setting_of_the_finding_is_stated(name):
    figures = json.loads((ROOT / "docs/gallery/overall.json").read_text(encoding="utf-8"))["figures"]
    caption = next(drawn["caption"] for drawn in figures if drawn["id"] == "dumbbells")
    (users,) = re.findall(r"for the histogram at n = ([\d,]+),", caption)
    text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
    assert re.search(rf"ne histogram(,| of) {users} users", text)


# -- the reading finds what it should --------------------------------------------------------------------------------


def test_nothing_installs_the_package_by_name():
    """The name is not registered, so that anybody could register it. A clone's folder and a wheel's file are safe."""
    by_name = re.compile(r"pip install (-\S+ )*['\"]?shuffledp(?![\w./<{-])")
    texts = [
        *EVERY_PAGE,
        *sorted((ROOT / "src").rglob("*.py")),
        *sorted((ROOT / "notebooks").glob("*.ipynb")),
    ]
    assert [path.name for path in texts if by_name.search(text_of(path))] == []
    assert by_name.search("pip install 'shuffledp[central] @ file:///x'") and by_name.search(
        "pip install shuffledp"
    )
