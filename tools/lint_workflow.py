"""Snakemake's linter, without the complaint that rules name no conda environment.

The whole workflow runs in one locked environment, so that environments per rule would only need more installations.
"""

import re
import subprocess
import sys
from pathlib import Path

ALLOWED = "Specify a conda environment or container for each rule."

snakemake = Path(sys.executable).with_name("snakemake")
done = subprocess.run([snakemake, "--lint"], capture_output=True, text=True, check=False)
report = done.stdout + done.stderr
if "Lints for" not in report and done.returncode != 0:
    sys.exit(report)  # the workflow could not even be read
place = ""
complaints = []
for line in report.splitlines():
    if heading := re.match(r"Lints for (.*):$", line):
        place = heading[1]
    elif (complaint := re.match(r"    \* (.*):$", line)) and complaint[1] != ALLOWED:
        complaints.append(f"{place}: {complaint[1]}")
print("\n".join(complaints), end="\n" if complaints else "")
sys.exit(bool(complaints))
