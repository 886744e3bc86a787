"""Faults at random moments in a small run of the pipeline, with a comparison of every byte after a second run.

Every moment has its own folder: a copy of a project with a finished audit and open questions, so that data, methods,
drawings and pages remain to be made. A fault occurs at a fraction of the undisturbed run's processor time, which does
not depend on the load of the machine. After `shuffledp repair`, if files are damaged, the same command is run again,
and all files below results/ and data/ must equal the undisturbed run's.

    python tools/faults.py                            # 50 moments; exits with 1 if files are lost, wrong or left over
    python tools/faults.py --moments 5 --seed 7
    python tools/faults.py --kinds kill_main,full_data --moments 10
    python tools/faults.py --share 1/2                # half of them; another process runs --share 2/2
    python tools/faults.py --page                     # also writes the counts into docs/maintainers.md

Every finished moment is a line of logs/faults.csv with a digest of the code, so that an interrupted run is continued.
Files of a failed moment are kept. Linux only.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # the small project that the tests of the pipeline use

import fault_machine  # noqa: E402
import fault_moments  # noqa: E402
from fault_moments import BY_NAME, Row  # noqa: E402
from shuffledp.pipeline.doc_blocks import write_block  # noqa: E402

TABLE = ROOT / "logs" / "faults.csv"
PAGE = ROOT / "docs" / "maintainers.md"
#: Code that determines the outcome of a moment.
CODE = ("Snakefile", "workflow", "profiles", "src", "tools/faults.py")
CODE += tuple(
    f"tests/{name}.py" for name in ("fault_machine", "fault_moments", "pipeline_project", "waiting")
)
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


def told(row: Row) -> str:
    """Return one line about a moment."""
    what = BY_NAME[row.kind].what
    if row.impossible:
        return f"{row.number + 1:3} {what}: not possible, {row.impossible}"
    lines = [
        f"{row.number + 1:3} {what} at {row.fraction:.2f} ({row.during or 'after the end'}): ended with {row.ended}",
        f"started again {row.seconds:.1f} CPU s, {'IDENTICAL' if not row.different else f'{row.different} DIFFER'}",
    ]
    counts = ("hung", "silent", "half_written", "left", "locked", "restarted")
    lines += [f"{name} {getattr(row, name)}" for name in counts if getattr(row, name)]
    return "; ".join([*lines, *([row.said] if row.said else []), *([row.note] if row.note else [])])


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=20231101)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--kinds", default=",".join(BY_NAME), help="separated by commas")
    parser.add_argument(
        "--share", default="1/1", help="2/3: every third moment from the second on; for several at once"
    )
    parser.add_argument("--minutes", type=float, help="after which no further moment is begun")
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--anew", action="store_true", help="do again what is in the table")
    parser.add_argument("--page", action="store_true", help=f"write the counts into {PAGE.relative_to(ROOT)}")
    return parser.parse_args()


def main() -> int:
    """Run the missing moments; print each moment and the counts; return 1 if files are lost, wrong or left over."""
    given = arguments()
    try:
        planned = fault_moments.plan(given.seed, given.moments, given.kinds.split(","))
    except ValueError as error:
        raise SystemExit(f"faults: {error}") from None
    go_inside()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    code = fault_moments.digest(ROOT, CODE)
    rows = [] if given.anew else fault_moments.read(given.table)
    own, _, of = given.share.partition("/")
    left = list(fault_moments.missing(planned[int(own) - 1 :: int(of)], rows, code))
    if left:
        with fault_machine.base_folder(Path(tempfile.mkdtemp(prefix="shuffledp-faults-"))) as base:
            undisturbed = fault_machine.undisturbed(base)
            print(
                f"Undisturbed: {undisturbed.total:.1f} CPU s, of which {undisturbed.begin:.1f} before the first job",
                flush=True,
            )
            for moment in left:
                if given.minutes is not None and time.monotonic() - began > 60 * given.minutes:
                    break
                row, _ = fault_machine.disturbed(undisturbed, moment, code)
                fault_moments.add(given.table, row)
                rows.append(row)
                print(told(row), flush=True)
                if row.bad:
                    print(f"    kept in {base}/kept-{moment.number}", flush=True)
    if not given.anew:
        rows = fault_moments.read(given.table)  # another one may have added to it
    rows = fault_moments.of_plan(planned, rows, code)
    text = fault_moments.summary(rows)
    print(text)
    print(f"{len(planned) - len(rows)} of {len(planned)} moments are left. Table: {given.table}")
    if given.page:
        write_block(PAGE, "faults", text)
    return int(any(row.bad for row in rows))


if __name__ == "__main__":
    sys.exit(main())
