"""Folder with the client, shuffler and analyzer of a calibrated protocol."""

from __future__ import annotations

import ast
import json
import os
import random
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from shuffledp.numerics.statements import Conditions
from shuffledp.protocols.client import analyzing, files, moments, prefixes, randomizers, shuffling, trees
from shuffledp.protocols.client.description import Client
from shuffledp.sampling import bits, clients, coins, laws, rationals

#: Modules whose definitions are copied; a module precedes all modules that use it.
COPIED = (
    rationals,
    bits,
    coins,
    laws,
    clients,
    files,
    randomizers,
    shuffling,
    analyzing,
    trees,
    prefixes,
    moments,
)
#: Dictionaries whose entries are copied if the parameters name them.
CHOICES = ("RANDOMIZERS", "SHUFFLING", "COUNTING", "ESTIMATING")
#: Number of users of the test vectors.
_VECTORS = 8


def parameters(client: Client, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of ``parameters.json``. Raise ValueError if a list of values has not a value per input."""
    names = about.get("domain", {}).get("values")
    if names is not None and len(names) != client.inputs:
        raise ValueError(f"domain must have {client.inputs} values, got {len(names)}.")
    content = {
        **about,
        "planned_users": client.users,
        "conditions": {
            name: asdict(Conditions(client.users, "planned", "worst", "up"))
            for name in ("eps", "delta", "eps_local")
            if name in about
        },
        "inputs": client.inputs,
        "one_message": client.one_message,
        "encoding": "A message is its fields one after another, each an unsigned big-endian integer, and a tag: the "
        f"first {files.TAG} bytes of the checksum.",
        "message": [
            {"name": name, "values": values, "bytes": max(1, -(-(values - 1).bit_length() // 8))}
            for name, values in client.message
        ],
        "client": [dict(part) for part in client.parts],
        "shuffler": [dict(part) for part in client.shuffler],
        "analyzer": dict(client.analyzer),
        "exactness": client.exactness,
    }
    return content | {"checksum": files.checksum(content)}


@cache
def _definitions(module: ModuleType) -> tuple[list[ast.Import | ast.ImportFrom], dict[str, str]]:
    """Return the imports of a module, and the source text of its top-level definitions by name."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    imports: list[ast.Import | ast.ImportFrom] = []
    sources: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(node)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            sources[node.name] = "\n".join(source.splitlines()[first - 1 : node.end_lineno])
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    sources[name.id] = ast.get_source_segment(source, node) or ""
    return imports, sources


@cache
def _names(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def analyzer_of(content: Mapping[str, Any]) -> tuple[ModuleType, Callable[..., dict[str, Any]]]:
    """Return the module of the analyzer, and its function."""
    if "levels" in content["analyzer"]:
        return prefixes, prefixes.prefix_analysis
    if "sums" in content["analyzer"]:
        return moments, moments.moment_analysis
    return analyzing, analyzing.analysis


def program(entry: ModuleType, named: Iterable[str], note: str) -> str:
    """Return the source text of a program that needs only the standard library.

    The text has the docstring and ``main`` of `entry`, a note, and all definitions that ``main`` uses. `named` lists
    the used entries of the dictionaries in `CHOICES`.
    """
    imports: list[ast.Import | ast.ImportFrom] = []
    sources: dict[str, str] = {}
    for module in COPIED:
        module_imports, module_sources = _definitions(module)
        imports += module_imports
        sources |= {name: text for name, text in module_sources.items() if name != "main" or module is entry}
    for name in CHOICES:
        chosen = [function for function in named if f'"{function}": {function},' in sources[name]]
        head = sources[name].partition(" = ")[0]
        entries = ", ".join(f'"{function}": {function}' for function in chosen)
        sources[name] = f"{head} = {{{entries}}}"
    needed, pending = set(), ["main"]
    while pending:
        if (name := pending.pop()) in sources and name not in needed:
            needed.add(name)
            pending += _names(sources[name])
    needed_sources = dict.fromkeys(source for name, source in sources.items() if name in needed)
    used = set().union(*map(_names, needed_sources))
    origins: dict[str, set[str]] = {}
    for node in imports:
        origin = f"from {node.module} import " if isinstance(node, ast.ImportFrom) else "import "
        if not origin.startswith(("from shuffledp.", "from __future__")):
            origins.setdefault(origin, set()).update(alias.name for alias in node.names if alias.name in used)
    lines = sorted(origin + ", ".join(sorted(names)) for origin, names in origins.items() if names)
    return "\n\n\n".join(
        [
            f'"""{(entry.__doc__ or "").partition("; copied")[0].strip()}. Written by shuffledp.\n\n{note}\n"""',
            "from __future__ import annotations\n\n" + "\n".join(lines),
            *needed_sources,
            'if __name__ == "__main__":\n    main()\n',
        ]
    )


class _Recorded:
    """Pseudorandom bits from a seed, which are also recorded."""

    def __init__(self, seed: int) -> None:
        self._generator = random.Random(seed)
        self.drawn = ""

    def bits(self, count: int) -> int:
        """Return the next `count` bits as an integer, in the order of `shuffledp.sampling.FixedBits`."""
        number = self._generator.getrandbits(count) if count else 0
        self.drawn += f"{number:0{count}b}" if count else ""
        return number


def _refusal(call: Callable[[], object]) -> str:
    """Return the message of the ValueError that a call raises."""
    try:
        call()
    except ValueError as error:
        return str(error)
    raise AssertionError("The input is accepted.")


def refused_inputs(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return values and places that a client refuses, each with the refusal."""
    inputs, places = content["inputs"], content["places"]
    domain, first = content.get("domain", {}), randomizers.value_of(content, 0)
    wrong: list[Any] = [] if domain else [inputs, -1]
    if "width" in domain:
        wrong = [randomizers.value_of(content, place) for place in (inputs, -1)]
    if "values" in domain and domain["other"] is None:
        wrong.append(max(domain["values"]) + "x")
    pairs = [*((value, 0) for value in wrong), (first, -1), *([] if places is None else [(first, places)])]
    return [
        {
            "value": value,
            "place": place,
            "refusal": _refusal(partial(_sent, content, str(value), place)),
        }
        for value, place in pairs
    ]


def _sent(content: Mapping[str, Any], value: str, place: int) -> list[bytes]:
    return randomizers.user_messages(content, randomizers.input_of(content, value), place)


def refused_messages(content: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return messages that shuffler and analyzer refuse, each with the refusal."""
    tag = files.tag_of(content)
    usual = files.encoded(content, (0,) * len(content["message"]))
    bad = [b"", usual[: -len(tag)] + bytes(255 - byte for byte in tag), usual[1:], b"\0" + usual]
    for at, field in enumerate(content["message"]):
        if field["values"] < 256 ** field["bytes"]:
            numbers = [field["values"] if place == at else 0 for place in range(len(content["message"]))]
            bad.append(files.encoded(content, tuple(numbers)))
            break
    return [
        {"message": message.hex(), "refusal": _refusal(partial(files.decoded, content, message))}
        for message in bad
    ]


def vectors(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return test vectors: messages for known bits, the analyzer's result for these messages, and refused inputs."""
    entries, messages = [], []
    users = min(_VECTORS, content["planned_users"])
    for place in range(users):
        source = _Recorded(place)
        chosen = place % content["inputs"]
        sent = randomizers.user_messages(content, chosen, place, source)
        messages += sent
        entries.append(
            {
                "value": randomizers.value_of(content, chosen),
                "place": place,
                "bits": source.drawn,
                "messages": [message.hex() for message in sent],
            }
        )
    decoded = [files.decoded(content, message) for message in messages]
    _, analysis = analyzer_of(content)
    return {
        "about": "Bits are taken from the left; the first of a number is its highest. The messages of a user follow. "
        "A program ends with the text in `refusal` if it reads a refused value, place or message.",
        "clients": entries,
        "analyzer": {"users": users, "answer": analysis(content, decoded, users)},
        "refused_inputs": refused_inputs(content),
        "refused_messages": refused_messages(content),
    }


def export(client: Client, folder: Path, about: Mapping[str, Any]) -> None:
    """Write a folder with parameters, client, shuffler, analyzer and test vectors, or no folder if an error occurs.

    `about` has the first entries of ``parameters.json``. Raises ValueError unless the folder is new or empty.
    """
    place = Path(os.path.realpath(folder))  # a link stays a link
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise ValueError(f"{folder} exists and is not an empty folder: name a new one.")
    if not place.parent.is_dir():
        raise ValueError(f"There is no folder {folder.parent} for {folder.name}.")
    content = parameters(client, about)
    named = [part["part"] for part in (*client.parts, *client.shuffler)]
    named += [client.analyzer["counting"], client.analyzer["estimating"]]
    written = {
        "parameters.json": json.dumps(content, indent=1) + "\n",
        "client.py": program(randomizers, named, content["if_shuffler_fails"]),
        "shuffler.py": program(shuffling, named, content["if_shuffler_fails"]),
        "analyzer.py": program(
            analyzer_of(content)[0], named, f"The guarantee needs at least {content['least_users']} users."
        ),
        "test_vectors.json": json.dumps(vectors(content), indent=1) + "\n",
    }
    with tempfile.TemporaryDirectory(
        prefix=f".{place.name}.", dir=place.parent, ignore_cleanup_errors=True
    ) as near:
        whole = Path(near) / "whole"
        whole.mkdir()
        for name, line in written.items():
            (whole / name).write_text(line, encoding="utf-8")
        whole.replace(place)
