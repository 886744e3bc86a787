"""Build of the documentation: links, formulas, executed code, notebooks, the gallery and the reference.

``make -C tools docs-check`` checks the built site, because this needs packages that tests do not.
"""

import re

import pytest
import yaml
from reference import groups, protocols_by_trust, public_names

from scripts_by_file import ROOT
from shuffledp.protocols.registry import available
from shuffledp.tasks import TASK_KINDS

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


def listed(nav):
    """Return the pages of a navigation, at any depth."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in listed(part)]


def test_measured_output_has_tool_and_page():
    def named(*patterns):
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
