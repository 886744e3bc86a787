"""Parameters with their checksum, and messages as bytes; copied into the client, the shuffler and the analyzer."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

#: Confidence of an interval of the analyzer.
CONFIDENCE = 0.95

#: Number of bytes at the end of a message that name its deployment.
TAG = 4
#: Help of the option for the number of users.
USERS = "number of users who took part; needed unless every user sends one message"

#: Content of ``parameters.json``.
Parameters = Mapping[str, Any]


def checksum(parameters: Parameters) -> str:
    """Return the SHA-256 of all parameters except ``checksum``, as JSON with sorted keys and no spaces, in UTF-8."""
    content = {name: value for name, value in parameters.items() if name != "checksum"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read_parameters(path: Path) -> Parameters:
    """Return the parameters in a file. Raise ValueError if their checksum differs from the stored one."""
    parameters: Parameters = json.loads(path.read_text(encoding="utf-8"))
    if parameters.get("checksum") != checksum(parameters):
        raise ValueError(f"{path}: the parameters do not have this checksum, so they were changed.")
    return parameters


def tag_of(parameters: Parameters) -> bytes:
    """Return the end of every message of a deployment, the first bytes of the checksum of its parameters."""
    return bytes.fromhex(parameters["checksum"])[:TAG]


def encoded(parameters: Parameters, message: tuple[int, ...]) -> bytes:
    """Return a message as bytes: its fields, each an unsigned big-endian integer, and the tag of the deployment."""
    fields = zip(message, parameters["message"], strict=True)
    return b"".join(number.to_bytes(field["bytes"], "big") for number, field in fields) + tag_of(parameters)


def decoded(parameters: Parameters, content: bytes) -> tuple[int, ...]:
    """Return the fields of a message, the inverse of `encoded`. Raise ValueError for bytes that are not a message."""
    tag = tag_of(parameters)
    if not content.endswith(tag):
        raise ValueError(
            f"a message of this deployment ends in its tag {tag.hex()}, got {content[-TAG:].hex() or 'no bytes'}"
        )
    length = sum(field["bytes"] for field in parameters["message"]) + TAG
    if len(content) != length:
        raise ValueError(f"a message has {length} bytes, got {len(content)}")
    numbers, at = [], 0
    for field in parameters["message"]:
        numbers.append(int.from_bytes(content[at : at + field["bytes"]], "big"))
        at += field["bytes"]
        if numbers[-1] >= field["values"]:
            raise ValueError(f"{field['name']} must be in 0..{field['values'] - 1}, got {numbers[-1]}")
    return tuple(numbers)


def read_messages(parameters: Parameters, path: str) -> list[tuple[int, ...]]:
    """Return the messages of a file with one line of hexadecimal digits each; ``-`` is standard input.

    Raise ValueError, with file and line, if a line is no message.
    """
    lines = (
        sys.stdin.readlines()
        if path == "-"
        else Path(path).read_text(encoding="ascii", errors="replace").splitlines()
    )
    messages = []
    for number, line in enumerate(lines, 1):
        try:
            messages.append(decoded(parameters, bytes.fromhex(line)))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}.") from None
    return messages


def counted_users(
    parameters: Parameters, messages: Sequence[tuple[int, ...]], users: int | None
) -> int | None:
    """Return the number of users: the number of messages if every user sends one, otherwise `users`.

    Raise ValueError if every user sends one message and `users` is another number.
    """
    if not parameters["one_message"]:
        return users
    if users not in (None, len(messages)):
        raise ValueError(
            f"Every user sends one message, but there are {len(messages)} messages of {users} users."
        )
    return len(messages)


def guarantee_holds(parameters: Parameters, users: int) -> bool:
    """Return whether the guarantee is proven for this number of users."""
    return users >= parameters["least_users"] and parameters["guarantee"] in ("exact", "upper")


def guarantee_for(parameters: Parameters, users: int) -> str:
    """Return the label of the guarantee: more users than it needs hide a value better than in the worst case."""
    label = str(parameters["guarantee"])
    return "upper" if label == "exact" and users > parameters["least_users"] > 1 else label


def warnings_of(parameters: Parameters, users: int | None) -> list[str]:
    """Return sentences on the number of users who took part, None if it is unknown."""
    least = parameters["least_users"]
    if users is None:
        return [] if least == 1 else [f"The guarantee needs {least} users; give their number with --users."]
    if users >= least:
        return []
    return [f"The guarantee does not hold: it needs {least} users, and {users} took part."]


def warn(warnings: Iterable[str]) -> None:
    """Write warnings on standard error, a line each."""
    for warning in warnings:
        sys.stderr.write(f"Warning: {warning}\n")


def written(answer: Callable[[Parameters], str]) -> None:
    """Write the answer for the ``parameters.json`` beside this file, or exit with a message on a wrong input."""
    try:
        sys.stdout.write(answer(read_parameters(Path(__file__).with_name("parameters.json"))))
    except (OSError, ValueError) as error:
        sys.exit(str(error))
