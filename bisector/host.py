"""What of this machine may matter to an outcome: recorded with each run, and shown in its report."""

import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

NVIDIA_SMI_TIMEOUT = 20.0
"""Seconds; a driver that hangs must not hold up a run."""


def host_facts(root: Path = Path("/")) -> dict[str, str]:
    """System, processors and accelerators, label -> text; what cannot be read is left out.

    Args:
        root: where `proc`, `sys` and `dev` are looked for.
    """
    return {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
        "processors": str(os.cpu_count() or ""),
        **_labelled("NVIDIA", _nvidia(root)),
        **_labelled("AMD", _amd(root)),
    }


def differing(facts: Mapping[str, Mapping[str, str]], some: Sequence[str], others: Sequence[str]) -> str:
    """What tells two groups of hosts apart: facts whose texts have nothing in common, in words.

    Args:
        facts: of each host, label -> text.
        some: names of the hosts of one group.
        others: of the other.
    """
    told = []
    labels = dict.fromkeys(label for name in (*some, *others) for label in facts.get(name, {}) if label != "host")
    for label in labels:
        here, there = ({facts.get(name, {}).get(label, "none") for name in names} for names in (some, others))
        if not here & there:
            told.append(f"{label}: {', '.join(sorted(here))} and {', '.join(sorted(there))}")
    return "; ".join(told)


def _labelled(make: str, found: tuple[str, list[str]]) -> dict[str, str]:
    driver, devices = found
    names = ", ".join(f"{devices.count(name)} x {name}" for name in dict.fromkeys(devices))
    return {
        **({f"{make} devices": names} if names else {}),
        **({f"{make} driver": driver} if driver else {}),
    }


def _nvidia(root: Path) -> tuple[str, list[str]]:
    """Driver version and the devices' models: as the kernel module tells, else (in a sandbox) as nvidia-smi does."""
    version = re.search(r"\b(\d+\.[\d.]*\d)\b", _text(root / "proc/driver/nvidia/version"))
    told = [_text(path) for path in sorted(root.glob("proc/driver/nvidia/gpus/*/information"))]
    models = [match[1].strip() for text in told if (match := re.search(r"^Model:(.+)$", text, re.MULTILINE))]
    if version or models or not any(root.glob("dev/nvidia[0-9]*")):
        return (version[1] if version else "", models)
    try:
        answer = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version,name", "--format=csv,noheader"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=NVIDIA_SMI_TIMEOUT,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ("", [])
    rows = [line.split(", ", 1) for line in answer.splitlines() if ", " in line]
    return (rows[0][0] if rows else "", [name.strip() for _, name in rows])


def _amd(root: Path) -> tuple[str, list[str]]:
    """Driver version and the devices' architectures, as the topology that ROCm reads from the kernel tells.

    `gfx_target_version` is major * 10000 + minor * 100 + stepping; an architecture's name has the last two in
    hexadecimal (90402 is gfx942). Source: the Linux kernel's `kfd_topology.c`, and LLVM's names of AMD processors.
    """
    devices = []
    for path in sorted(root.glob("sys/class/kfd/kfd/topology/nodes/*/properties")):
        match = re.search(r"^gfx_target_version (\d+)$", _text(path), re.MULTILINE)
        if match and (number := int(match[1])):  # a processor's node has 0
            devices.append(f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}")
    return (_text(root / "sys/module/amdgpu/version").strip() if devices else "", devices)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
