"""Every protocol with a year has a BibTeX entry of this year, and every entry is the source of a protocol."""

import re
from pathlib import Path

import pytest

from command_line import invoked
from shuffledp.identities import identities, source_of
from shuffledp.protocols import registry

ENTRIES = (Path(registry.__file__).parent / "sources.bib").read_text(encoding="utf-8").split("\n\n")


def test_source_entries_have_protocol_years():
    years = {
        re.match(r"@\w+\{(\w+),", one)[1]: int(re.search(r"year = \{(\d+)\}", one)[1]) for one in ENTRIES
    }
    cited = {name: one for name, one in identities().items() if one.year is not None}
    assert {one.cite for one in identities().values()} - {""} == set(years)
    assert {name: one.year for name, one in cited.items()} == {
        name: years[one.cite] for name, one in cited.items()
    }
    for entry in ENTRIES:
        assert {"title", "author", "year"} <= set(re.findall(r"^  (\w+) = \{", entry, re.MULTILINE))
        assert entry.count("{") == entry.count("}")


def test_sources_are_printed_once():
    done = invoked("cite pure_dump nothing")
    assert done.exit_code == 1 and "No protocol of the library is named 'nothing'" in done.output
    done = invoked("cite pure_dump SOLH mixDUMP jump_counts")
    assert re.findall(r"@\w+\{(\w+),", done.output) == ["li2020dump", "wang2020solh"]
    assert "derived in this project" in done.output


def test_a_source_is_named_in_words():
    sources = [source_of(identity) for identity in identities().values()]
    assert not re.search(r"[{}\\]", "".join(sources))
    assert "Chen, Kairouz, Özgür 2020: Breaking the Communication-Privacy-Accuracy Trilemma" in sources
    assert "Balcer, Cheu 2020: Separating Local & Shuffled Differential Privacy via Histograms" in sources
    assert source_of(identities()["jump_counts"]) == ""


@pytest.mark.parametrize("name, keys", [("local", ["warner1965randomized", "dwork2006calibrating"])])
def test_shared_name_has_all_sources(name, keys):
    assert sorted(re.findall(r"@\w+\{(\w+),", registry.bibtex_of(name))) == sorted(keys)
