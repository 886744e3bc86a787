"""Provenance of a result: versions, commit, configuration, seed and data."""

from __future__ import annotations

import contextlib
import platform
import subprocess
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("shuffledp", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "snakemake")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that affect numbers."""
    versions_of = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions_of[package] = version(package)
        except PackageNotFoundError:
            versions_of[package] = "not installed"
    return versions_of


def machine() -> dict[str, str]:
    """Return the processor, a digest of its features, and the C library, which affect the last bits of numbers."""
    model, features = platform.processor(), ""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        about = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        model = about.get("model name", model)
        flags = " ".join(sorted(about.get("flags", about.get("Features", "")).split()))
        features = sha256(flags.encode()).hexdigest()[:12] if flags else ""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": model,
        "features": features,
        "libc": " ".join(platform.libc_ver()).strip(),
    }


def commit(folder: Path) -> str:
    """Return the short git commit of a folder, with ``+`` for uncommitted changes; empty outside of a repository."""
    try:
        head = _git(folder, "rev-parse", "--short=12", "HEAD")
        return head + ("+" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(folder: Path, *arguments: str) -> str:
    completed = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return completed.stdout.strip()


def of_job(job: Mapping[str, Any], job_hash: str, data: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """Return the provenance of one result; ``data`` describes the source of the data."""
    return {
        "job": dict(job),
        "config_sha256": job_hash,
        "seed": job["seed"],
        "data": dict(data),
        "versions": versions(),
        "machine": machine(),
        "commit": commit(root),
    }
