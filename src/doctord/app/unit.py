"""The recorder's systemd unit, and drop-ins that let it see more: each with what it exposes."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from doctord.errors import UserError

DROP_IN: Final = "/etc/systemd/system/doctord.service.d/rights.conf"


@dataclass(frozen=True, slots=True)
class Right:
    """What a right is good for, what it exposes, its capabilities, and further lines of the unit."""

    shows: str
    exposes: str
    capabilities: tuple[str, ...]
    lines: tuple[str, ...] = ()


RIGHTS: Final = {
    "kmsg": Right(
        "the kernel's log: kills, tasks that hang, errors and resets of devices",
        "all that the kernel logs, addresses of its memory among it",
        ("CAP_SYSLOG",),
        ("ProtectKernelLogs=no", "PrivateDevices=no", "DevicePolicy=closed", "DeviceAllow=/dev/kmsg r"),
    ),
    "ptrace": Right(
        "pages, descriptors and I/O of the database's processes",
        "all memory of all processes: whoever takes over the recorder can read and change it",
        ("CAP_SYS_PTRACE",),
    ),
    "files": Right(
        "data files in the page cache, and in how many pieces they lie (with ptrace, which finds them)",
        "the contents of all files",
        ("CAP_DAC_READ_SEARCH",),
        ("SystemCallFilter=cachestat",),
    ),
    "perf": Right(
        "moves of tasks between CPUs",
        "performance counters of all processes",
        ("CAP_PERFMON",),
        ("SystemCallFilter=perf_event_open",),
    ),
}


def unit() -> str:
    """The unit, with the one capability that it needs."""
    return files("doctord.lake").joinpath("doctord.service").read_text()


def drop_in(rights: Sequence[str]) -> str:
    """A drop-in for the unit that grants these rights.

    Raises:
        UserError: there is no such right.
    """
    for name in rights:
        if name not in RIGHTS:
            raise UserError(f"there is no right {name!r}", f"--with {','.join(RIGHTS)}")
    granted = {name: right for name, right in RIGHTS.items() if name in rights}
    capabilities = " ".join(name for right in granted.values() for name in right.capabilities)
    told = [
        line
        for name, right in granted.items()
        for line in (f"# {name} shows {right.shows}.", f"#   It exposes {right.exposes}.")
    ]
    return "\n".join(
        [
            f"# More for Doctor D's recorder to see: {DROP_IN}",
            *told,
            "",
            "[Service]",
            f"CapabilityBoundingSet={capabilities}",
            f"AmbientCapabilities={capabilities}",
            *(line for right in granted.values() for line in right.lines),
            "",
        ]
    )
