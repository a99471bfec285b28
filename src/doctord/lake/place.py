"""Where a lake lies and how its files are named.

```
LAKE/lock                                    held by the one writer, with its process id
LAKE/open/20261120T230000Z-1f2e3d4c.segment  being written, or waiting to be sealed
LAKE/sealed/cpu/2026-11-20/20261120T230000Z-1f2e3d4c.parquet
LAKE/set_aside/open/...                      damaged: kept for whoever wants to look, read by nobody
```

The name tells the time of the first row (UTC) and is the same for the segment and what became of it. All rows of a file
are of that day, whatever the clock said when they were written.
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from doctord.dataset.tables import TABLES
from doctord.errors import UserError
from doctord.regex import regex

_NAME = regex(r"(?P<begun>[0-9]{8}T[0-9]{6}Z)-[0-9a-f]{8}")
_BEGUN = "%Y%m%dT%H%M%SZ"

FOLDER_MODE = 0o750


class LakeError(UserError):
    """A lake cannot be used as asked: the message says why, the hint what to do instead."""


def is_lake(path: Path) -> bool:
    """Whether a path is a folder that was recorded into; false where that cannot be seen, or it only looks so."""
    try:
        return any((path / "open").glob("*.segment")) or any((path / "sealed" / table).is_dir() for table in TABLES)
    except (OSError, ValueError):
        return False


def default_lake() -> Path:
    """`$DOCTORD_LAKE`, else `/var/lib/doctord` for root, else `doctord` in the user's data directory."""
    if lake := os.environ.get("DOCTORD_LAKE"):
        return Path(lake)
    if os.geteuid() == 0:
        return Path("/var/lib/doctord")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "doctord"


def new_name(begun: datetime) -> str:
    """A name for a segment whose rows begin at this moment; names sort by it, and a random end keeps any two apart."""
    moment = begun.astimezone(UTC)
    return f"{moment.strftime(_BEGUN)}-{moment.microsecond:05x}{int.from_bytes(os.urandom(2)) % (1 << 12):03x}"


def begun(name: str) -> datetime | None:
    """When the rows of the segment of this name begin; null for a name that no doctord gave."""
    match = _NAME.fullmatch(name)
    try:
        return datetime.strptime(match["begun"], _BEGUN).replace(tzinfo=UTC) if match else None
    except ValueError:  # of a 30th of February, say
        return None


def sync_folder(folder: Path) -> None:
    """Put on disk what was made, renamed or removed in a folder; an OSError when that fails."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class LakePaths:
    """Where the parts of a lake lie below its folder."""

    root: Path

    @property
    def open(self) -> Path:
        """Folder of the segments that are not sealed into Parquet files yet."""
        return self.root / "open"

    @property
    def sealed(self) -> Path:
        """Folder of the Parquet files, by table and day."""
        return self.root / "sealed"

    @property
    def lock(self) -> Path:
        """File that the writer holds locked."""
        return self.root / "lock"

    def segments(self) -> list[Path]:
        """Files that are named like segments, oldest first."""
        return sorted(self.open.glob("*.segment"))

    def parquet(self, table: str = "*") -> list[Path]:
        """Files that are named like sealed ones, oldest first."""
        return sorted(self.sealed.glob(f"{table}/*/*.parquet"), key=lambda path: path.name)

    def set_aside(self, path: Path, *, leave: bool = False) -> Path:
        """Move something of the lake to where nobody reads it; returns where it is now. An OSError when that fails.

        With `leave` a file stays where it was, too, until somebody puts another in its place.
        """
        target = self.root / "set_aside" / path.relative_to(self.root)
        target.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        while target.exists():
            target = target.with_name(f"{target.name}~")
        if leave:
            target.hardlink_to(path)
        else:
            path.rename(target)
        return target
