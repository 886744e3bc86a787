"""Written programs of a deployment, run with the standard library only."""

import json
import subprocess
import sys

from exact_laws import SeededBits
from shuffledp.protocols.client import randomizers


def parameters_of(folder):
    return json.loads((folder / "parameters.json").read_text())


def run(folder, program, *words):
    """Return the output of a program that runs with the standard library only."""
    call = [sys.executable, "-I", "-S", str(folder / f"{program}.py"), *words]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def answer_of(folder, values, *words):
    """Return the answer of the written programs for users with these inputs, and all their messages."""
    content, source = parameters_of(folder), SeededBits(1)
    sent = [
        message.hex()
        for place, value in enumerate(values)
        for message in randomizers.user_messages(content, value, place, source)
    ]
    (folder / "sent").write_text("\n".join(sent))
    users = ["--users", str(len(values))]
    (folder / "mixed").write_text(run(folder, "shuffler", str(folder / "sent"), *users).stdout)
    done = run(folder, "analyzer", str(folder / "mixed"), *users, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), [int.from_bytes(bytes.fromhex(message)[:-4], "big") for message in sent]
