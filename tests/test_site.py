"""Build of the documentation: links, formulas, executed code, notebooks, the gallery and the reference.

``make -C tools docs-check`` checks the built site, because this needs packages that tests do not.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from examples import NOTE, with_output
from formulas import FormulaError, with_mathml
from links import Site, relinked
from reference import groups, protocols_by_trust, public_names

from shuffledp.protocols.registry import available
from shuffledp.tasks import TASK_KINDS

ROOT = Path(__file__).resolve().parents[1]

# -- links --------------------------------------------------------------------------------------------------------

SITE = Site(
    {
        "docs/data.md": "data.md",
        "docs/theory/index.md": "theory/index.md",
        "docs/images/a.png": "images/a.png",
        "CHANGELOG.md": "changelog.md",
        "notebooks/tour.ipynb": "notebooks/tour.md",
    },
    lambda path: path in {"config/config.yaml", "src/shuffledp", "docs/images/raw.svg"},
    {"docs/gallery/dump/fig5_both.png": "gallery/dump.md#fig5"},
)


@pytest.mark.parametrize(
    ("text", "source", "page", "shown"),
    [
        ("[x](data.md#a)", "docs/index.md", "index.md", "[x](data.md#a)"),
        ("[x](../data.md)", "docs/theory/index.md", "theory/index.md", "[x](../data.md)"),
        ("[x](../CHANGELOG.md)", "docs/index.md", "index.md", "[x](changelog.md)"),
        ("[x](../../CHANGELOG.md#u)", "docs/theory/index.md", "theory/index.md", "[x](../changelog.md#u)"),
        ("[x](docs/data.md)", "CHANGELOG.md", "changelog.md", "[x](data.md)"),
        ("![x](images/a.png)", "docs/index.md", "index.md", "![x](images/a.png)"),
        ("[x](gallery/dump/fig5_both.png)", "docs/dump.md", "dump.md", "[x](gallery/dump.md#fig5)"),
        ("[x](tour.ipynb)", "notebooks/tour.ipynb", "notebooks/tour.md", "[x](tour.md)"),
        ("[the settings](../config/config.yaml)", "docs/a.md", "a.md", "the settings (`config/config.yaml`)"),
        ("[`config.yaml`](../config/config.yaml)", "docs/a.md", "a.md", "`config.yaml`"),
        ("[x](https://e.org/a.md), [y](#here)", "docs/a.md", "a.md", "[x](https://e.org/a.md), [y](#here)"),
        (
            "```\n[x](nowhere.md)\n```\n[y](data.md)",
            "docs/a.md",
            "a.md",
            "```\n[x](nowhere.md)\n```\n[y](data.md)",
        ),
    ],
)
def test_links_lead_to_pages(text, source, page, shown):
    """A link to a file without a page becomes the path of the file."""
    assert relinked(text, source, page, SITE) == (shown, [])


# -- formulas -----------------------------------------------------------------------------------------------------


def known(latex: str, display: str) -> str:
    """Replace the converter: return commands that it does not know unchanged, as the converter does."""
    return f"<math display='{display}'><mi>{latex}</mi></math>"


def test_unknown_formula_command_stops_build():
    with pytest.raises(FormulaError, match=r"\\nonsense, which is not known"):
        with_mathml('<span class="arithmatex">\\(\\nonsense\\)</span>', known)


def test_unreadable_formula_stops_build():
    def broken(latex: str, display: str) -> str:
        raise IndexError("no closing brace")

    with pytest.raises(FormulaError, match=r"cannot translate the formula 'x_'.*no closing brace"):
        with_mathml('<span class="arithmatex">\\(x_\\)</span>', broken)


# -- code ---------------------------------------------------------------------------------------------------------


def test_failing_code_names_page_and_line():
    with pytest.raises(ZeroDivisionError) as raised:
        with_output("A\n\n```python run\nx = 1\ny = 1 / 0\n```\n", "guide.md")
    last = raised.traceback[-1]
    assert (str(last.path).rpartition("/")[2], last.lineno + 1) == ("guide.md", 5)


PAGE = f"""A

```python run
x = 2
```

<!-- python run
print(f"[{{x}}](data.md)", ROOT.is_dir(), "", sep="\\n")
-->

{NOTE}

```python run
print(x)
```
B
"""


def test_outputs_stand_in_the_page():
    assert with_output(PAGE, "guide.md") == (
        "A\n\n```python\nx = 2\n```\n\n[2](data.md)\nTrue\n\n"
        '```python\nprint(x)\n```\n\n```text title="prints"\n2\n```\nB\n'
    )
    with pytest.raises(ValueError, match="must be followed by an empty line and"):
        with_output(PAGE.replace(NOTE, ""), "guide.md")


# -- reference ----------------------------------------------------------------------------------------------------

DOORS = [
    *("accountant", "accounting", "designs", "populations", "protocols", "protocols.calibrations"),
    *("protocols.conformance", "sampling", "tasks"),
]


@pytest.mark.parametrize("door", [f"shuffledp.{name}" for name in DOORS])
def test_every_public_name_has_one_place(door):
    listed = [name for group in groups() if group.door == door for name in group.names]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(public_names(door))
    assert len(listed) > 5


def test_every_protocol_stands_under_its_trust():
    rows = protocols_by_trust().splitlines()[2:]
    assert len(rows) == sum(len(available(kind)) for kind in TASK_KINDS)
    trusts = [row.split("|")[1].strip() for row in rows]
    assert trusts == sorted(trusts, key=lambda trust: trust.strip("`"))
    page = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    assert all(f"| {trust} |" in page for trust in set(trusts))


# -- navigation ---------------------------------------------------------------------------------------------------


def listed(nav: object) -> list[str]:
    """Return the pages of a navigation, at any depth."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in listed(part)]


def test_measured_output_has_tool_and_page():
    def named(*patterns: str) -> set[str]:
        texts = [path.read_text(encoding="utf-8") for pattern in patterns for path in ROOT.glob(pattern)]
        return {name for text in texts for name in re.findall(r"docs/measured/(\w+)\.md", text)}

    measured = {path.stem for path in (ROOT / "docs/measured").glob("*.md")}
    assert named("tools/*.py", "benchmarks/*.py") == named("docs/*.md", "ARTIFACT-APPENDIX.md") == measured


def test_every_page_is_in_navigation():
    """No page loads anything from elsewhere."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = listed(config["nav"])
    own = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    own = {page for page in own if not page.startswith("measured/")}  # parts of pages
    assert len(pages) == len(set(pages))
    assert own <= set(pages)
    assert {group.page for group in groups()} <= set(pages)
    assert {f"notebooks/{p.stem}.md" for p in (ROOT / "notebooks").glob("*.ipynb")} <= set(pages)
    assert config["theme"]["font"] is False
    assert config["extra"]["polyfills"] == ["assets/iframe-worker.js"]
    assert not re.search(r"https?://", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
