"""Inodes: what a file system may run out of while it has room."""

from collections.abc import Mapping
from typing import Any, Final

from doctord.diagnose.phrase import Phrase, phrase

FULL_SHARE: Final = 0.95


def is_without_inodes(row: Mapping[str, Any]) -> bool:
    """Whether a row of `filesystems.newest` has room, and as good as no inodes."""
    inodes = row["inodes_used_pct"]
    return inodes is not None and inodes >= 100 * FULL_SHARE and (row["used_share"] or 0.0) < FULL_SHARE


def inode_steps(mount: str) -> list[Phrase]:
    """How to find who holds the inodes of a file system, which walks all of it, and what not to touch."""
    return [
        phrase("df -i {} shows the inodes; which folder holds the many files: du --inodes -x -d 3 {} | sort -n | tail"
               " (it walks the whole file system).", mount, mount),
    ]  # fmt: skip
