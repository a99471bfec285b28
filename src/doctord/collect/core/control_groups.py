"""Control groups of a process, of both versions: the folders of a controller, quotas of CPU time, frozen groups.

Kernel documentation: "CFS Bandwidth Control" and "Cgroup Freezer" (version 1), "Control Group v2" (cpu.max, cpu.stat,
cgroup.events).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

PROC: Final = Path("/proc")
CGROUPS: Final = Path("/sys/fs/cgroup")


class Quota(NamedTuple):
    """What a group may use of CPUs, and how often it was stopped since it was made; `throttled_s` sums up its CPUs."""

    path: str
    limit_cpus: float
    periods: int
    throttled_periods: int
    throttled_s: float


def folders(pid: int, controller: str, proc: Path = PROC, cgroups: Path = CGROUPS) -> Iterator[tuple[str, Path]]:
    """Path and folder of the group of a process that a controller knows, and of those above it, the innermost first.

    Of version 1 the controller is mounted under its own name; none of a process that has ended.
    """
    for line in text(proc / str(pid) / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = cgroups / controller if controllers else cgroups
        folder = root / path.lstrip("/")
        while folder.is_relative_to(root):
            yield f"/{folder.relative_to(root)}" if folder != root else "/", folder
            folder = folder.parent


def quotas(pid: int, proc: Path = PROC, cgroups: Path = CGROUPS) -> Iterator[Quota]:
    """The quotas that hold for a process: of its own group, and of those above it."""
    for path, folder in folders(pid, "cpu", proc, cgroups):
        limit = text(folder / "cpu.max").split() or [
            text(folder / "cpu.cfs_quota_us").strip(),
            text(folder / "cpu.cfs_period_us").strip(),
        ]
        if len(limit) == 2 and all(one.isdigit() for one in limit) and int(limit[1]):  # else `max`, or -1
            counts = dict(line.split(" ", 1) for line in text(folder / "cpu.stat").splitlines() if " " in line)
            throttled_s = int(counts.get("throttled_usec", 0)) / 1e6 + int(counts.get("throttled_time", 0)) / 1e9
            periods, throttled = int(counts.get("nr_periods", 0)), int(counts.get("nr_throttled", 0))
            yield Quota(path, int(limit[0]) / int(limit[1]), periods, throttled, throttled_s)


def is_frozen(pid: int, proc: Path = PROC, cgroups: Path = CGROUPS) -> bool:
    """Whether its group, or one above, is frozen (docker pause does that): none of its processes runs."""
    return any(
        text(folder / "freezer.state").startswith("FROZEN") or "\nfrozen 1" in f"\n{text(folder / 'cgroup.events')}"
        for _, folder in folders(pid, "freezer", proc, cgroups)
    )


def text(path: Path) -> str:
    """A file's text; empty where it is not there, or may not be read."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
