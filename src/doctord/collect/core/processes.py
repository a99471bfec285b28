"""Processes of this host, by their names."""

from collections.abc import Collection
from pathlib import Path


def pids_named(names: Collection[str], proc: Path = Path("/proc")) -> list[int]:
    """Process ids, in order, of those whose command (comm) has one of these names; who hides from us is left out."""
    found = []
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                name = (entry / "comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue  # it ended meanwhile, or is hidden
            if name in names:
                found.append(int(entry.name))
    return sorted(found)
