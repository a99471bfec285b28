"""File systems that have room, and will be full before anybody looks again."""

from collections.abc import Collection, Iterator

from doctord.analyse.storage.device_paths import DevicePath, device_paths
from doctord.analyse.storage.filesystems import SHARED_MEMORY
from doctord.analyse.storage.filling import Filling, filling, losing_inodes
from doctord.diagnose.case import Case
from doctord.diagnose.causes.storage.room_writers import writers
from doctord.diagnose.common.inodes import inode_steps
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import phrase

# A tenth of what was left has gone while we looked: a copy of some gigabytes, which ends, is less of a large disk. What
# was seen for half a minute is carried on for five, what was seen for hours for a day at the most.
TIMES_SEEN, LONGEST_S = 10.0, 86_400.0
# As of a log that is kept (`wal_kept`): nobody who is not there already comes in time for a server's files.
AT_ONCE_S = 3600.0
MIB = 2**20


def soon_full(case: Case, among: Collection[tuple[str | None, str | None]]) -> Iterator[Claim]:
    """Those of some (mount and device) that become fuller at every look, and would be full soon at that rate.

    What the log of a server takes until it has max_wal_size is not counted: it is given back then.
    """
    ways = device_paths(case.dataset)
    for one in filling(case.dataset):
        there = [way for way in ways if way.mount == one.mount and way.holds]
        per_s = one.per_s - _of_log(case, there)
        # What parallel workers share comes and goes with each of their queries.
        is_shared = any(way.folder == SHARED_MEMORY for way in there)
        if not is_shared and (one.mount, one.device) in among and per_s > 0 and one.left / per_s <= _soon_s(one):
            yield _claim(case, one, one.left / per_s, there)


def soon_without_inodes(case: Case, among: Collection[tuple[str | None, str | None]]) -> Iterator[Claim]:
    """Those that have fewer inodes left at every look, and would have none soon at that rate."""
    ways = device_paths(case.dataset)
    for one in losing_inodes(case.dataset):
        if (one.mount, one.device) not in among or one.seconds > _soon_s(one):
            continue
        there = [way for way in ways if way.mount == one.mount and way.holds]
        name = one.mount or one.device or ""
        where = f"mount = '{name}'" if one.mount else f"device = '{name}'"
        yield Claim(
            phrase("{} will have no inodes left in {:duration} at this rate: {:.1f %} left", name, one.seconds,
                   one.left),
            impact=NONE_YET,
            severity="critical" if there and one.seconds <= AT_ONCE_S else "warning",
            confidence=0.75,
            for_=[
                Evidence("filesystem", where, phrase("{:.2g %} of all inodes more each second", one.per_s), "",
                         phrase("fewer were left at each of {} looks, over {:.0f s}", one.looks, one.over_s)),
                *_held(there),
            ],
            first_steps=inode_steps(name),
            objects=[name],
        )  # fmt: skip


def _held(there: Collection[DevicePath]) -> list[Evidence]:
    return [
        Evidence("setting", f"name like 'path.{way.folder}.%'", phrase("{} is in {}", way.holds, way.folder), "",
                 way.filesystem or "")
        for way in there
    ]  # fmt: skip


def _soon_s(one: Filling) -> float:
    """For how long what was seen may be carried on, seconds."""
    return min(TIMES_SEEN * one.over_s, LONGEST_S)


def _claim(case: Case, one: Filling, seconds: float, there: list[DevicePath]) -> Claim:
    where = f"mount = '{one.mount}'" if one.mount else f"device = '{one.device}'"
    return Claim(
        phrase("{} will be full in {:duration} at this rate: {:bytes} left", one.mount or one.device, seconds,
               one.left),
        impact=NONE_YET,
        severity="critical" if there and seconds <= AT_ONCE_S else "warning",
        confidence=0.75,
        for_=[
            Evidence("filesystem", where, phrase("{:bytes/s} more", one.per_s), "",
                     phrase("less was left at each of {} looks, over {:.0f s}", one.looks, one.over_s)),
            Evidence("filesystem", where, phrase("{:duration} until it is full", seconds),
                     phrase("{:duration}", _soon_s(one)), "nobody looks more often", "at_most"),
            *_held(there),
            *writers(case, one.mount),
        ],
        objects=[one.mount or one.device or ""],
    )  # fmt: skip


def _of_log(case: Case, there: Collection[DevicePath]) -> float:
    """Bytes a second by which the log may have grown there, of servers whose log has not its full size yet."""
    if not any(way.holds == "WAL" for way in there) and not any(way.holds == "data" for way in there):
        return 0.0
    grown = 0.0
    for size in case.figures("pg_ls_waldir.size_bytes"):
        if size.last < float(case.setting("max_wal_size", size.db) or 1024) * MIB:
            grown += case.total("pg_stat_wal.wal_bytes", size.db) or 0.0
    return grown
