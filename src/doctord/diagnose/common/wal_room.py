"""How much WAL may still be written until something ends: the room of its file system, or of a slot."""

from typing import NamedTuple

from doctord.analyse.storage.device_paths import device_paths
from doctord.analyse.storage.filesystems import left_bytes
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import phrase

MIB = 2**20
# A segment, by default: a server that cannot make the next one stops.
SEGMENT_BYTES = 16 * MIB
FULL_AT_ONCE_S = 3600.0


class Room(NamedTuple):
    """Bytes that may still be written before it ends, how many a second are, and what its end is."""

    left: float | None
    per_s: float | None
    end: str

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
    def unknown(self) -> tuple[NotMeasured, ...]:
        """That the room was not seen, where it was not."""
        if self.left is not None:
            return ()
        return (NotMeasured("how long the room lasts", "the file system of pg_wal was not seen", "df of pg_wal"),)


def room_on_disk(case: Case, db: str | None, per_s: float | None) -> Room:
    """That of the file system which holds the log of a server, at so many bytes a second."""
    return Room(disk_left(case, db), per_s, "the file system is full")


def disk_left(case: Case, db: str | None) -> float | None:
    """Bytes left for pg_wal: of its own file system, where it is a link and one server was seen; else of the data's."""
    own = [way.folder for way in device_paths(case.dataset) if way.holds == "WAL"] if len(case.dbs) == 1 else []
    return left_bytes(case.dataset, own[0] if own else case.setting("data_directory", db))


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
