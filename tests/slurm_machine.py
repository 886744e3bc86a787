"""Slurm on this machine: separate daemons in a separate folder, which end with the test.

The node looks like another machine to a job: it has its own name and process numbers, so that a job cannot see the
submitter's processes. Folders and the loopback network are shared.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from waiting import wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "unshare", "setpriv")
PLUGIN = "snakemake_executor_plugin_slurm"
#: MB of memory for two jobs with the profile's defaults; Slurm does not check whether the machine has as much.
NODE_MEMORY = 8000
#: States of a job that has not ended.
ACTIVE = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING"}

CONFIGURATION = """
ClusterName=test
SlurmctldHost=localhost
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
KillWait=2
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName=node NodeAddr=127.0.0.1 CPUs=2 RealMemory={memory}
PartitionName=all Nodes=node Default=YES State=UP
"""

# The shell is the first process of the numbers that only the node sees: what it leaves behind ends with it.
MACHINE = """
hostname elsewhere
munged --foreground --force --key-file="$1/munge.key" --socket="$1/munge.socket" --pid-file="$1/munged.pid" \
    --log-file="$1/munged.log" --seed-file="$1/munge.seed" &
slurmctld -D -i &
slurmd -D -N node &
wait
"""
# The plug-in takes every variable that begins with SLURM_ away from srun.
SRUN = """#!/bin/sh
SLURM_CONF={folder}/slurm.conf exec {srun} "$@"
"""


def what_is_missing() -> str | None:
    """Return why Slurm cannot start here, or None."""
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        return f"not installed: {', '.join(missing)} (Debian: apt-get install slurm-wlm munge)"
    if find_spec(PLUGIN) is None:
        return f"the Python package {PLUGIN} is not installed (make -C tools test-slurm installs it)"
    return None if os.geteuid() == 0 else "Slurm's daemons have to be started by root"


def must_run() -> bool:
    """Return whether this is continuous integration, where a missing requirement is a failure."""
    return os.environ.get("CI") == "true"


@dataclass(frozen=True)
class Slurm:
    """A running cluster of one node."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for Slurm's commands."""
        return {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }

    def ask(self, *command: str) -> str:
        done = subprocess.run(
            command,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout if done.returncode == 0 else ""

    def jobs(self) -> dict[str, str]:
        """Return the states of all jobs since the start of the cluster, in the order of submission."""
        lines = self.ask("squeue", "--states=all", "--noheader", "--sort=i", "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)

    def idle(self) -> bool:
        """Return whether no job waits or runs, and the node can start a job."""
        return (
            not ACTIVE & set(self.jobs().values()) and self.ask("sinfo", "-h", "-o", "%T").strip() == "idle"
        )

    def log(self) -> str:
        """Return the logs of the daemons."""
        return "\n".join(
            f"{file.name}:\n{file.read_text(errors='replace')[-3000:]}"
            for file in sorted(self.folder.glob("*.log"))
        )


def _free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def slurm(folder: Path) -> Iterator[Slurm]:
    """Start Slurm with one node of two processors; every started process is killed at the end."""
    (folder / "munge.key").write_bytes(os.urandom(64))
    (folder / "munge.key").chmod(0o400)
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    (folder / "bin/srun").write_text(SRUN.format(folder=folder, srun=shutil.which("srun")))
    (folder / "bin/srun").chmod(0o755)
    controller_port, node_port = _free_ports(2)
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            folder=folder, controller_port=controller_port, node_port=node_port, memory=NODE_MEMORY
        )
    )
    cluster = Slurm(folder)
    # Killed by the kernel if this process dies, and all of it with the shell inside.
    command = [
        "setpriv",
        "--pdeathsig",
        "KILL",
        "unshare",
        "--pid",
        "--uts",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]
    with (folder / "machine.log").open("w") as log:
        machine = subprocess.Popen(
            [*command, "sh", "-c", MACHINE, "sh", str(folder)],
            env={**os.environ, **cluster.environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        if not wait_until(lambda: machine.poll() is not None or cluster.idle()) or machine.poll() is not None:
            raise RuntimeError(f"Slurm did not start:\n{cluster.log()}")
        yield cluster
    finally:
        machine.send_signal(signal.SIGKILL)
        machine.wait()
