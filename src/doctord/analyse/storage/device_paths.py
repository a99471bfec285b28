"""The ways from a server's folders to the disks: file system, mount, and the devices below, each with its limits."""

from typing import Final, NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.regex import regex

_PATH: Final = regex(r"path\.(?P<folder>.*)\.(?P<part>filesystem|mount|devices|holds)$")
_BLOCK: Final = regex(r"block\.(?P<device>.+)\.(?P<limit>\w+)$")


class DevicePath(NamedTuple):
    """The way from a folder to the disks; `devices` from the file system down, none where they are not known.

    `holds` is what the server `db` keeps there (data, WAL, log, archive, tablespace NAME); null where that is not told.
    """

    folder: str
    filesystem: str | None
    mount: str | None
    devices: tuple[str, ...]
    holds: str | None = None
    db: str | None = None


def device_paths(dataset: Dataset) -> list[DevicePath]:
    """The ways of all folders of database servers that were looked at: data, log, tablespaces."""
    return [*dataset.derived("setting", _device_paths)]


def _device_paths(settings: pl.DataFrame) -> list[DevicePath]:
    parts: dict[str, dict[str, str]] = {}
    servers: dict[str, str | None] = {}
    for name, value, db in _settings(settings, "path."):
        if found := _PATH.match(name):
            parts.setdefault(found["folder"], {})[found["part"]] = value
            servers[found["folder"]] = db or servers.get(found["folder"])
    return [
        DevicePath(
            folder,
            told.get("filesystem"),
            told.get("mount"),
            tuple(told.get("devices", "").split()),
            told.get("holds"),
            servers[folder],
        )
        for folder, told in parts.items()
    ]


def device_limits(dataset: Dataset) -> dict[str, dict[str, str]]:
    """By device its settings: max_sectors_kb, nr_requests, queue_depth, scheduler, and what else is told."""
    found: dict[str, dict[str, str]] = {}
    for name, value, _ in _settings(dataset.frame("setting"), "block."):
        if told := _BLOCK.match(name):
            found.setdefault(told["device"], {})[told["limit"]] = value
    return found


def _settings(settings: pl.DataFrame, beginning: str) -> list[tuple[str, str, str | None]]:
    rows = settings.filter(pl.col("name").str.starts_with(beginning) & pl.col("value").is_not_null())
    return [(name, value, db) for name, value, db in rows.select("name", "value", "db").iter_rows()]
