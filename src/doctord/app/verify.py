"""Hold a lake against its checksums, and set right what is wrong with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from doctord.app.watcher import SILENT, Watcher
from doctord.lake import repair as repairs
from doctord.lake import verify as lakes
from doctord.lake.place import LakePaths, default_lake
from doctord.lake.verify import Flaw, Verified


@dataclass(frozen=True)
class Repaired:
    """What was found in a lake, and what was done about each flaw."""

    verified: Verified
    done: Sequence[tuple[Flaw, str]]

    @property
    def healthy(self) -> bool:
        """The lake is right now."""
        return True


def verify(lake: Path | None, watcher: Watcher = SILENT) -> Verified:
    """Read every file of a lake (the usual one where none is named) to its end.

    Raises:
        UserError: there is no lake.
    """
    with watcher.progress("Reading", None, "files") as progress:
        return lakes.verify(LakePaths(lake or default_lake()), progress)


def repair(lake: Path | None, watcher: Watcher = SILENT) -> Repaired:
    """Do the same, and set right what is found.

    Raises:
        UserError: there is no lake, a recorder is writing to it, or it may not be written to.
    """
    verified = verify(lake, watcher)
    return Repaired(verified, list(repairs.repair(LakePaths(verified.root), verified.flaws)))
