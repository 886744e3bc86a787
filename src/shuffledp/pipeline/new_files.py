"""Files of a new paper or protocol, from the templates in ``tools/templates/`` of a checkout."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from string import Template

from shuffledp.identities import colors, identities
from shuffledp.pipeline.figures.palette import MARKERS
from shuffledp.protocols.scaffold import class_name
from shuffledp.storage import write_atomically

TEMPLATES = Path("tools/templates")
#: Files that state the number of papers in words.
COUNTED = (
    *("README.md", "docs/index.md", "docs/architecture.md"),
    *("CITATION.cff", "codemeta.json", "ro-crate-metadata.json"),
)
WORDS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
#: Sentence of a protocol's identity by template.
_SENTENCES = {
    "noisy_counts": "Each user sends the value, among random numbers of dummies of every value.",
    "fixed_dummies": "Each user sends the value, among equally many uniform dummies of every user.",
    "randomized_reports": "Each user sends one randomized report, which uniform reports of the others hide.",
}


def _identity(family: str) -> dict[str, tuple[str, str]]:
    """Return the table of a protocol of this family in the file of identities."""
    look = 'look = ["$color", "$marker", "solid"]'
    table = f'\n[protocols.$id]\n{look}\nlabel = "$title"\nsentence = "{_SENTENCES[family]}"\n'
    return {"src/shuffledp/identities.toml": (r"\Z", table)}


#: Text after which a line is added to a file, by template and file: a regular expression and the addition.
LISTS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "paper": {
        "config/config.yaml": (r"(?m)^papers:.*\n\s*\[.*segmented", ", $id"),
        "config/quick.yaml": (r"(?m)^papers: \[.*segmented", ", $id"),
        "README.md": (
            r"\| target \| paper \|.*\n(\|.*\n)+",
            "| [`$id`](docs/$id.md) | $citation | Figure 1 |\n",
        ),
        "mkdocs.yml": (r" *- Reproduce a paper: .*\n(.*\n)*?(?= *- Errata)", "      - $title: $id.md\n"),
    },
    "protocol/noisy_counts": {
        **_identity("noisy_counts"),
        "src/shuffledp/pipeline/audit/frequency.py": (
            r"_NOISES: .*\n",
            '    "frequency.$id.$name": lambda p, n: poisson_counts(p.dummy_mean * n / p.n_users),\n',
        ),
    },
    "protocol/fixed_dummies": _identity("fixed_dummies"),
    "protocol/randomized_reports": _identity("randomized_reports"),
}


def write(template: str, names: Mapping[str, str]) -> Iterator[Path]:
    """Write the files of a template with the names, add them to the lists, and yield the paths.

    Raises ValueError for a name that is not valid, a file that exists, or a folder that is no checkout.
    """
    folder = TEMPLATES / template
    if not folder.is_dir():
        raise ValueError(f"{folder} is absent: run the command in the folder of the repository.")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", names["id"]):
        raise ValueError(
            f"The name has lower-case letters, digits and underscores, a letter first; got {names['id']!r}."
        )
    texts = {}
    for path in sorted(folder.rglob("*.txt")):
        place = Template(str(path.relative_to(folder).with_suffix(""))).substitute(names)
        texts[Path(place)] = Template(path.read_text(encoding="utf-8")).safe_substitute(names)
    if existing := [str(path) for path in texts if path.exists()]:
        raise ValueError(f"{', '.join(existing)}: exists already. Choose another name.")
    for name, (after, addition) in LISTS[template].items():
        text = Path(name).read_text(encoding="utf-8")
        end = re.search(after, text).end()  # type: ignore[union-attr]
        texts[Path(name)] = text[:end] + Template(addition).substitute(names) + text[end:]
    if template == "paper":
        texts |= _counted_papers(texts)
    for path, text in texts.items():
        write_atomically(path, text.encode())
        yield path


def number_of_papers() -> int:
    """Return the number of papers with experiments, in the folder of the repository."""
    return sum("\npaper:" in path.read_text("utf-8") for path in Path("config/experiments").glob("*.yaml"))


def _counted_papers(texts: Mapping[Path, str]) -> dict[Path, str]:
    """Return the texts that state the number of papers, with one paper more."""
    before, after = (f"{WORDS[number_of_papers() + more]} papers" for more in (0, 1))
    paths = map(Path, COUNTED)
    return {path: texts.get(path, path.read_text("utf-8")).replace(before, after) for path in paths}


def names_of_protocol(name: str) -> dict[str, str]:
    """Return the names in the templates of a protocol: id, class, label, and a color and marker that nobody has."""
    used_looks = {(identity.color, identity.marker) for identity in identities().values()}
    looks = product(MARKERS, ((color, code) for color, code in colors().items() if color != "black"))
    marker, color = next((m, color) for m, (color, code) in looks if (code, m) not in used_looks)
    words = name.replace("_", " ")
    about = {"id": name, "name": class_name(name), "title": words, "heading": words.capitalize()}
    return about | {"color": color, "marker": marker}


def golden(*parts: str) -> None:
    """Write parts of the golden table of answers, and the schemas of the configuration."""
    options = [f"--only={part}" for part in parts]
    subprocess.run([sys.executable, "tools/golden_table.py", *options], check=True)
    subprocess.run([sys.executable, "tools/config_schema.py"], check=True)
