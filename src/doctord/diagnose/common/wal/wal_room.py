"""How much WAL may still be written until something ends: the room of its file system, or of a slot."""

from typing import Final, NamedTuple

from doctord.analyse.storage.device_paths import device_paths
from doctord.analyse.storage.filesystems import mount_of, rooms
from doctord.analyse.storage.filling import filling
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import phrase

MIB = 2**20
# A segment, by default: a server that cannot make the next one stops.
SEGMENT_BYTES = 16 * MIB
FULL_AT_ONCE_S = 3600.0
FULL: Final = "filesystem_full"
# Without so much (0 to 1) of what fills a file system it would not fill.
MOST: Final = 0.5


class Room(NamedTuple):
    """Bytes that may still be written before it ends, how many a second are, and what its end is.

    `mount` is the file system that the log is on; null where that is not known.
    """

    left: float | None
    per_s: float | None
    end: str
    mount: str | None = None

    @property
    def seconds(self) -> float | None:
        """How long it lasts at that rate; null where either is not known, or nothing is written."""
        return self.left / self.per_s if self.left is not None and self.per_s else None

    @property
    def is_at_once(self) -> bool:
        """Whether it ends before somebody who is not there already can do something, or has ended."""
        is_gone = self.left is not None and self.left < SEGMENT_BYTES
        return is_gone or (self.seconds is not None and self.seconds <= FULL_AT_ONCE_S)

    @property
    def objects(self) -> tuple[str, ...]:
        """The file system that the log is on, as a claim names what it is about."""
        return () if self.mount is None else (self.mount,)

    @property
    def unknown(self) -> tuple[NotMeasured, ...]:
        """That the room was not seen, where it was not."""
        if self.left is not None:
            return ()
        return (NotMeasured("how long the room lasts", "the file system of pg_wal was not seen", "df of pg_wal"),)


def room_on_disk(case: Case, db: str | None, per_s: float | None) -> Room:
    """That of the file system which holds the log of a server, at so many bytes a second."""
    mount = mount_of_wal(case, db)
    return Room(None if mount is None else rooms(case.dataset)[mount], per_s, "the file system is full", mount)


def mount_of_wal(case: Case, db: str | None) -> str | None:
    """The file system of pg_wal, of those that were seen: its own where it is a link, else that of the data."""
    ways = [way for way in device_paths(case.dataset) if way.db in (None, db)]
    way = next((way for holds in ("WAL", "data") for way in ways if way.holds == holds), None)
    if way is None:
        return mount_of(case.dataset, case.setting("data_directory", db))
    if way.mount is None:
        return mount_of(case.dataset, way.folder)
    # A file system that the server alone sees, in its container, has the server's name beside that of the mount.
    return next((name for name in (f"{way.mount} of {db}", way.mount) if name in rooms(case.dataset)), None)


def symptoms(case: Case, mount: str | None, kept: float | None, per_s: float | None) -> tuple[str, ...]:
    """That a file system is full, or fills, is its work: more of the log is kept than is left, or it is what fills it.

    Args:
        case: the case.
        mount: the file system that the log is on.
        kept: bytes of the log that are kept for it.
        per_s: bytes a second that come to them.
    """
    if mount is None:
        return ()
    is_most = kept is not None and kept > rooms(case.dataset)[mount]
    fills = any(one.mount == mount and (per_s or 0.0) >= MOST * one.per_s for one in filling(case.dataset))
    return (FULL,) if is_most or fills else ()


def last(case: Case, name: str, db: str | None) -> float | None:
    """The last reading of a figure of a server as a whole; null where it was not measured."""
    return next((figure.last for figure in case.figures(name) if figure.db == db), None)


def until_end(case: Case, db: str | None, room: Room) -> list[Evidence]:
    """How much more WAL there is a second, how long the room lasts, and how much lies there now."""
    wal = last(case, "pg_ls_waldir.size_bytes", db)
    told = []
    if room.per_s is not None:
        lasts = phrase("{:bytes} are left: {} in {:duration} at that rate", room.left, room.end, room.seconds)
        named = f"name = 'pg_stat_wal.wal_bytes' and db = '{db}'"
        told.append(Evidence("statistic", named, phrase("{:bytes/s} more", room.per_s), "",
                             "" if room.seconds is None else lasts))  # fmt: skip
    if wal is not None:
        told.append(
            Evidence("statistic", "name = 'pg_ls_waldir.size_bytes'", phrase("{:bytes} in pg_wal", wal), "", "")
        )
    return told
