"""All files and lines of a paper, a data set and a protocol exist; each sentence names the missing text and its file.

`tests/test_tasks.py` has this test for a metric, and `tests/pipeline/audit/test_auditor.py` for the view of a protocol.
"""

import json
import re

import pytest
import yaml

from golden.tables import parts_in
from scripts_by_file import ROOT
from shuffledp.identities import identity_of
from shuffledp.pipeline.claims.claim_jobs import papers_with_claims
from shuffledp.pipeline.claims.errata_data import errata, reading_notes
from shuffledp.pipeline.claims.stated_claims import claims
from shuffledp.pipeline.datasets.registry import NAMES, spec
from shuffledp.pipeline.new_files import COUNTED, WORDS
from small_tasks import BUILT_INS

FILES = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / "config/experiments").glob("*.yaml")}
PAPERS = sorted(key for key, content in FILES.items() if "paper" in content)
FOLDER = "src/shuffledp/pipeline/papers"


def text(name):
    """Return a file of the repository; empty if it does not exist."""
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def lacking(present):
    """Return the sentences about what is not there."""
    return [sentence for sentence, there in present.items() if not there]


@pytest.mark.parametrize("key", PAPERS)
def test_a_paper_is_complete(key):
    folder = f"{FOLDER}/{key}"
    files = ("__init__.py", "claims.yaml", "errata.yaml", "witnesses.py")
    present = {f"Write {folder}/{name}." for name in files if not text(f"{folder}/{name}")}
    assert not present, "\n".join(sorted(present))
    tables = FILES[key].get("claims", {})
    missing = lacking(
        {
            f"Add {key} to `papers` of config/config.yaml.": key
            in yaml.safe_load(text("config/config.yaml"))["papers"],
            f"Add {key} to `papers` of config/quick.yaml.": key
            in yaml.safe_load(text("config/quick.yaml"))["papers"],
            f"Write the page docs/{key}.md.": text(f"docs/{key}.md"),
            f"Add {key}.md to `nav` of mkdocs.yml.": f": {key}.md\n" in text("mkdocs.yml"),
            f"Add a row of {key} to the table of papers in README.md.": f"(docs/{key}.md)"
            in text("README.md"),
            f"Write `errata` into the section `claims` of config/experiments/{key}.yaml.": not errata(key)
            or "errata" in tables,
            f"Write `reading_notes` into the section `claims` of config/experiments/{key}.yaml.": not reading_notes(
                key
            )
            or "reading_notes" in tables,
            **{
                f"Write the answers: make golden ONLY={part}/{key}.": f"{part}/{key}" in parts_in()
                for part in ("experiments", "claims", "errata")
            },
        }
    )
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("file", COUNTED)
def test_number_of_papers_is_stated(file):
    words = f"{WORDS[len(PAPERS)]} papers"
    assert words in " ".join(text(file).split()), f"Write '{words}' into {file}."


@pytest.mark.parametrize("key", papers_with_claims())
def test_functions_of_claims_are_judged(key):
    """The golden table judges claims that read no results; tests judge the others on results of their own."""
    verdicts = json.loads(text(f"tests/golden/table/claims/{key}.json"))["rows"]
    folder = f"tests/pipeline/papers/{key}"
    tests = "".join(path.read_text() for path in (ROOT / folder).glob("test_*.py"))
    functions = {}
    for claim in claims(key):
        if claim.rule and claim.rule != "erratum":
            functions.setdefault(claim.rule, []).append(claim.id)
    missing = {
        f"Judge {ids[0]} on both sides of its threshold in {folder}/test_claims.py."
        for ids in functions.values()
        if not any(f'"{name}"' in tests or "verdict" in str(verdicts.get(name)) for name in ids)
    }
    assert not missing, "\n".join(sorted(missing))


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_is_complete(name):
    missing = lacking(
        {
            f"Write a row of {name} into data/datasets.csv for every file and address.": f"\n{name},"
            in text("data/datasets.csv"),
            f"Write `description` into the class of sets/{name}.py.": hasattr(spec(name), "description"),
            f"Write {name} into the schemas: python tools/config_schema.py.": f'"{name}"'
            in text("config/schema/experiments.json"),
            f"Write tests of {name} with small files into tests/pipeline/datasets/sets/.": any(
                name in path.read_text() for path in (ROOT / "tests/pipeline/datasets/sets").glob("*.py")
            ),
        }
    )
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("kind, name", BUILT_INS)
def test_a_protocol_is_complete(kind, name):
    missing = lacking(
        {
            f"Write the table [protocols.{name}] into src/shuffledp/identities.toml.": identity_of(
                kind, name
            ),
            f"Write the answers: make golden ONLY=protocols/{kind}.{name}.": f"protocols/{kind}.{name}"
            in parts_in(),
        }
    )
    assert not missing, "\n".join(missing)


def hunks():
    """Return the file and the lines of every example in CONTRIBUTING.md."""
    blocks = re.findall(r"```diff\n\+\+\+ (\S+)\n(.*?)```", text("CONTRIBUTING.md"), re.DOTALL)
    return [
        pytest.param(file, lines.splitlines(), id=f"{file}-{n}") for n, (file, lines) in enumerate(blocks)
    ]


def test_the_page_of_contributors_is_short():
    assert len(text("CONTRIBUTING.md").split()) <= 1500


@pytest.mark.parametrize("file, lines", hunks())
def test_example_begins_at_lines_of_file(file, lines):
    old = "\n".join(line[1:] for line in lines if line[0] in " -")
    new = "\n".join(line[1:] for line in lines if line[0] in " +")
    assert old in text(file) or new in text(file)
