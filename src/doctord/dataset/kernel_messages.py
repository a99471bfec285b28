"""What the Linux kernel says of trouble, whichever way it is read: its log in a file, or /dev/kmsg of this host.

Kinds of `event`: `oom kill` (the host had no memory left; the subject is the process that the kernel killed), `oom kill
in control group` (the group's limit was reached), `hung task` (in state D for longer than hung_task_timeout_secs), `I/O
error` and `device reset` (the subject is the device; commands that timed out among them), `read-only` (a file system
that was made so after an error).
"""

import re
from typing import Final

from doctord.regex import regex

OF_A_GROUP: Final = "oom kill in control group"
KIB_IN_A_GIB: Final = 1 << 20

INVOKED: Final = regex(r" invoked oom-killer: ")
OF_GROUP: Final = regex(
    r"oom-kill:constraint=CONSTRAINT_MEMCG|Memory cgroup out of memory|Task in \S+ killed as a result of limit of "
)
# The group of who is killed; before Linux 5.0 in a line of its own.
GROUP: Final = regex(r"\btask_memcg=(?P<new>[^,\s]+)|Task in (?P<old>\S+) killed as a result of limit of ")
KILLED: Final = regex(r"Killed process (?P<pid>\d+)(?:, UID \d+,)? \((?P<name>[^)]*)\)(?P<rest>.*)$")
ANON: Final = regex(r"anon-rss:(\d+)kB")
HUNG: Final = regex(r"INFO: task (?P<name>.+):(?P<pid>\d+) blocked for more than (?P<s>\d+) seconds")
DEVICE: Final = r"(?P<device>[\w!/-]+)"
ON_DEVICES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("read-only", regex(rf"EXT[234]-fs \({DEVICE}\): Remounting filesystem read-only")),
    ("read-only", regex(rf"BTRFS \w+ \(device {DEVICE}\).*: forced readonly")),
    ("read-only", regex(rf"XFS \({DEVICE}\): .*[Ss]hutting down filesystem")),
    ("I/O error", regex(rf"(?:I/O|critical \w+) error, dev {DEVICE}")),
    ("I/O error", regex(rf"Buffer I/O error on dev(?:ice)? {DEVICE}")),
    ("I/O error", regex(rf"(?:EXT[234]-fs|BTRFS) error \(device {DEVICE}\)")),
    ("I/O error", regex(rf"XFS \({DEVICE}\): .*I/O error")),
    ("I/O error", regex(rf"nvme {DEVICE}: I/O \d+ .*timeout, (?:aborting|completion polled)")),
    ("device reset", regex(rf"nvme {DEVICE}: (?:I/O \d+ .*timeout, reset controller|resetting controller)")),
    ("device reset", regex(r"(?P<device>ata\d+(?:\.\d+)?): (?:hard |soft )?resetting link")),
    # What a command that took too long ends with, in SCSI's middle layer and in drivers of host adapters.
    ("device reset", regex(r"\[(?P<device>sd\w+)\] tag#\d+ timing out command, waited ")),
    ("device reset", regex(r"\[(?P<device>sd\w+)\] .*hostbyte=DID_(?:TIME_OUT|RESET|ABORT)\b")),
    ("device reset", regex(r"scsi (?:target|host)?(?P<device>[\d:]+): attempting (?:task abort|\w+ reset)!")),
    ("device reset", regex(r"(?:sd|scsi) (?P<device>[\d:]+): .*(?:rejecting I/O to offline|[Dd]evice offlined)")),
)


class KernelMessages:
    """Reads one message after the other: what killed a process stands in messages before that."""

    def __init__(self) -> None:
        """No message was read yet."""
        self._is_of_group = False
        self._group: str | None = None

    def event(self, message: str) -> dict[str, str | None] | None:
        """Kind, subject, control group and text of what a message tells; null where it is no trouble."""
        if INVOKED.search(message):
            self._is_of_group, self._group = False, None
        if found := GROUP.search(message):
            self._group = found["new"] or found["old"]
        self._is_of_group = self._is_of_group or OF_GROUP.search(message) is not None
        if found := KILLED.search(message):
            return self._killed(found)
        if found := HUNG.search(message):
            return named("hung task", found["name"], f"process {found['pid']}: more than {found['s']} s in state D")
        for kind, shape in ON_DEVICES:
            if found := shape.search(message):
                return named(kind, found["device"], message)
        return None

    def _killed(self, found: "re.Match[str]") -> dict[str, str | None]:
        anon = ANON.search(found["rest"])
        held = f", {int(anon[1]) / KIB_IN_A_GIB:.3g} GiB of its own memory" if anon else ""
        kind = OF_A_GROUP if self._is_of_group else "oom kill"
        return named(kind, found["name"], f"process {found['pid']} ({found['name']}){held}", self._group)


def named(kind: str, subject: str, text: str, unit: str | None = None) -> dict[str, str | None]:
    """The columns of an event."""
    return {"kind": kind, "subject": subject, "unit": unit, "text": text}
