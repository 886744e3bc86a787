"""Faulty configurations: the project's files and the guides' files, changed in one or two places.

`bad_configurations` draws one. `trial` loads it as the workflow and ``shuffledp check`` do, and judges the result: a
plan, or one line that names file and place.
"""

import copy
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st
from judged import ACCEPTED, Outcome, TooLong, limited, refused

from shuffledp.pipeline.config.config_errors import ConfigurationError
from shuffledp.pipeline.config.config_files import DESIGNS, merged, read_yaml
from shuffledp.pipeline.config.settings import Settings
from shuffledp.pipeline.experiments.audited import audit_jobs
from shuffledp.pipeline.figures.drawings import drawings_of
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.protocols.scaffold import files as files_of_baseline

ROOT = Path(__file__).resolve().parents[2]
Place = tuple[str | int, ...]

RUN = "config/config.yaml"
QUICK = "config/quick.yaml"
OWN = "config/own/visits.yaml"
BASELINE = "config/baselines/half_budget.yaml"
EXPERIMENTS = tuple(
    sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "config/experiments").glob("*.yaml"))
)
FILES = (*EXPERIMENTS, OWN, OWN, BASELINE, BASELINE, RUN, RUN, QUICK)

#: Texts that are inserted into a text, or replace a value.
SCRAPS = (
    *"\t\x00\ufeff\x07:{}[]&*!%@`'\"?-#|>~$\r\u2028é\U0001f600",
    *(
        f"!!{tag} x"
        for tag in ("binary", "int", "float", "timestamp", "bool", "null", "python/object:os.system")
    ),
    *(
        "---\n",
        "...\n",
        "<<: ",
        "<<: 3\n",
        "!!set {a}",
        "!!omap [a: 1]",
        "&a [*a, *a]",
        "&a {<<: *a}",
        "{0.__class__}",
    ),
    *("2024-02-31", "1:30", "0x1G", "0o8", "1e-5", "nan", "yes", "$eps", "../x", "a/b", "\ud7ff"),
    *("9" * 5000, "[" * 3000, "{a: " * 500),
)
#: Replacements of a value, besides scraps.
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    3,
    2.5,
    -0.5,
    1e-300,
    1e308,
    10**9,
    10**30,
    10**400,
    math.nan,
    -math.inf,
    "",
    "config",
    [],
    {},
    [[]],
    [1, 1],
    [None],
    [[1, 2], [3]],
    {"a": {"b": []}},
    {"users": 0},
    {"law": "poisson"},
    {"evaluated": []},
)


@dataclass(frozen=True)
class Bad:
    """Changed file of the configuration."""

    file: str
    content: bytes = field(repr=False)
    places: tuple[Place, ...]
    what: str


# -- the files as they should be -------------------------------------------------------------------------------------


@cache
def originals() -> dict[str, bytes]:
    """Return the configuration of a small project by file: the project's files, and the files in the guides."""
    found = {file: (ROOT / file).read_bytes() for file in (QUICK, DESIGNS, *EXPERIMENTS)}
    guide = (ROOT / "docs/guides/experiment.md").read_text(encoding="utf-8")
    found[OWN] = re.search(r"^```yaml\n(study:.*?)^```$", guide, re.M | re.S)[1].encode()
    page = (ROOT / "docs/baselines.md").read_text(encoding="utf-8")
    found[BASELINE] = re.search(r"^```yaml\n(.*?^figures: all.*?)^```$", page, re.M | re.S)[1].encode()
    found[RUN] = (ROOT / RUN).read_bytes()
    return found


def make_project(root: Path) -> None:
    """Write the whole project, whose files are then changed one by one."""
    for file, content in originals().items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(content)
    (root / "visits.csv").write_text("color,minutes\nred,3\ngreen,4\nblue,5\n", encoding="utf-8")
    for name, text in files_of_baseline("frequency", "half_budget").items():
        if name.suffix == ".py" and "test_" not in name.name:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")


@cache
def tree_of(file: str) -> Any:
    """Return the content of a file as a tree."""
    return yaml.safe_load(originals()[file])


@cache
def places_of(file: str) -> tuple[Place, ...]:
    """Return the places of a file, without its root."""
    return tuple(place for place in _walk(tree_of(file)) if place)


def _walk(value: Any, at: Place = ()) -> Iterator[Place]:
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _walk(one, (*at, key))


# -- changes -----------------------------------------------------------------------------------------------------


def _holder(tree: Any, place: Place) -> Any:
    for part in place[:-1]:
        tree = tree[part]
    return tree


def _there(tree: Any, place: Place) -> bool:
    try:
        holder = _holder(tree, place)
        holder[place[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    return isinstance(holder, dict | list)


def _renamed(holder: Any, key: Any, new: str) -> None:
    if not isinstance(holder, dict):
        holder[key] = new
        return
    items = [(new if name == key else name, value) for name, value in holder.items()]
    holder.clear()
    holder.update(items)


def _near(old: float) -> st.SearchStrategy[Any]:
    """Draw numbers nearby and far away; none of them if the number exceeds all floats."""
    if abs(old) > 1e300:
        return st.just(-old)
    return st.sampled_from((-old, old * 1e9, old / 1e9, float(old), old + 0.5, str(old), [old]))


@st.composite
def _edited(draw: st.DrawFn, tree: Any, places: tuple[Place, ...]) -> tuple[list[Place], str]:
    """Change a tree in one place, or exchange two places; return the places and the change."""
    there = [place for place in places if _there(tree, place)]
    place, other = draw(st.sampled_from(there)), draw(st.sampled_from(there))
    holder, key = _holder(tree, place), place[-1]
    old = holder[key]
    how = draw(st.sampled_from(("replace", "near", "remove", "rename", "wrap", "swap", "extra")))
    value = copy.deepcopy(draw(st.sampled_from(VALUES) | st.sampled_from(SCRAPS)))
    if how == "remove":
        del holder[key]
    elif how == "near" and isinstance(old, int | float) and not isinstance(old, bool):
        holder[key] = draw(_near(old))
    elif how in ("near", "rename"):
        word = str(key if isinstance(holder, dict) else old)
        at = draw(st.integers(0, len(word)))
        _renamed(
            holder, key, word[:at] + draw(st.sampled_from(("", "_", "s", "$", "../", "é"))) + word[at + 1 :]
        )
    elif how == "wrap":
        holder[key] = draw(st.sampled_from(([old], [old, old], {str(key): old})))
    elif how == "swap" and other[: len(place)] != place and place[: len(other)] != other:
        away = _holder(tree, other)
        holder[key], away[other[-1]] = away[other[-1]], old
        return [place, other], how
    elif how == "extra" and isinstance(old, dict):
        old[draw(st.sampled_from(("x", "users", "eps", "grid", "$eps", "label", "")))] = value
    elif how == "extra" and isinstance(old, list):
        old.append(value)
    else:
        holder[key] = value
    return [place], how


@st.composite
def _trees(draw: st.DrawFn, file: str) -> Bad:
    tree = copy.deepcopy(tree_of(file))
    done = [draw(_edited(tree, places_of(file))) for _ in range(draw(st.sampled_from((1, 1, 1, 2))))]
    text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
    return Bad(
        file,
        text.encode("utf-8", "surrogatepass"),
        tuple(p for changed, _ in done for p in changed),
        " and ".join(w for _, w in done),
    )


@st.composite
def _texts(draw: st.DrawFn, file: str) -> Bad:
    content = originals()[file]
    text = content.decode()
    at = draw(st.integers(0, len(text)))
    how = draw(st.sampled_from(("scrap", "cut", "drop", "indent", "encoding", "bytes", "nothing")))
    changes: dict[str, Callable[[], bytes]] = {
        "scrap": lambda: (text[:at] + draw(st.sampled_from(SCRAPS)) + text[at:]).encode(
            "utf-8", "surrogatepass"
        ),
        "cut": lambda: content[:at],
        "drop": lambda: content[:at] + content[at + draw(st.integers(1, 40)) :],
        "indent": lambda: text.replace("  ", draw(st.sampled_from((" ", "\t"))), 1 + at % 9).encode(),
        "encoding": lambda: text.encode(
            draw(st.sampled_from(("utf-8-sig", "utf-16", "utf-32", "utf-16-be")))
        ),
        "bytes": lambda: content[:at] + draw(st.binary(min_size=1, max_size=6)) + content[at:],
        "nothing": lambda: draw(st.sampled_from((b"", b" ", b"null", b"[]", b"3", b"a: &a [*a]", b"{}"))),
    }
    return Bad(file, changes[how](), (), how)


@st.composite
def bad_configurations(draw: st.DrawFn) -> Bad:
    """Draw a file with a fault; sometimes the file is still valid."""
    file = draw(st.sampled_from(FILES))
    return draw(_texts(file) if draw(st.integers(0, 3)) == 0 else _trees(file))


# -- what comes of them ------------------------------------------------------------------------------------------


def configuration(root: Path, file: str) -> Settings:
    """Write the project's configuration with only the experiments that a file affects."""
    base = read_yaml(root / RUN)
    if not isinstance(base, Mapping):
        raise ConfigurationError(f"{RUN}: expected a mapping, got {base!r}.")
    only: dict[str, Any] = {"papers": [Path(file).stem]} if file in EXPERIMENTS else {}
    if file == BASELINE:
        only = {"papers": ["dump", "random_population"]}
    elif file == OWN:
        only = {"papers": []}
    elif file == QUICK:
        over = read_yaml(root / QUICK)
        if not isinstance(over, Mapping):
            raise ConfigurationError(f"{QUICK}: expected a mapping, got {over!r}.")
        only = dict(over)
    whole = merged(base, only)
    return load_settings(whole | ({"papers": only["papers"]} if "papers" in only else {}), root)


def planned(settings: Settings, root: Path) -> int:
    """Return the plan of a run when the workflow is read, and the number of cells."""
    cells, jobs = 0, []
    for paper in settings.papers.values():
        for experiment in paper.experiments.values():
            for method in experiment.methods.values():
                job = experiment.job(method.id, settings.seed)
                cells += sum(1 for _ in job.cells())
                if not method.added:
                    jobs.append(job)
        for run in paper.training.values():
            run.job(settings.seed)
        for file in drawings_of(paper):
            file.formats(settings.formats)
    audit_jobs(iter(jobs), settings.effort)
    return cells


def trial(bad: Bad, root: Path) -> Outcome:
    """Load a project with one changed file, plan it, and put the file back."""
    path = root / bad.file
    path.write_bytes(bad.content)
    try:
        with limited():
            settings = configuration(root, bad.file)
            planned(settings, root)
    except ConfigurationError as error:
        file, places = _named(bad)
        faults = [one for line in error.lines if (one := refused(line, file)).kind == "fault"]
        return faults[0] if faults else refused(max(error.lines, key=partial(_names_any, places)), places)
    except TooLong:
        return Outcome("fault", "takes too long")
    except (Exception, SystemExit) as error:
        return Outcome("fault", f"{type(error).__name__}: {error}")
    finally:
        path.write_bytes(originals()[bad.file])
    return ACCEPTED


def _names_any(parts: tuple[str, ...], line: str) -> bool:
    return any(part in line for part in parts)


def _named(bad: Bad) -> list[tuple[str, ...]]:
    """Return the file, and a part of the changed place."""
    parts = {str(part) for place in bad.places for part in place if isinstance(part, str)}
    return [(bad.file, "config:", "config/baselines:"), tuple(sorted(parts))]
