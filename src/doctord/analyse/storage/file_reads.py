"""Reads of data files and tablespaces as the database counts them, beside those of its others."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse import figures
from doctord.analyse.storage.device_paths import device_paths
from doctord.dataset.dataset import Dataset

# The names under which reads are counted: what they tell of, reads (PostgreSQL counts blocks), and the time of one.
_TOLD: Final = (
    ("data file", "file_io.reads", "file_io.read_ms"),
    ("tablespace", "tablespace_io.reads", "tablespace_io.read_ms"),
    ("tablespace", "tablespace_io.blks_read", "tablespace_io.read_ms"),
)
_SIZE: Final = "blocks_per_read"
_DEFAULT: Final = "pg_default"


class FileReads(NamedTuple):
    """Reads of one data file, or of a tablespace where the files of it are not told.

    `read_ms` is the time of one as `told_by` has it: the name of the server's own figure, or `disk` where that does not
    time them and the place lies on devices on which no other one does. `devices` lead there from the file system down.
    `blocks_per_read` is null where it is not told.
    """

    db: str | None
    kind: str
    name: str
    per_s: float
    read_ms: float
    told_by: str
    devices: tuple[str, ...] = ()
    blocks_per_read: float | None = None

    @property
    def sessions(self) -> float:
        """How many sessions wait for these reads on average: seconds per second."""
        return self.per_s * self.read_ms / 1000


def file_reads(dataset: Dataset) -> list[FileReads]:
    """The reads of each place whose time is known: of a server's data files, else of its tablespaces."""
    found: list[FileReads] = []
    for kind, reads, time in _TOLD:
        known = {one.db for one in found}
        found += [one for one in _of(dataset, kind, reads, time) if one.db not in known]
    return found


def others(place: FileReads, places: Iterable[FileReads]) -> FileReads | None:
    """All other places of the same server as one, with the mean time of a read; null where nothing else is read."""
    rest = [one for one in places if one.db == place.db and one.name != place.name]
    per_s = sum(one.per_s for one in rest)
    if not per_s:
        return None
    return FileReads(place.db, place.kind, "", per_s, sum(one.sessions for one in rest) / per_s * 1000, place.told_by)


def _of(dataset: Dataset, kind: str, reads: str, time: str) -> list[FileReads]:
    """The places of one kind, those of several instances of a server added up."""
    timed = {(one.db, one.instance, one.entity): one.mean for one in figures.figures(dataset, time)}
    below = _devices(dataset)
    on_disk = _device_ms(dataset, below) if kind == "tablespace" else {}
    sizes = {(one.db, one.entity): one.mean for one in figures.figures(dataset, f"{reads.partition('.')[0]}.{_SIZE}")}
    sums: dict[tuple[str | None, str, str], tuple[float, float]] = {}
    for one in figures.figures(dataset, reads):
        place = one.entity or ""
        known = timed.get((one.db, one.instance, one.entity))
        ms = on_disk.get(place) if known is None else known
        if place and ms is not None and one.mean > 0:
            key = (one.db, place, time if known is not None else "disk")
            per_s, sessions = sums.get(key, (0.0, 0.0))
            sums[key] = (per_s + one.mean, sessions + one.mean * ms / 1000)
    return [
        FileReads(
            db, kind, place, per_s, sessions / per_s * 1000, told_by,
            below.get(place) or _holding(dataset, place), sizes.get((db, place)),
        )
        for (db, place, told_by), (per_s, sessions) in sums.items()
    ]  # fmt: skip


def _devices(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """By tablespace of PostgreSQL the devices below its folder; a name that two servers have is left out."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for way in device_paths(dataset):
        kind, _, name = (way.holds or "").partition(" ")
        if kind == "data":
            found.setdefault(_DEFAULT, []).append(way.devices)
        elif kind == "tablespace":
            found.setdefault(name, []).append(way.devices)
    return {name: ways[0] for name, ways in found.items() if len(ways) == 1}


def _holding(dataset: Dataset, file: str) -> tuple[str, ...]:
    """The devices below the deepest folder that is known to hold a file."""
    above = [way for way in device_paths(dataset) if way.devices and file.startswith(f"{way.folder.rstrip('/')}/")]
    return max(above, key=lambda way: len(way.folder)).devices if above else ()


def _device_ms(dataset: Dataset, below: dict[str, tuple[str, ...]]) -> dict[str, float]:
    """By tablespace the time of a read at its device, where that is no other one's as well."""
    disk = dataset.frame("disk").filter(pl.col("reads_per_s").gt(0) & pl.col("read_ms").is_not_null())
    means = disk.group_by("device", maintain_order=True).agg(
        ((pl.col("read_ms") * pl.col("reads_per_s")).sum() / pl.col("reads_per_s").sum()).alias("ms")
    )
    ms_of = dict(means.iter_rows())
    first = {name: next((device for device in devices if device in ms_of), None) for name, devices in below.items()}
    told = [device for device in first.values() if device]
    return {name: ms_of[device] for name, device in first.items() if device and told.count(device) == 1}
