from __future__ import annotations

import importlib.util
import itertools
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from fabricated import PAPERS

from shuffledp import pages
from shuffledp.storage import IntegrityError

if TYPE_CHECKING:
    from fabricated import Folder

VOID = {"meta", "img", "link", "br", "hr", "input"}


class Page(HTMLParser):
    """Tags and attributes in order; nesting is checked on the way."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()

    def all(self, name: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag == name]


@pytest.fixture
def html(papers: dict[str, Folder], tmp_path: Path) -> str:
    return pages.render(tmp_path, PAPERS)


def test_every_entry_is_there_once_in_the_manifests_order(html: str, papers: dict[str, Folder]) -> None:
    want = [f"{key}-{e['id']}" for key, paper in papers.items() for e in paper.manifest["entries"]]
    assert [a["id"] for a in Page(html).all("article")] == want
    for key, paper in papers.items():
        assert html.count(f'href="#{key}"') == 1
        for entry in paper.manifest["entries"]:
            assert f'href="#{key}-{entry["id"]}"' in html


def test_ids_are_unique_and_every_reference_leads_somewhere(html: str, tmp_path: Path) -> None:
    page = Page(html)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    pointing = [attributes for _, attributes in page.tags if "aria-labelledby" in attributes]
    assert {attributes["aria-labelledby"] for attributes in pointing} <= set(ids)
    links = [a["href"] for a in page.all("a")] + [image["src"] for image in page.all("img")]
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids
        elif not link.startswith("https://doi.org/"):
            assert not link.startswith(("/", "file:", "http", ".."))
            assert (tmp_path / unquote(link)).is_file()


def test_every_file_of_every_entry_is_linked(html: str, papers: dict[str, Folder]) -> None:
    targets = {a["href"] for a in Page(html).all("a")}
    for key, paper in papers.items():
        for entry in paper.manifest["entries"]:
            assert {f"figures/{key}/{name}" for name in entry["files"].values()} <= targets


def test_landmarks_language_and_text_alternatives(html: str) -> None:
    page = Page(html)
    assert page.all("html") == [{"lang": "en"}]
    for landmark in ("header", "nav", "main", "h1"):
        assert len(page.all(landmark)) == 1, landmark
    for image in page.all("img"):
        assert "alt" in image
        assert int(image["width"]) > 0
        assert int(image["height"]) > 0
        assert image["loading"] == "lazy"
    assert sum(image["alt"] == "Error falls as the budget grows." for image in page.all("img")) == 4
    assert next(i for i in page.all("img") if "fig6" in i["src"])["width"] == str(
        round((2 * 2.9 + 0.7) * 160)
    )
    assert not page.all("script")
    assert "style" not in {name for _, attributes in page.tags for name in attributes}


def test_headings_do_not_skip_a_level(html: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(html).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_notes_gaps_settings_and_scale_are_shown(html: str) -> None:
    assert html.count("This is a summary of Adult that ships with the project.") == 1
    assert html.count('class="note"') == 2  # that one, and the shortened run
    assert "a part of what follows" in html
    assert html.count("at the paper’s scale") == 1
    assert "adaptive at rate 0.05, eps 0.001: too few users" in html
    assert html.count("<dt>repeats</dt><dd>200</dd>") == 6
    assert "commit <code>0123456789ab</code>" in html
    assert "<math" in html


def test_results_of_several_commits_name_them_all(papers: dict[str, Folder], tmp_path: Path) -> None:
    papers["dump"].manifest["run"]["commit"] = "0123456789abcdef0123, fedcba9876543210-dirty"
    papers["dump"].publish()
    html = pages.render(tmp_path, ["dump"])
    assert "(commit <code>0123456789ab</code>, <code>fedcba987654-dirty</code>)" in html


def test_tables_show_what_the_csv_says(html: str) -> None:
    assert '<th scope="col" class="number">eps_local</th>' in html
    assert '<th scope="col">method</th>' in html
    row = (
        '<tr><th scope="row" class="number">0.01</th><td>local</td><td class="number">'
        '<data value="0.14285714285714285">0.142857</data></td><td class="number">48842</td></tr>'
    )
    assert html.count(row) == 1
    assert html.count("at most six significant digits") == 1
    for box in (a for a in Page(html).all("div") if a.get("class") == "scroll"):
        assert box["tabindex"] == "0"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("48841000", "48841000"),
        ("0.5", "0.5"),
        ("1e-05", "1e-05"),
        ("1.23456789e-07", "1.23457e-07"),
        ("inf", "inf"),
        ("nan", "nan"),
        ("", ""),
        ("1.2345678 (estimated)", "1.2345678 (estimated)"),
    ],
)
def test_only_long_fractions_are_shortened(
    papers: dict[str, Folder], tmp_path: Path, text: str, shown: str
) -> None:
    paper = papers["dump"]
    paper.files["wide.csv"] = f"name,value\nrow,{text}\n".encode()
    paper.publish()
    html = pages.render(tmp_path, ["dump"])
    (cell,) = re.findall(r"<td[^>]*>(?:<data[^>]*>)?([^<]*)", html)
    assert cell == shown


def test_hostile_text_stays_text(papers: dict[str, Folder], tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    paper = papers["dump"]
    paper.manifest["paper"] |= {"title": bad, "citation": bad, "doi": '10.1/"><script>'}
    paper.manifest["run"] |= {"version": bad, "commit": "<b>", "python": bad}
    for entry in paper.manifest["entries"]:
        entry |= {"title": bad, "alt": bad, "note": bad, "infeasible": [bad], "settings": [[bad, bad]]}
    paper.files["wide.csv"] = b'<script>,<img src=x>\n<script>alert(1)</script>,"<i>"\n'
    paper.files["fig5.rst"] = f"{bad} ``{bad}``\n".encode()
    paper.publish()
    page = Page(pages.render(tmp_path, ["dump"], title=bad))
    assert not page.all("script")
    assert not page.all("i")
    assert {i["src"] for i in page.all("img")} == {"figures/dump/fig5.png", "figures/dump/fig6.png"}
    assert not [a for _, a in page.tags if any(name.startswith("on") for name in a)]
    assert page.all("img")[2]["alt"] == bad


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("Unfinished **strong", "start-string without end-string"),
        (":nosuchrole:`x`", "nosuchrole"),
        (".. raw:: html\n\n   <script>alert(1)</script>", "raw"),
        (".. include:: fig5.csv", "include"),
        (".. csv-table::\n   :file: fig5.csv", "file"),
        (".. image:: https://example.org/x.png", "picture"),
        ("`x <javascript:alert(1)>`__", "javascript"),
        ("`x <JavaScript:alert(1)>`__", "allowed"),
        ("`x <data:text/html,y>`__", "allowed"),
        ("A title\n====\n", "underline"),
    ],
)
def test_bad_captions_name_their_file(
    papers: dict[str, Folder], tmp_path: Path, caption: str, reason: str
) -> None:
    papers["dump"].files["fig5.rst"] = caption.encode()
    papers["dump"].publish()
    with pytest.raises(pages.CaptionError, match=reason) as caught:
        pages.render(tmp_path, PAPERS)
    assert "fig5.rst" in str(caught.value)


def test_captions_with_the_same_targets_do_not_clash(papers: dict[str, Folder], tmp_path: Path) -> None:
    caption = b"Part\n----\n\nA note [#one]_.\n\n.. [#one] Here.\n\n.. note:: Careful.\n"
    for name in ("fig5", "fig6"):
        papers["dump"].files[f"{name}.rst"] = caption
    papers["dump"].publish()
    page = Page(pages.render(tmp_path, ["dump"]))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert {a["href"][1:] for a in page.all("a") if a["href"].startswith("#")} <= set(ids)
    assert len(page.all("main")) == len(page.all("h1")) == 1


@pytest.mark.parametrize("name", ["fig5.png", "fig5.pdf", "fig6.svg", "fig6.csv", "wide.tex", "fig5.rst"])
@pytest.mark.parametrize("kind", ["changed", "missing"])
def test_damaged_files_are_named_with_the_way_to_rebuild(
    papers: dict[str, Folder], tmp_path: Path, name: str, kind: str
) -> None:
    path = papers["dump"].path / name
    path.unlink() if kind == "missing" else path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IntegrityError, match="make repair") as caught:
        pages.render(tmp_path, PAPERS)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["manifest.json", "figures.sha256"])
def test_a_folder_without_manifest_or_checksums_is_refused(
    papers: dict[str, Folder], tmp_path: Path, name: str
) -> None:
    (papers["dump"].path / name).unlink()
    with pytest.raises(IntegrityError, match=name):
        pages.render(tmp_path, PAPERS)


def test_a_paper_that_was_never_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="segmented"):
        pages.render(tmp_path, ["segmented"])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": "a b"}, "id"),
        ({"kind": "film"}, "kind"),
        ({"caption": "../fig5.rst"}, "caption"),
        ({"files": {"png": "fig5.png", "csv": "/etc/passwd"}}, "files.csv"),
        ({"files": {"csv": "fig5.csv"}}, "png"),
        ({"files": {"png": "fig5.csv", "csv": "fig5.csv"}}, "not a PNG"),
        ({"settings": [["eps"]]}, "settings"),
        ({"title": ""}, "title"),
        ({"alt": ""}, "alt"),
        ({"id": "fig6"}, "twice: fig6"),
        ({"kind": "table", "files": {"csv": "fig5.png"}}, "UTF-8"),
    ],
)
def test_manifests_of_another_form_are_refused(
    papers: dict[str, Folder], tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    papers["dump"].manifest["entries"][0] |= change
    papers["dump"].publish()
    with pytest.raises(pages.ManifestError, match=re.escape(reason)):
        pages.render(tmp_path, PAPERS)


@pytest.mark.parametrize("content", [b"", b"a,b\n1\n"])
def test_broken_tables_are_refused(papers: dict[str, Folder], tmp_path: Path, content: bytes) -> None:
    papers["dump"].files["wide.csv"] = content
    papers["dump"].publish()
    with pytest.raises(pages.ManifestError, match=r"wide\.csv"):
        pages.render(tmp_path, PAPERS)


def test_papers_in_the_wrong_folder_or_named_twice_are_refused(
    papers: dict[str, Folder], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="twice: dump"):
        pages.render(tmp_path, ["dump", "dump"])
    papers["dump"].path.rename(tmp_path / "figures" / "other")
    with pytest.raises(pages.ManifestError, match="'other'"):
        pages.render(tmp_path, ["other"])


def test_the_same_content_gives_the_same_bytes_wherever_it_lies(
    papers: dict[str, Folder], tmp_path: Path, html: str
) -> None:
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (tmp_path / "figures").rename(moved / "figures")
    assert pages.render(moved, PAPERS) == html
    assert str(tmp_path) not in html


def test_script_writes_the_page_beside_its_figures(
    papers: dict[str, Folder], tmp_path: Path, html: str
) -> None:
    script = _script()
    script.main(tmp_path, PAPERS, tmp_path / "index.html")
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == html
    with pytest.raises(ValueError, match="must lie in"):
        script.main(tmp_path, PAPERS, tmp_path / "pages" / "index.html")


def _script() -> Any:
    path = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "pages.py"
    spec = importlib.util.spec_from_file_location("pages_script", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
