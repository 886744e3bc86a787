"""Faults at random moments in a small run of the pipeline, with a comparison of every byte after the next run.

Every moment has its own folder: a copy of a project with a finished audit and open questions. A fault (a kill, a full
disk, a damaged file, a second run) occurs at a fraction of the undisturbed run's processor time. After
`shuffledp repair`, if a file is damaged, the same command is run again, and all results and data must equal the
undisturbed run's.

    python tools/faults.py                            # 20 moments; exits with 1 if files are lost, wrong or left over
    python tools/faults.py --moments 5 --seed 7
    python tools/faults.py --kinds kill,full_disk --moments 10

Files of a failed moment are kept. Linux only.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # the small project that the tests of the pipeline use

import fault_machine  # noqa: E402

#: Command for separate mounts and process numbers, which end with this program.
UNSHARE = (
    "unshare",
    "--mount",
    "--propagation",
    "private",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
)


def go_inside() -> None:
    """Start this program again with private mounts, if the machine permits it."""
    if fault_machine.INSIDE in os.environ or shutil.which("unshare") is None:
        return
    trial = 'd=$(mktemp -d) && mount -t tmpfs none "$d" && umount "$d" && rmdir "$d"'
    for more in ((), ("--map-root-user",)):
        command = [UNSHARE[0], *more, *UNSHARE[1:]]
        if subprocess.run([*command, "sh", "-c", trial], capture_output=True, check=False).returncode == 0:
            os.environ[fault_machine.INSIDE] = "1"
            os.execvp(command[0], [*command, sys.executable, *sys.argv])


def main() -> int:
    """Run the moments; print each moment and the counts; return 1 if something is lost, wrong or left over."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=20231101)
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--kinds", default=",".join(fault_machine.KINDS), help="separated by commas")
    parser.add_argument("--minutes", type=float, help="after which no further moment is begun")
    options = parser.parse_args()
    try:
        planned = fault_machine.plan(options.seed, options.moments, options.kinds.split(","))
    except ValueError as error:
        raise SystemExit(f"faults: {error}") from None
    go_inside()
    begin = time.monotonic()
    base = Path(tempfile.mkdtemp(prefix="shuffledp-faults-"))
    given = fault_machine.undisturbed(base)
    print(f"Undisturbed: {given.seconds:.1f} CPU s", flush=True)
    outcomes = []
    for moment in planned:
        if options.minutes is not None and time.monotonic() - begin > 60 * options.minutes:
            break
        outcomes.append(fault_machine.disturb(given, moment, base))
        print(f"{moment.number + 1:3} {outcomes[-1]}", flush=True)
    text = "\n".join(fault_machine.summary(outcomes))
    print(f"{text}\n{len(planned) - len(outcomes)} of {len(planned)} moments are left.")
    if any(outcome.wrong for outcome in outcomes):
        print(f"Kept in {base}")
        return 1
    shutil.rmtree(base)
    return 0


if __name__ == "__main__":
    sys.exit(main())
