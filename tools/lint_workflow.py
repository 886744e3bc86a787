"""Snakemake's own linter, allowing one complaint: that rules name no conda environment.

The whole workflow runs in one locked environment, so environments per rule would add nothing but installations.
"""

import json
import subprocess
import sys
from pathlib import Path

ALLOWED = {"Specify a conda environment or container for each rule."}
# The linter reads the source of the Snakefiles and does not know that these are names of this workflow.
snakemake = Path(sys.executable).with_name("snakemake")
done = subprocess.run([snakemake, "--lint", "json"], capture_output=True, text=True, check=False)
try:
    findings = json.loads(done.stdout)
except json.JSONDecodeError:
    if done.returncode == 0:
        sys.exit(0)
    sys.exit(done.stdout + done.stderr)
complaints = [
    f"{place.get('rule', place.get('snakefile', '?'))}: {lint['title']}"
    for place in (*findings.get("rules", []), *findings.get("snakefiles", []))
    for lint in place["lints"]
    if lint["title"] not in ALLOWED
]
print("\n".join(complaints))
sys.exit(bool(complaints))
