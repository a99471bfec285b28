"""File systems as they are mounted (/proc/mounts, `mount`) and as they are to be (/etc/fstab).

It yields `setting`, component `mount`, for each mount point `POINT.device`, `POINT.type` and `POINT.options`. What a
file wants has the source `file`; what the kernel says has `kernel`. Left out: file systems of the kernel itself (proc,
sysfs, cgroup, ...), swap.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import FROM_FILE
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "mounts (/proc/mounts, mount, /etc/fstab)"
RANK = Rank.SHAPE
STORED: Final = frozenset({
    "bcachefs", "btrfs", "ceph", "cifs", "ecryptfs", "ext2", "ext3", "ext4", "f2fs", "fuse", "fuseblk", "gfs2",
    "gpfs", "jfs", "lustre", "nfs", "nfs4", "ntfs", "ocfs2", "overlay", "reiserfs", "smb3", "tmpfs", "vfat", "vxfs",
    "xfs", "zfs",
})  # fmt: skip
KERNELS: Final = frozenset({
    "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
    "fusectl", "hugetlbfs", "mqueue", "none", "nsfs", "proc", "pstore", "ramfs", "rpc_pipefs", "securityfs",
    "selinuxfs", "squashfs", "swap", "sysfs", "tracefs",
})  # fmt: skip
TABLE: Final = regex(r"(\S+)\s+(/\S*|none|swap)\s+(\S+)\s+(\S+)(?:\s+(\d+))?(?:\s+(\d+))?\s*$")
PRINTED: Final = regex(r"(\S+) on (/.*) type (\S+) \(([^)]*)\)$")
ESCAPED: Final = regex(r"\\(040|011|012|134)")
# Options of which the kernel shows others, or none, in /proc/mounts.
ONLY_WISHED: Final = frozenset({"defaults", "auto", "noauto", "user", "nofail", "_netdev"})


def sniff(head: str) -> bool:
    """Whether its lines are mounts of file systems that there are."""
    lines = [line for line in head.splitlines()[:40] if line.strip() and not line.lstrip().startswith("#")]
    found = [match for line in lines if (match := TABLE.match(line) or PRINTED.match(line))]
    kinds = {match[3].split(",")[0] for match in found}
    return len(found) * 2 > len(lines) and bool(kinds) and kinds <= STORED | KERNELS


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    found, of_kernel = list[tuple[int, re.Match[str]]](), False
    for line, raw in source.lines():
        text = raw.strip()
        if not text or text.startswith("#"):
            continue
        printed = PRINTED.match(text)
        match = printed or TABLE.match(text)
        if match is None:
            source.skip(line, "not a mount")
            continue
        of_kernel = (
            of_kernel or printed is not None or bool({"rw", "ro"} & set(match[4].split(",")) and match[5] == "0")
        )
        if match[3] in STORED:
            found.append((line, match))
    if found:
        common = {"ts": micros(last_written(source)), "host": source.host, "component": "mount"}
        common |= {"source": "kernel" if of_kernel and _is_of_kernel(found) else FROM_FILE, "source_file": source.name}
        yield rows("setting", [common | row for line, match in found for row in _rows(line, match)])


def _is_of_kernel(found: list[tuple[int, re.Match[str]]]) -> bool:
    """Whether no line has what only a file wishes for: `defaults`, or a device by its UUID or label."""
    return not any(
        ONLY_WISHED & set(match[4].split(",")) or match[1].startswith(("UUID=", "LABEL=", "PARTUUID="))
        for _, match in found
    )


def _rows(line: int, match: re.Match[str]) -> Iterator[dict[str, Any]]:
    point = ESCAPED.sub(lambda code: chr(int(code[1], 8)), match[2])
    for name, value in (("device", match[1]), ("type", match[3]), ("options", match[4])):
        yield {"name": f"{point}.{name}", "value": value, "line": line}
